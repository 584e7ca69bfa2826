package cli

import (
	"bufio"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/internal/test/grown"
)

// TestAddedField: a field that is added to an item is in tables and CSV, where its tag says.
func TestAddedField(t *testing.T) {
	q := question[struct{}, grown.Item]{lead: []string{"node"}}
	items := grown.Items()
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
	if err := encode.CSV(&text, rowsOf("grown", items), true); err != nil ||
		text.String() !=
			"node,name,src,last,retries,spent_ns\n0,a,10.0.0.1,0001-01-01T00:00:00Z,7,1500\n0,b,,0001-01-01T00:00:00Z,0,\n" {
		t.Errorf("got\n%s%v", text.String(), err)
	}
}
