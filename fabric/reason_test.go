package fabric

import (
	"testing"

	"github.com/waybill-int/waybill/wire/report"
)

// A collector that is told the dialect calls drops what the truth file calls them.
func TestReasonsAreInTheTable(t *testing.T) {
	table, ok := report.DropReasons("waybill-fabric")
	if !ok {
		t.Fatal("no table")
	}
	for n, r := range table {
		if kernel := n == 62 || n >= 100 && n < 200; !kernel && reasonNames[Reason(n)] == "" {
			t.Errorf("%d: nothing is called %q here", n, r.Name)
		}
	}
	for r, name := range reasonNames {
		if got := table[uint8(r)].Name; got != name {
			t.Errorf("%d: got %q in the table, want %q", r, got, name)
		}
	}
}
