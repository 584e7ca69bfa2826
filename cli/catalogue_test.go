package cli

import (
	"bufio"
	"strings"
	"testing"
	"time"
)

// A grownHop is an item with a field that no other file of this package knows.
type grownHop struct {
	Node    uint32    `json:"node" kind:"node" table:"NODE,named=name"`
	Name    string    `json:"name"`
	Last    time.Time `json:"last" table:"LAST SEEN,end"`
	Retries uint64    `json:"retries" table:"RETRIES" doc:"how often it was tried again"`
	Spent   *uint64   `json:"spent_ns" table:"SPENT,wide"`
}

// TestAddedField: a field that is added to an item is in tables and CSV, where its tag says.
func TestAddedField(t *testing.T) {
	q := question[struct{}, grownHop]{lead: []string{"node"}}
	spent := uint64(1500)
	items := []grownHop{{Name: "a", Retries: 7, Spent: &spent}, {Name: "b"}}
	for _, tc := range []struct {
		wide bool
		want string
	}{
		{false, "NODE  RETRIES  LAST SEEN\na           7  -\nb           0  -\n"},
		{true, "NODE  RETRIES   SPENT  LAST SEEN\na           7  1.50us  -\nb           0       -  -\n"},
	} {
		var text strings.Builder
		w := bufio.NewWriter(&text)
		writeTable(w, &view{wide: tc.wide}, q.tableColumns(), items)
		if w.Flush(); text.String() != tc.want {
			t.Errorf("got\n%s", text.String())
		}
	}
	var text strings.Builder
	if err := writeCSV(&text, items, true); err != nil ||
		text.String() !=
			"node,name,last,retries,spent_ns\n0,a,0001-01-01T00:00:00Z,7,1500\n0,b,0001-01-01T00:00:00Z,0,\n" {
		t.Errorf("got\n%s%v", text.String(), err)
	}
}
