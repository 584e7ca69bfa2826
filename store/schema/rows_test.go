package schema

import (
	"fmt"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// A grownInterval has a field that no other file of this package knows.
type grownInterval struct {
	StartNs         int64
	telemetry.Place `store:"node"`
	Retries         uint32 `store:"retries,sum,minute" known:"Known"`
	Known           bool
}

// TestAddedField: a field that is added to an interval has a column and a value, as its tag says.
func TestAddedField(t *testing.T) {
	rows := newRows(func(r *grownInterval) int64 { return r.StartNs }, nil)
	want := []Column{
		Start,
		{Name: "node", Kind: "UINTEGER"},
		{Name: "retries", Kind: "UINTEGER", Role: Sum, Minute: true},
	}
	if fmt.Sprint(rows.columns) != fmt.Sprint(want) {
		t.Errorf("got %+v", rows.columns)
	}
	for _, tc := range []struct {
		r    grownInterval
		want string
	}{
		{
			grownInterval{
				StartNs: 1e9, Place: telemetry.Place{Has: telemetry.HasNode, Node: 3}, Retries: 7,
				Known: true,
			},
			"1970-01-01 00:00:01 +0000 UTC 3 7",
		},
		{grownInterval{Retries: 7}, "1970-01-01 00:00:00 +0000 UTC <nil> <nil>"},
	} {
		var a Row
		rows.add(&a, &tc.r)
		if got := strings.Trim(fmt.Sprint(a), "[]"); got != tc.want {
			t.Errorf("got %s", got)
		}
	}
}
