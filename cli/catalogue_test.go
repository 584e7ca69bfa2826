package cli

import (
	"bufio"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A grownHop is an item with a field that no other file of this package knows.
type grownHop struct {
	telemetry.NodeHop
	Retries uint64  `json:"retries" table:"RETRIES" doc:"how often it was tried again"`
	Spent   *uint64 `json:"spent_ns" table:"SPENT,wide"`
}

// TestAddedField: a field that is added to an item is in tables and CSV, where its tag says.
func TestAddedField(t *testing.T) {
	q := question[struct{}, grownHop]{
		columns: []tableColumn[grownHop]{{title: "NAME", cell: func(_ *view, h *grownHop) Cell { return PlainCell(h.Name) }}, {title: "LAST SEEN"}},
		fields:  []csvField[grownHop]{{"name", func(h *grownHop) string { return h.Name }}},
	}
	q.columns[1].cell = func(*view, *grownHop) Cell { return PlainCell("now") }
	q.addTagged()
	spent := uint64(1500)
	items := []grownHop{{NodeHop: telemetry.NodeHop{Name: "a"}, Retries: 7, Spent: &spent}, {NodeHop: telemetry.NodeHop{Name: "b"}}}
	for _, tc := range []struct {
		wide bool
		want string
	}{
		{false, "NAME  RETRIES  LAST SEEN\na           7  now\nb           0  now\n"},
		{true, "NAME  RETRIES   SPENT  LAST SEEN\na           7  1.50us  now\nb           0       -  now\n"},
	} {
		var text strings.Builder
		w := bufio.NewWriter(&text)
		writeTable(w, &view{wide: tc.wide}, q.columns, items)
		if w.Flush(); text.String() != tc.want {
			t.Errorf("got\n%s", text.String())
		}
	}
	var text strings.Builder
	if err := writeCSV(&text, q.fields, items, true); err != nil || text.String() != "name,retries,spent_ns\na,7,1500\nb,0,\n" {
		t.Errorf("got\n%s%v", text.String(), err)
	}
}
