package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/schema"
)

// types by their names in package schema.
var types = map[string]string{
	"UTINYINT": "UInt8", "USMALLINT": "UInt16", "UINTEGER": "UInt32", "UBIGINT": "UInt64", "TINYINT": "Int8",
	"SMALLINT": "Int16", "BIGINT": "Int64", "DOUBLE": "Float64", "BOOLEAN": "Bool", "VARCHAR": "String",
	"TIMESTAMP_NS": "DateTime64(9, 'UTC')",
}

// typeOf is the type of a column, without NULL.
func typeOf(kind string) string {
	if element, ok := strings.CutSuffix(kind, "[]"); ok {
		return "Array(" + types[element] + ")"
	}
	return types[kind]
}

// manyTexts are columns of texts that are seldom the same.
var manyTexts = map[string]bool{
	"id": true, `"text"`: true, "json": true, "stations": true, "path": true, "burst": true, "drop_key": true,
}

// column is one in CREATE TABLE. All but lists and what tables are sorted by may be NULL.
func column(c *schema.Column, required bool) string {
	kind := typeOf(c.Kind)
	list := strings.HasSuffix(c.Kind, "[]")
	if !required && !list {
		kind = "Nullable(" + kind + ")"
	}
	codec := "ZSTD(1)"
	switch {
	case c.Kind == "VARCHAR" && !manyTexts[c.Name] && !required:
		kind = "LowCardinality(" + kind + ")"
	case c.Kind == "TIMESTAMP_NS":
		codec = "Delta(8), ZSTD(1)"
	case !list && c.Role != schema.Key && c.Kind != "DOUBLE":
		codec = "T64, ZSTD(1)"
	}
	return fmt.Sprintf("%s %s CODEC(%s)", c.Name, kind, codec)
}

// partitionKeys are what tables of a tier are cut into parts by, which are dropped as a whole.
var partitionKeys = [len(schema.Tiers)]string{"toStartOfHour(start)", "toDate(start)", "toYYYYMM(start)"}

// order is what the rows of a table are sorted by: what they are about, and then the time.
func order(t schema.Placed) (columns []string) {
	switch {
	case t.ID == store.Events:
		return []string{"id"}
	case t.ID == store.Routes:
		return []string{"path_id"}
	case t.Finest == 0:
		return []string{"start"}
	case t.ID == store.Flows && t.Step == t.Finest:
		// The number of a flow is the identity of all its other keys, but without meaning.
		return []string{"src_hi", "src_lo", "dst_hi", "dst_lo", "flow", "start"}
	}
	for _, c := range t.At(t.Step) {
		if c.Role == schema.Key && c.Name != schema.Start.Name {
			columns = append(columns, c.Name)
		}
	}
	return append(columns, schema.Start.Name)
}

// versions are the columns of which the row with the highest is valid, of tables in which several rows are about the
// same.
var versions = map[store.Table]string{store.Events: "version", store.Routes: "start"}

// rowsName is the name of the table with the rows of t; of tables with versions that of t is a view.
func rowsName(t schema.Placed) string {
	if versions[t.ID] != "" {
		return t.Name(t.Step) + "_rows"
	}
	return t.Name(t.Step)
}

// tableOf says how the table with the rows of t is made.
func tableOf(t schema.Placed, tier int, keep time.Duration) definition {
	sorted := order(t)
	required := map[string]bool{schema.Start.Name: true}
	d := definition{name: rowsName(t), engine: "MergeTree", spread: spread(sorted)}
	if v := versions[t.ID]; v != "" {
		required[v], required[sorted[0]] = true, true
		d.engine = "ReplacingMergeTree(" + v + ")"
		d.view, d.version, d.of = t.Name(t.Step), v, sorted[0]
	}
	var columns []string
	for _, c := range t.At(t.Step) {
		columns = append(columns, column(&c, required[c.Name]))
	}
	d.columns = strings.Join(columns, ", ")
	d.clauses = fmt.Sprintf("PARTITION BY %s PRIMARY KEY (%s) ORDER BY (%s) TTL %s SETTINGS %s", partitionKeys[tier],
		strings.Join(sorted[:min(len(sorted), 5)], ", "), strings.Join(sorted, ", "), ttl(keep),
		// A batch that is written again has the token of before. What is written is on disk.
		"non_replicated_deduplication_window = 1000, fsync_after_insert = 1, fsync_part_directory = 1, "+
			"ttl_only_drop_parts = 1, allow_nullable_key = 1")
	return d
}

// spread are the columns by which rows that are sorted so go to shards: what is about the same is on one.
func spread(sorted []string) string {
	keys := slices.DeleteFunc(slices.Clone(sorted), func(name string) bool { return name == schema.Start.Name })
	if len(keys) == 0 {
		keys = sorted
	}
	return strings.Join(keys, ", ")
}

// ttl is how long rows are kept.
func ttl(keep time.Duration) string {
	return fmt.Sprintf("toDateTime(start) + toIntervalSecond(%d)", int64(keep.Seconds()))
}

// schemaVersion is that of the tables that this program makes. To change tables: 1. their columns, 2. what is done with
// old tables at the end of migrations.
var schemaVersion = len(migrations) + 1

// A migration changes a table of an older version of the schema.
type migration struct{ table, change string }

// migrations[i] bring tables from version i+1 of the schema to i+2.
var migrations = [][]migration{
	withEstimates(), // 2
}

// withEstimates adds how many packets there were by samples.
func withEstimates() (list []migration) {
	for _, name := range []string{"flows_10s", "flows_1m", "flows_1h"} {
		for _, of := range []string{"packets", "bytes"} {
			list = append(list, migration{name, fmt.Sprintf(
				"ADD COLUMN IF NOT EXISTS %s_estimated Nullable(UInt64) CODEC(T64, ZSTD(1))", of)})
		}
	}
	return list
}

// Tables of this store about itself.
var (
	schemaTable = definition{
		name: "waybill_schema", columns: "version UInt32", engine: "MergeTree", clauses: "ORDER BY version",
		spread: "version",
	}
	rolledTable = definition{
		name: "waybill_rolled", columns: "name String, until DateTime64(9, 'UTC')",
		engine: "ReplacingMergeTree(until)", clauses: "ORDER BY name", spread: "name",
	}
	// copiedTable has a row for each piece of another store that is here, and one without a piece since the beginning.
	copiedTable = definition{
		name: "waybill_copied", columns: "source String, piece String", engine: "MergeTree",
		clauses: "ORDER BY (source, piece) SETTINGS fsync_after_insert = 1, fsync_part_directory = 1",
		spread:  "source, piece",
	}
)

// allTables are those that a store has, but for schemaTable.
func allTables(keep [len(schema.Tiers)]time.Duration) []definition {
	list := []definition{rolledTable, copiedTable}
	for tier := range schema.Tiers {
		for _, t := range tables.In(tier) {
			list = append(list, tableOf(t, tier, keep[tier]))
		}
	}
	return list
}

// migrate makes the tables and brings those of an older version up to date.
func (s *Store) migrate(ctx context.Context) error {
	all := allTables(s.config.Keep)
	statements, err := s.makeRoom(ctx, append(all, schemaTable))
	if err != nil {
		return err
	}
	if err := s.execAll(ctx, append(statements, s.create(schemaTable, false)...)); err != nil {
		return err
	}
	version, err := s.version(ctx)
	if err != nil {
		return err
	}
	statements = nil
	for v := max(version, 1); version > 0 && v < schemaVersion; v++ {
		for _, m := range migrations[v-1] {
			statements = append(statements, "ALTER TABLE "+s.rows(m.table)+" "+m.change)
		}
	}
	for _, d := range all {
		statements = append(statements, s.create(d, version < schemaVersion)...)
	}
	for tier := range schema.Tiers { // which does nothing if it is as before
		for _, t := range tables.In(tier) {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s MODIFY TTL %s SETTINGS "+
				"materialize_ttl_after_modify = 0", s.rows(rowsName(t)), ttl(s.config.Keep[tier])))
		}
	}
	if version < schemaVersion {
		statements = append(statements, fmt.Sprintf("INSERT INTO waybill_schema VALUES (%d)", schemaVersion))
	}
	return s.execAll(ctx, statements)
}

// version returns that of the tables; 0: there are none. It fails if a newer waybill made them.
func (s *Store) version(ctx context.Context) (int, error) {
	var version uint32
	row := s.conn.QueryRow(s.with(ctx, queryTime, nil), "SELECT max(version) FROM waybill_schema")
	if err := row.Scan(&version); err != nil {
		return 0, err
	}
	if int(version) > schemaVersion {
		return 0, fmt.Errorf(
			"the tables were made by a newer waybill: their schema has version %d, this program knows up "+
				"to %d; run that waybill, or give another database",
			version,
			schemaVersion,
		)
	}
	return int(version), nil
}

// ErrNoTables says that there is nothing to read yet.
var ErrNoTables = errors.New("there are no tables yet: the analyzer makes them when it starts")

// checkVersion fails unless the tables are those of this version.
func (s *Store) checkVersion(ctx context.Context) error {
	version, err := s.version(ctx)
	if exception, ok := errors.AsType[*clickhouse.Exception](err); ok && exception.Code == codeNoTable {
		return ErrNoTables
	}
	if err == nil && version == 0 { // they are being made
		return ErrNoTables
	}
	if err == nil && version < schemaVersion {
		err = fmt.Errorf("the tables have version %d of the schema, want %d: upgrade the analyzer first", version,
			schemaVersion)
	}
	return err
}

// nodeNames is the statement that makes the view node_names.
func nodeNames(names map[uint32]string) string {
	rows := []string{"SELECT toUInt32(0) AS node, '' AS name WHERE false"}
	for _, node := range slices.Sorted(maps.Keys(names)) {
		rows = append(rows, fmt.Sprintf("SELECT toUInt32(%d), '%s'", node, quoted(names[node])))
	}
	return "CREATE OR REPLACE VIEW node_names AS " + strings.Join(rows, " UNION ALL ")
}

func quoted(text string) string { return strings.NewReplacer(`\`, `\\`, "'", `\'`).Replace(text) }
