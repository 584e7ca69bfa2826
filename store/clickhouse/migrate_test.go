package clickhouse

import (
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/telemetry"
)

// TestOldTables: tables of the first version of the schema are brought up to date with what is in them, and take new
// records.
func TestOldTables(t *testing.T) {
	address := chdb.Start(t)
	s := open(t, address)
	old := telemetry.FlowInterval{StartNs: epoch.UnixNano(), Reports: 7, Packets: 7, Bytes: 700}
	if err := s.Write([]*telemetry.Intervals{{Flows: []telemetry.FlowInterval{old}}}); err != nil {
		t.Fatal(err)
	}
	statements := []string{"TRUNCATE TABLE waybill_schema", "INSERT INTO waybill_schema VALUES (1)"}
	for _, table := range []string{"flows_10s", "flows_1m", "flows_1h"} {
		statements = append(statements,
			"ALTER TABLE "+table+" DROP COLUMN packets_estimated, DROP COLUMN bytes_estimated")
	}
	for _, statement := range statements {
		if err := s.exec(t.Context(), statement); err != nil {
			t.Fatalf("%s: %v", statement, err)
		}
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
