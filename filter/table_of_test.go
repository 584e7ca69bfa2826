package filter

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A grownFlow is an item with a field that no other file of this package knows.
type grownFlow struct {
	telemetry.Flow
	RetryNs *uint64 `json:"retry_ns" filter:",alias=again" doc:"how long it was tried again"`
}

// TestAddedField: a field that is added to an item is in schemas, matches, is completed, compiles to SQL and is in the
// reference, as its tag says.
func TestAddedField(t *testing.T) {
	table := TableOf[grownFlow]("grown")
	e, err := Parse(table.Schema(), "again > 1ms and src in 10.0.0.0/8 or retry is null and packets = 3")
	if err != nil {
		t.Fatal(err)
	}
	short, long := uint64(1000), uint64(2e6)
	src := telemetry.Endpoints{Src: telemetry.AddrFrom4([4]byte{10, 0, 0, 1}).IP()}
	for _, tc := range []struct {
		flow grownFlow
		want bool
	}{
		{grownFlow{telemetry.Flow{Endpoints: src}, &long}, true},
		{grownFlow{telemetry.Flow{Endpoints: src}, &short}, false},
		{grownFlow{telemetry.Flow{Packets: 3}, nil}, true},
		{grownFlow{telemetry.Flow{Packets: 3}, &long}, false},
	} {
		if got := e.Matcher(clock).Match(table.Row(&tc.flow)); got != tc.want {
			t.Errorf("%+v: got %t", tc.flow, got)
		}
	}
	if sql, values := must(t, table.Schema(), "retry > 1ms").SQL(testNow); sql != "(retry > ? AND retry IS NOT NULL)" ||
		values[0] != int64(time.Millisecond) {
		t.Errorf("got %s %v", sql, values)
	}
	list := Complete(table.Schema(), "ret", 3)
	if len(list) != 1 || list[0].Text != "retry" || list[0].Kind != "duration" ||
		list[0].Doc != "how long it was tried again" {
		t.Errorf("got %+v", list)
	}
	f, _ := table.Schema().Find("retry_ns")
	if got, want := pageRow(f),
		"| `retry`, `retry_ns`, `again` | duration | how long it was tried again |\n"; got != want {
		t.Errorf("got %s", got)
	}
}

func must(t *testing.T, s *Schema, text string) *Expr {
	t.Helper()
	e, err := Parse(s, text)
	if err != nil {
		t.Fatal(err)
	}
	return e
}
