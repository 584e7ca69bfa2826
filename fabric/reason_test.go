package fabric

import (
	"testing"

	"github.com/waybill-int/waybill/wire/report"
)

// A collector that is told the dialect calls drops what the truth file calls them.
func TestReasonsAreInTheTable(t *testing.T) {
	table, ok := report.DropReasons("waybill-fabric")
	if !ok || len(table) != len(reasonNames) {
		t.Errorf("got %d reasons in the table, want %d", len(table), len(reasonNames))
	}
	for r, name := range reasonNames {
		if got := table[uint8(r)].Name; got != name {
			t.Errorf("%d: got %q in the table, want %q", r, got, name)
		}
	}
}
