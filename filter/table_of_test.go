package filter

import (
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test/grown"
)

// TestAddedField: a field that is added to an item is in schemas, matches, is completed, compiles to SQL and is in the
// reference, as its tag says.
func TestAddedField(t *testing.T) {
	table := TableOf[grown.Item]("grown")
	e, err := Parse(table.Schema(), "again > 1ms and src in 10.0.0.0/8 or spent is null and retries = 3")
	if err != nil {
		t.Fatal(err)
	}
	short, long := uint64(1000), uint64(2e6)
	src := netip.MustParseAddr("10.0.0.1")
	for _, tc := range []struct {
		item grown.Item
		want bool
	}{
		{grown.Item{Src: src, Spent: &long}, true},
		{grown.Item{Src: src, Spent: &short}, false},
		{grown.Item{Retries: 3}, true},
		{grown.Item{Retries: 3, Spent: &long}, false},
	} {
		if got := e.Matcher(clock).Match(table.Row(&tc.item)); got != tc.want {
			t.Errorf("%+v: got %t", tc.item, got)
		}
	}
	if sql, values := must(t, table.Schema(), "spent > 1ms").SQL(DuckDB, testNow); sql != "(spent > ? AND spent IS NOT NULL)" ||
		values[0] != int64(time.Millisecond) {
		t.Errorf("got %s %v", sql, values)
	}
	list := Complete(table.Schema(), "sp", 2)
	if len(list) != 1 || list[0].Text != "spent" || list[0].Kind != "duration" ||
		list[0].Doc != "how long it was tried again" {
		t.Errorf("got %+v", list)
	}
	f, _ := table.Schema().Find("spent_ns")
	if got, want := pageRow(f),
		"| `spent`, `spent_ns`, `again` | duration | how long it was tried again |\n"; got != want {
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
