package api

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"testing"
)

// Records come in the order that is asked for, whatever it is about: what comes is what the same question without an
// order gives, sorted here.
func TestHistoryOrder(t *testing.T) {
	h := New(remembered(t))
	number := func(a, b any) int { return int(a.(float64) - b.(float64)) }
	text := func(a, b any) int { return strings.Compare(a.(string), b.(string)) }
	address := func(a, b any) int {
		return netip.MustParseAddr(a.(string)).Compare(netip.MustParseAddr(b.(string)))
	}
	// as filters have them
	others := map[string]string{"occupancy.max": "occupancy_max", "latency.max": "latency_max_ns"}
	for _, c := range []struct {
		list, query, order string
		compare            func(a, b any) int
		up                 bool
	}{
		{"flows", "", "packets", number, false},
		{"flows", "", "packets:asc", number, true},
		{"flows", "", "packets:desc", number, false},
		{"flows", "", "src", address, true},
		{"flows", "", "src:desc", address, false},
		{"flows", "&group_by=src,path", "id", nil, false},
		{"flows", "", "id", text, true},
		{"flows", "&interval=1m", "start", text, false},
		{"flows", "&interval=1m", "start:asc", text, true},
		{"hops", "&interval=1m", "packets:asc", number, true},
		{"queues", "&interval=10s", "occupancy_max:asc", number, true},
		{"queues", "&interval=10s", "occupancy.max:asc", number, true},
		{"hops", "&group_by=egress_port,+node", "latency.max", number, false},
		{"drops", "", "node", number, false},
		{"exporters", "", "source", address, true},
		{"events", "", "start:asc", text, true},
		{"events", "", "id", text, true},
		{"events", "", "id:desc", text, false},
	} {
		field, _, _ := strings.Cut(c.order, ":")
		if other := others[field]; other != "" {
			field = other
		}
		ask := func(order string) (values []any, code int) {
			w := ask(h, "GET", "/api/v1/"+c.list+"?"+tuesdays+c.query+order)
			var list map[string]any
			json.Unmarshal(w.Body.Bytes(), &list)
			items, _ := list[c.list].([]any)
			for _, item := range items {
				values = append(values, item.(map[string]any)[field])
			}
			return values, w.Code
		}
		want, _ := ask("")
		got, code := ask("&order=" + c.order)
		if c.compare == nil {
			if code != 400 {
				t.Errorf("%s by %s, which is not in the answer: got %d", c.list, c.order, code)
			}
			continue
		}
		slices.SortStableFunc(want, c.compare)
		if !c.up {
			slices.Reverse(want)
		}
		if code != 200 || len(got) == 0 || fmt.Sprint(got) != fmt.Sprint(want) {
			t.Errorf("%s by %s: got %d %v, want %v", c.list, c.order, code, got, want)
		}
	}
}
