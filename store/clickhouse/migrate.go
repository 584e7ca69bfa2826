package clickhouse

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/ClickHouse/clickhouse-go/v2"

	"github.com/waybill-int/waybill/store/schema"
)

// schemaVersion is that of the tables that this program makes: 2 has what is estimated from samples, 3 merges rows of
// minutes and hours. To change tables: 1. their columns, 2. what migrate does with older ones.
const schemaVersion = 3

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
	if version == 1 {
		if err := s.execAll(ctx, s.addEstimates()); err != nil {
			return err
		}
	}
	unmerged := version == 1 || version == 2
	if unmerged {
		if err := s.setAside(ctx); err != nil {
			return err
		}
	}
	statements = nil
	for _, d := range all {
		statements = append(statements, s.create(d, version < schemaVersion)...)
	}
	for tier := range schema.Tiers { // which does nothing if it is as before
		for _, t := range tables.In(tier) {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s MODIFY TTL %s SETTINGS "+
				"materialize_ttl_after_modify = 0", s.rows(rowsName(t)), ttl(s.config.Keep[tier])))
		}
	}
	if err := s.execAll(ctx, statements); err != nil {
		return err
	}
	if unmerged {
		if err := s.takeBack(ctx); err != nil {
			return err
		}
	}
	if version < schemaVersion {
		return s.exec(ctx, fmt.Sprintf("INSERT INTO waybill_schema VALUES (%d)", schemaVersion))
	}
	return nil
}

// addEstimates adds how many packets there were by samples to tables of version 1.
func (s *Store) addEstimates() (statements []string) {
	for _, name := range []string{"flows_10s", "flows_1m", "flows_1h"} {
		for _, of := range []string{"packets", "bytes"} {
			statements = append(statements, fmt.Sprintf("ALTER TABLE %s ADD COLUMN IF NOT EXISTS %s_estimated "+
				"Nullable(UInt64) CODEC(T64, ZSTD(1))", s.rows(name), of))
		}
	}
	return append(statements, "INSERT INTO waybill_schema VALUES (2)")
}

// asideSuffix is behind the names of tables of minutes and hours of version 2, until their rows are in others.
const asideSuffix = "_version_2"

// mergedTables are those of minutes and hours.
func mergedTables() []schema.Placed {
	return append(tables.In(schema.Minutes), slices.DeleteFunc(tables.In(schema.Hours), func(t schema.Placed) bool {
		return !merges(t)
	})...)
}

// setAside renames tables of minutes and hours whose rows are not merged. It does nothing to those that it has renamed.
func (s *Store) setAside(ctx context.Context) error {
	engines, err := s.engines(ctx)
	if err != nil {
		return err
	}
	var statements []string
	for _, t := range mergedTables() {
		name := t.Name(t.Step)
		for _, old := range []string{name + shardSuffix, name} {
			switch engines[old] {
			case "MergeTree", "ReplicatedMergeTree":
				statements = append(statements, "RENAME TABLE "+old+" TO "+s.rows(name+asideSuffix))
			case "Distributed": // it has no rows of its own
				statements = append(statements, "DROP TABLE "+old)
			}
		}
	}
	return s.execAll(ctx, statements)
}

// takeBack puts the rows of what is set aside into the tables of now, and goes on where it was cut off.
func (s *Store) takeBack(ctx context.Context) error {
	engines, err := s.engines(ctx)
	if err != nil {
		return err
	}
	if err := s.loadRolled(ctx); err != nil {
		return err
	}
	end := time.Date(2200, 1, 1, 0, 0, 0, 0, time.UTC) // behind all rows
	for _, t := range mergedTables() {
		aside := definition{name: t.Name(t.Step) + asideSuffix, spread: schema.Start.Name}
		if engines[s.rows(aside.name)] == "" {
			continue
		}
		from := source{rows: aside.name}
		for _, c := range t.At(t.Step) {
			from.columns = append(from.columns, c.Name)
		}
		if s.cluster != "" {
			if err := s.exec(ctx, s.distribute(aside, true)); err != nil {
				return err
			}
		}
		for more := true; more; {
			if more, err = s.putTogether(ctx, aside.name, from, t, end); err != nil {
				return fmt.Errorf("merge the rows of %s: %w", t.Name(t.Step), err)
			}
		}
		drop := []string{"DROP TABLE " + s.rows(aside.name)}
		if s.cluster != "" {
			drop = append(drop, "DROP TABLE IF EXISTS "+aside.name)
		}
		if err := s.execAll(ctx, drop); err != nil {
			return err
		}
	}
	return nil
}

// engines are those of the tables there are.
func (s *Store) engines(ctx context.Context) (map[string]string, error) {
	a, err := s.answer(s.with(ctx, queryTime, nil), "SELECT name, engine FROM system.tables WHERE database = ?",
		[]any{s.database}, 1<<10)
	if err != nil {
		return nil, err
	}
	engines := map[string]string{}
	for _, row := range a.Rows {
		name, _ := row[0].(string)
		engines[name], _ = row[1].(string)
	}
	return engines, nil
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
