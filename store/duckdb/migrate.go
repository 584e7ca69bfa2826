package duckdb

import (
	"context"
	"database/sql"
	"fmt"
	"strings"

	"github.com/waybill-int/waybill/store/schema"
)

// migrations[i] brings a file from version i+1 of the schema to i+2. CATALOG stands for its name; files of one tier
// lack the tables of others, so that statements say IF EXISTS. Tables that are new need no statement: they are made. To
// change tables: 1. their columns, 2. the statements for old files at the end here, 3. a file of the version before in
// testdata, as TestOldFiles makes it.
var migrations = [][]string{
	// 2: also hosts, bursts and burst_flows, which are new
	append(linksWithDelays(), "ALTER TABLE IF EXISTS CATALOG.events ADD COLUMN rule VARCHAR"),
	linksWithUtilization(), // 3
	depthsWithUnit(),       // 4
	withSamples(),          // 5
	withEstimates(),        // 6
}

// linksWithDelays adds the delays of links.
func linksWithDelays() []string {
	return linksWith(append(schema.Histogram("delay"), schema.Column{Name: "delay_uncertainty", Kind: "BIGINT"},
		schema.Column{Name: "delay_clamped", Kind: "UBIGINT"}))
}

// linksWithUtilization adds the use of their egress ports.
func linksWithUtilization() []string {
	return linksWith([]schema.Column{
		{Name: "utilization_samples", Kind: "UBIGINT"},
		{Name: "utilization_sum", Kind: "UBIGINT"},
		{Name: "utilization_max", Kind: "UINTEGER"},
	})
}

// depthsWithUnit adds what queues are counted in. Bursts were all taken for bytes until then.
func depthsWithUnit() (list []string) {
	add := func(table, column string) {
		list = append(list, fmt.Sprintf("ALTER TABLE IF EXISTS CATALOG.%s ADD COLUMN %s", table, column))
	}
	for _, table := range []string{"queues_1s", "queues_1m", "queues_1h"} {
		add(table, "unit VARCHAR")
	}
	for _, column := range []string{
		"uncertainty BIGINT", "unit VARCHAR", "peak_depth UBIGINT", "above_depth UBIGINT", "below_depth UBIGINT",
	} {
		add("bursts", column)
	}
	return list
}

// withSamples adds which packets figures tell of, which is unknown of older ones, and packets of which postcards are
// missing.
func withSamples() (list []string) {
	for _, t := range []string{"flows_10s", "paths_10s", "hops_1s", "queues_1s", "links_10s"} {
		name, finest, _ := strings.Cut(t, "_")
		for _, step := range []string{finest, "1m", "1h"} {
			add := func(column string) {
				list = append(list,
					fmt.Sprintf("ALTER TABLE IF EXISTS CATALOG.%s_%s ADD COLUMN %s", name, step, column))
			}
			for _, column := range []string{
				"sample_low UINTEGER", "sample_high UINTEGER", "sample_known UBIGINT", "sample_seen UBIGINT",
				"sample_all DOUBLE",
			} {
				add(column)
			}
			switch name {
			case "hops":
				add("incomplete BIGINT")
			case "links":
				add("incomplete UBIGINT")
			}
		}
	}
	return list
}

// withEstimates adds how many packets there were by samples.
func withEstimates() (list []string) {
	for _, name := range []string{"flows_10s", "flows_1m", "flows_1h"} {
		for _, of := range []string{"packets", "bytes"} {
			list = append(list,
				fmt.Sprintf("ALTER TABLE IF EXISTS CATALOG.%s ADD COLUMN %s_estimated UBIGINT", name, of))
		}
	}
	return list
}

// linksWith adds columns to the tables of links.
func linksWith(added []schema.Column) (list []string) {
	for _, name := range []string{"links_10s", "links_1m", "links_1h"} {
		for _, c := range added {
			list = append(list, fmt.Sprintf("ALTER TABLE IF EXISTS CATALOG.%s ADD COLUMN %s %s", name, c.Name, c.Kind))
		}
	}
	return list
}

// migrate makes the tables of a new file and brings those of an old one up to date.
func (s *Store) migrate(p *partition, migrations [][]string) error {
	schemaVersion := len(migrations) + 1
	tables, err := s.tablesOf(p)
	if err != nil {
		return err
	}
	if tables == 0 {
		return inTransaction(s.ctx, s.write, createFile(p, schemaVersion))
	}
	version, err := s.versionOf(p, schemaVersion)
	if err != nil {
		return err
	}
	for ; version < schemaVersion; version++ {
		statements := append([]string{}, migrations[version-1]...)
		for i := range statements {
			statements[i] = strings.ReplaceAll(statements[i], "CATALOG", p.catalog)
		}
		if version+1 == schemaVersion {
			statements = append(statements, createTables(p)...)
		}
		statements = append(statements, fmt.Sprintf("UPDATE %s.waybill_schema SET version = %d", p.catalog, version+1))
		if err := inTransaction(s.ctx, s.write, statements); err != nil {
			return fmt.Errorf("bring %s from version %d of the schema to %d: %w", p.file, version, version+1, err)
		}
	}
	return nil
}

// tablesOf is how many tables a file has: none if it is new.
func (s *Store) tablesOf(p *partition) (n int, err error) {
	row := s.write.QueryRowContext(s.ctx, "SELECT count(*) FROM duckdb_tables() WHERE database_name = ?", p.catalog)
	if err := row.Scan(&n); err != nil {
		return 0, fmt.Errorf("open %s: %w", p.file, err)
	}
	return n, nil
}

// versionOf is the version of the schema of a file that has tables; one beyond newest is an error.
func (s *Store) versionOf(p *partition, newest int) (version int, err error) {
	if err := s.write.QueryRowContext(s.ctx, "SELECT max(version) FROM "+p.catalog+
		".waybill_schema").Scan(&version); err != nil {
		return 0, fmt.Errorf("%s is not of a store of waybill; move the file out of the directory: %w", p.file, err)
	}
	if version > newest {
		return 0,
			fmt.Errorf(
				"%s was written by a newer waybill: its schema has version %d, this program knows up to %d; run that waybill, or give another directory", p.file, version, newest)
	}
	return version, nil
}

// createFile are the statements that make everything in a new file.
func createFile(p *partition, schemaVersion int) []string {
	return append([]string{
		fmt.Sprintf("CREATE TABLE %s.waybill_schema (version INTEGER)", p.catalog),
		fmt.Sprintf("INSERT INTO %s.waybill_schema VALUES (%d)", p.catalog, schemaVersion),
		fmt.Sprintf("CREATE TABLE %s.waybill_rolled (name VARCHAR, until TIMESTAMP_NS)", p.catalog),
		fmt.Sprintf("CREATE TABLE %s.waybill_emptied (name VARCHAR)", p.catalog),
	}, createTables(p)...)
}

// createTables are the statements that make the tables of a partition, as far as it lacks them.
func createTables(p *partition) (list []string) {
	for _, t := range tables.In(p.tier) {
		var columns []string
		for _, c := range t.At(t.Step) {
			columns = append(columns, c.Name+" "+c.Kind)
		}
		list = append(list,
			fmt.Sprintf("CREATE TABLE IF NOT EXISTS %s.%s (%s)", p.catalog, t.Name(t.Step),
				strings.Join(columns, ", ")))
	}
	return list
}

// inTransaction executes statements, all or none. It does without sql.Tx, which closes a connection whose context ends
// on the way.
func inTransaction(ctx context.Context, conn *sql.Conn, statements []string) error {
	if _, err := conn.ExecContext(ctx, "BEGIN"); err != nil {
		return err
	}
	always := context.WithoutCancel(ctx)
	for _, text := range statements {
		if _, err := conn.ExecContext(ctx, text); err != nil {
			_, _ = conn.ExecContext(always, "ROLLBACK")
			return err
		}
	}
	_, err := conn.ExecContext(always, "COMMIT")
	return err
}
