package clickhouse

import (
	_ "embed"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/telemetry"
)

// version2 made the tables of version 2 of the schema.
//
//go:embed testdata/version_2.sql
var version2 string

// makeVersion2 makes tables of version 2, whose rows are those of the tables of another database, and returns the names
// of those that have rows.
func makeVersion2(t *testing.T, s *Store, from string) (names []string) {
	t.Helper()
	var statements []string
	for statement := range strings.Lines(version2) {
		statements = append(statements, strings.TrimSuffix(statement, ";\n"))
		made, ok := strings.CutPrefix(statement, "CREATE TABLE IF NOT EXISTS ")
		if name, _, _ := strings.Cut(made, " "); ok && name != schemaTable.name {
			names = append(names, name)
		}
	}
	if err := s.execAll(t.Context(), append(statements, "INSERT INTO waybill_schema VALUES (2)")); err != nil {
		t.Fatal(err)
	}
	for _, name := range names {
		a, err := s.Select(t.Context(), "SELECT name FROM system.columns WHERE database = currentDatabase() AND table = '"+
			name+"'", 1<<10)
		if err != nil {
			t.Fatal(err)
		}
		var columns []string
		for _, row := range a.Rows {
			columns = append(columns, `"`+row[0].(string)+`"`)
		}
		list := strings.Join(columns, ", ")
		if err := s.exec(t.Context(), fmt.Sprintf("INSERT INTO %s (%s) SELECT %s FROM %s.%s", name, list, list, from,
			strings.TrimSuffix(name, "_rows"))); err != nil {
			t.Fatal(err)
		}
	}
	return names
}

// without is a store at an address, as it is before there are tables.
func without(t *testing.T, address string) *Store {
	t.Helper()
	s := open(t, address)
	engines, err := s.engines(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for name := range engines {
		if err := s.exec(t.Context(), "DROP TABLE "+name); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// TestVersion2: tables of version 2 answer as before when their rows of minutes and hours are in tables that merge,
// also where moving them was cut off, and where there are shards now, or were before. They take new records.
func TestVersion2(t *testing.T) {
	cases := []struct {
		name   string
		shards bool
		change func(*testing.T, *Store, []string) error
	}{
		{"one server", false, nil},
		{"cut off", false, func(t *testing.T, s *Store, _ []string) error {
			statements := []string{"RENAME TABLE hops_1m TO hops_1m_version_2"}
			for _, d := range allTables(s.config.Keep) {
				if d.name == "hops_1m_rows" {
					statements = append(statements, s.create(d, false)[0])
				}
			}
			return s.execAll(t.Context(), append(statements,
				"INSERT INTO hops_1m_rows (start, packets) SELECT start, packets FROM hops_1m_version_2"))
		}},
		{"shards now", true, nil},
		{"shards before", true, func(t *testing.T, s *Store, names []string) error {
			l := layout{database: s.database, cluster: chdb.Cluster}
			var statements []string
			for _, name := range append(names, schemaTable.name) {
				statements = append(statements, "RENAME TABLE "+name+" TO "+l.rows(name),
					l.distribute(definition{name: name, spread: "tuple()"}, false))
			}
			return s.execAll(t.Context(), statements)
		}},
	}
	seed, _ := test.Seed(t)
	for _, c := range test.Part(t, cases, uint64(len(cases))) {
		t.Run(c.name, func(t *testing.T) {
			first, of := openFiles(t), open(t, chdb.Start(t))
			g := maker{rand.New(rand.NewPCG(seed, 0))}
			writeTwice(t, g, first, of, 0)
			now := epoch.Add(85 * time.Minute)
			if err := errors.Join(first.Maintain(t.Context(), now), of.Maintain(t.Context(), now)); err != nil {
				t.Fatal(err)
			}
			address := chdb.Start(t)
			old := without(t, address)
			names := makeVersion2(t, old, of.database)
			if c.change != nil {
				if err := c.change(t, old, names); err != nil {
					t.Fatal(err)
				}
			}
			again := open
			if c.shards {
				again = openShards
			}
			again(t, address)
			s := again(t, address) // where all is done
			askBoth(t, g, first, s, 20, now)
			engines, err := s.engines(t.Context())
			if err != nil {
				t.Fatal(err)
			}
			merged := 0
			for name, engine := range engines {
				if strings.Contains(name, asideSuffix) {
					t.Errorf("%s is left", name)
				}
				if engine == "AggregatingMergeTree" {
					merged++
				}
			}
			if merged != len(mergedTables()) || merged < 16 {
				t.Errorf("%d tables merge, want %d", merged, len(mergedTables()))
			}
			writeTwice(t, g, first, s, 1)
			now = now.Add(3 * time.Hour)
			if err := errors.Join(first.Maintain(t.Context(), now), s.Maintain(t.Context(), now)); err != nil {
				t.Fatal(err)
			}
			askBoth(t, g, first, s, 20, now)
		})
	}
}

// TestVersion1: tables of the first version of the schema are brought up to date with what is in them, and take new
// records.
func TestVersion1(t *testing.T) {
	address := chdb.Start(t)
	of := open(t, chdb.Start(t))
	record := telemetry.FlowInterval{StartNs: epoch.UnixNano(), Reports: 7, Packets: 7, Bytes: 700}
	if err := of.Write([]*telemetry.Intervals{{Flows: []telemetry.FlowInterval{record}}}); err != nil {
		t.Fatal(err)
	}
	old := without(t, address)
	makeVersion2(t, old, of.database)
	statements := []string{"TRUNCATE TABLE waybill_schema", "INSERT INTO waybill_schema VALUES (1)"}
	for _, table := range []string{"flows_10s", "flows_1m", "flows_1h"} {
		statements = append(statements,
			"ALTER TABLE "+table+" DROP COLUMN packets_estimated, DROP COLUMN bytes_estimated")
	}
	if err := old.execAll(t.Context(), statements); err != nil {
		t.Fatal(err)
	}
	again := open(t, address)
	estimated := telemetry.FlowInterval{
		StartNs: epoch.UnixNano(), Reports: 3, PacketsEstimated: 300, BytesEstimated: 30_000,
	}
	g := maker{rand.New(rand.NewPCG(4, 0))}
	if err := again.Write([]*telemetry.Intervals{{Flows: []telemetry.FlowInterval{estimated}}}); err != nil {
		t.Fatal(err)
	}
	a, err := again.Select(t.Context(), `SELECT sum(packets), sum(packets_estimated), sum(bytes_estimated),
		count(packets_estimated) FROM flows_10s`, 1)
	if err != nil {
		t.Fatal(err)
	}
	if want := []any{uint64(7), uint64(300), uint64(30_000), uint64(1)}; !reflect.DeepEqual(a.Rows[0], want) {
		t.Errorf("got %v, want %v", a.Rows[0], want)
	}
	if err := again.Write([]*telemetry.Intervals{g.intervals(20, 0)}); err != nil {
		t.Fatal(err)
	}
	if err := again.Maintain(t.Context(), epoch.Add(90*60e9)); err != nil {
		t.Fatal(err)
	}
}

// TestMerge: rows of a minute that are about the same, however they came, are one when the server has merged them, and
// say what all of them said.
func TestMerge(t *testing.T) {
	g := maker{rand.New(rand.NewPCG(9, 0))}
	s := open(t, chdb.Start(t))
	if err := s.Write([]*telemetry.Intervals{g.intervals(300, 0)}); err != nil {
		t.Fatal(err)
	}
	now := epoch.Add(85 * time.Minute)
	if err := s.Maintain(t.Context(), now); err != nil {
		t.Fatal(err)
	}
	for _, table := range mergedTables() {
		// As many rows as there are, with as much once more.
		again := fmt.Sprintf("INSERT INTO %[1]s SELECT * FROM %[1]s", rowsName(table))
		if err := s.exec(t.Context(), again); err != nil {
			t.Fatal(err)
		}
	}
	type asked struct{ rows, text string }
	ask := func() (list []asked) {
		t.Helper()
		for _, table := range mergedTables() {
			a, err := s.Select(t.Context(), "SELECT count() FROM "+table.Name(table.Step), 1)
			if err != nil {
				t.Fatal(err)
			}
			_, query := tables.Group(table.Name(table.Step), table.At(table.Step))
			all := text(s.Select(t.Context(), query+" ORDER BY ALL", 10_000))
			list = append(list, asked{fmt.Sprint(a.Rows[0][0]), all})
		}
		return list
	}
	before := ask()
	for _, table := range mergedTables() {
		if err := s.exec(t.Context(), "OPTIMIZE TABLE "+rowsName(table)+" FINAL"); err != nil {
			t.Fatal(err)
		}
	}
	after := ask()
	for i, table := range mergedTables() {
		name := table.Name(table.Step)
		var was, is int
		fmt.Sscan(before[i].rows, &was)
		fmt.Sscan(after[i].rows, &is)
		if was == 0 || was != 2*is {
			t.Errorf("%s: %d rows became %d, want half", name, was, is)
		}
		if before[i].text != after[i].text {
			t.Errorf("%s: %s", name, differences(after[i].text, before[i].text))
		}
	}
}
