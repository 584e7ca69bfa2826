package clickhouse

import (
	"context"
	"fmt"
	"strings"
)

// A definition says how a table is made.
type definition struct {
	name, columns string
	engine        string // MergeTree or one of its kind
	clauses       string // what follows it
	spread        string // columns that say on which shard a row is, where there are several

	view  string   // the name of a view of the table; "": there is none
	shows []string // its columns, of those of the table
	// version is a column of which the row with the highest alone is in the view, for each of; "": all are.
	version, of string
}

// A layout says on which servers tables are.
type layout struct {
	database string
	// replicated says that the database is of the engine Replicated: its tables are to be on all its servers.
	replicated bool
	// cluster is the one with the shards of the database, each of which has a part of the rows; "": there is one shard.
	cluster string
}

// shardSuffix is behind the names of tables that have the rows of a shard.
const shardSuffix = "_shard"

// rows is the name of the table that has the rows on each shard.
func (l layout) rows(name string) string {
	if l.cluster != "" {
		return name + shardSuffix
	}
	return name
}

// create are the statements that make what is not there yet. With anew, what has no rows of its own is made anew, since
// columns may be other ones.
func (l layout) create(d definition, anew bool) []string {
	engine, valid := d.engine, ""
	if d.version != "" {
		valid = " FINAL"
	}
	if l.replicated { // paths and names are those that the engine of the database gives
		engine = "Replicated" + engine
	}
	list := []string{fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s (%s) ENGINE = %s %s", l.rows(d.name), d.columns, engine,
		d.clauses)}
	if l.cluster != "" {
		list = append(list, l.distribute(d, anew))
		if d.version != "" { // rows of before there were several shards are all on the first
			valid += fmt.Sprintf(" ORDER BY %s DESC LIMIT 1 BY %s", d.version, d.of)
		}
	}
	if d.view != "" {
		list = append(list, fmt.Sprintf("CREATE OR REPLACE VIEW %s AS SELECT %s FROM %s%s", d.view,
			strings.Join(d.shows, ", "), d.name, valid))
	}
	return list
}

// distribute is the statement that makes the table over those with the rows of each shard.
func (l layout) distribute(d definition, anew bool) string {
	create := "CREATE TABLE IF NOT EXISTS "
	if anew {
		create = "CREATE OR REPLACE TABLE "
	}
	return fmt.Sprintf("%s%s AS %s ENGINE = Distributed('%s', '%s', '%s', cityHash64(tuple(%s)))", create, d.name,
		l.rows(d.name), quoted(l.cluster), quoted(l.database), l.rows(d.name), d.spread)
}

// ownRows is a table with the rows of the shard where a statement is answered.
func (l layout) ownRows(name string) string {
	if l.cluster != "" {
		return "`" + strings.ReplaceAll(l.database, "`", "\\`") + "`" + "." + l.rows(name)
	}
	return name
}

// byEachShard is a query of ownRows that each shard answers; the rows of all come behind each other.
func (l layout) byEachShard(query string) string {
	if l.cluster != "" {
		return "SELECT * FROM cluster('" + quoted(l.cluster) + "', view(" + query + "))"
	}
	return query
}

// system is a table of the database system: of this server, or of one of each shard.
func (l layout) system(table string) string {
	if l.cluster != "" {
		return "cluster('" + quoted(l.cluster) + "', system, " + table + ")"
	}
	return "system." + table
}

// everywhere is a table of the database system, of all servers.
func (l layout) everywhere(table string) string {
	if l.replicated { // the engine gives the cluster the name of the database
		return "clusterAllReplicas('" + quoted(l.database) + "', system, " + table + ")"
	}
	return "system." + table
}

// findLayout asks the server on which servers the database is. A database that once had several shards is as it was.
func (s *Store) findLayout(ctx context.Context) error {
	a, err := s.answer(s.with(ctx, queryTime, nil), "SELECT engine FROM system.databases WHERE name = ?",
		[]any{s.database}, 1)
	if err != nil {
		return err
	}
	if s.cluster = s.config.cluster; len(a.Rows) == 0 || a.Rows[0][0] != "Replicated" {
		return nil
	}
	s.replicated = true
	a, err = s.answer(s.with(ctx, queryTime, nil), "SELECT 1 FROM system.clusters WHERE cluster = ? AND shard_num > 1 "+
		"UNION ALL SELECT 1 FROM system.tables WHERE database = ? AND name = ?",
		[]any{s.database, s.database, schemaTable.name + shardSuffix}, 1)
	if err == nil && len(a.Rows) > 0 {
		s.cluster = s.database // the engine gives the cluster this name
	}
	return err
}

// makeRoom are the statements that rename tables of before there were several shards to what they are now: the rows of
// one shard.
func (s *Store) makeRoom(ctx context.Context, all []definition) (statements []string, err error) {
	if s.cluster == "" {
		return nil, nil
	}
	engines, err := s.engines(ctx)
	if err != nil {
		return nil, err
	}
	for _, d := range all {
		if strings.HasSuffix(engines[d.name], "MergeTree") {
			statements = append(statements, "RENAME TABLE "+d.name+" TO "+s.rows(d.name))
		}
	}
	return statements, nil
}
