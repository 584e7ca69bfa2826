package api

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"net/url"
	"os"
	"reflect"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/types"
)

// An item is one of a list as a client of no type sees it.
type item = map[string]any

// itemsOf asks for a list.
func itemsOf(t *testing.T, h http.Handler, name, query string) (items []item, total int, next string) {
	t.Helper()
	w := ask(h, "GET", "/api/v1/"+name+"?"+query, anyone)
	var head struct {
		Total      int
		NextCursor string `json:"next_cursor"`
	}
	var members map[string]json.RawMessage
	decoder := json.NewDecoder(w.Body)
	decoder.UseNumber()
	if err := decoder.Decode(&members); err != nil || w.Code != 200 {
		t.Fatalf("%s?%s: got %d %v %s", name, query, w.Code, err, members)
	}
	text, _ := json.Marshal(members)
	if err := json.Unmarshal(text, &head); err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(members[name], &items); err != nil {
		t.Fatal(err)
	}
	return items, head.Total, head.NextCursor
}

// asked counts the requests of anyone.
var asked atomic.Uint32

// anyone lets a request come from one of many clients: one alone may not ask that often.
func anyone(r *http.Request) { r.RemoteAddr = fmt.Sprintf("192.0.2.%d:1234", asked.Add(1)%200) }

// at returns a member of an item, whose name has dots where it is in objects.
func at(i item, path string) any {
	var v any = i
	for name := range strings.SplitSeq(path, ".") {
		object, _ := v.(item)
		v = object[name]
	}
	return v
}

// selected are the servers that have something in each list of now.
func selected(t *testing.T) map[string]http.Handler {
	h := New(testConfig(captured(t)))
	cfg := testConfig(newFeed().Collector)
	cfg.Collector, cfg.Events = happened(t)
	servers := map[string]http.Handler{"events": New(cfg)}
	for _, name := range []string{
		"nodes", "links", "hops", "hosts", "flows", "paths", "drops", "queues", "exporters",
		"listeners", "loss", "ports",
	} {
		servers[name] = h
	}
	cfg = testConfig(newFeed().Collector)
	cfg.Collector, cfg.Events = timed(t)
	servers["clocks"] = New(cfg)
	servers["bursts"] = New(queuedAt(t, 4, 5, 6))
	return servers
}

// Each list of now has the order of any field, from either end, as the client that sorts it has it; what is not known
// is last.
func TestOrderOfNow(t *testing.T) {
	for name, h := range selected(t) {
		all, _, _ := itemsOf(t, h, name, "limit=10000")
		var p types.Problem
		json.Unmarshal(ask(h, "GET", "/api/v1/"+name+"?order=nothing").Body.Bytes(), &p)
		fields, _, _ := strings.Cut(p.Allowed, "; ")
		if p.Parameter != "order" || len(all) < 2 {
			t.Fatalf("%s: got %+v for %d items", name, p, len(all))
		}
		for field := range strings.SplitSeq(fields, ", ") {
			path := field
			switch {
			case field == "latency":
				path = "residence_ns.mean"
			case name == "bursts" && (field == "last" || field == "peak" || field == "duration"):
				continue // of these the largest come first, whatever is behind a colon
			}
			for _, direction := range []string{"asc", "desc"} {
				got, _, _ := itemsOf(t, h, name, "limit=10000&order="+field+":"+direction)
				if len(got) != len(all) {
					t.Errorf("%s by %s: %d items of %d", name, field, len(got), len(all))
				}
				for i := range got[1:] {
					a, b := at(got[i], path), at(got[i+1], path)
					switch {
					case b == nil: // it, and all that follow, are not known; or 0, false or "", which are left out
					case a == nil && b != nil && field == path && !leftOut(b):
						if direction == "desc" {
							t.Errorf("%s by %s %s: %v stands behind what is not known", name, field, direction, b)
						}
					case a != nil && (direction == "asc") != (order(name, field, a, b) <= 0) &&
						order(name, field, a, b) != 0:
						t.Errorf("%s by %s %s: %v stands before %v", name, field, direction, a, b)
					}
				}
			}
		}
	}
}

// leftOut reports whether JSON may leave a value out.
func leftOut(v any) bool { return v == nil || reflect.ValueOf(v).IsZero() }

// order compares two values of JSON. Severities are in their order.
func order(name, field string, a, b any) int {
	switch x := a.(type) {
	case float64:
		return cmp.Compare(x, b.(float64))
	case bool:
		return cmp.Compare(fmt.Sprint(x), fmt.Sprint(b))
	case nil:
		return 0
	}
	x, y := a.(string), b.(string)
	if from, err := time.Parse(time.RFC3339, x); err == nil {
		to, _ := time.Parse(time.RFC3339, y)
		return from.Compare(to)
	}
	if field == "severity" && name == "events" { // that of drops is a text
		order := []string{"info", "warning", "critical"}
		return cmp.Compare(slices.Index(order, x), slices.Index(order, y))
	}
	if field == "kind" {
		return 0 // by their numbers, which JSON does not show
	}
	m, err := netip.ParseAddr(x)
	n, wrong := netip.ParseAddr(y)
	if err == nil && wrong == nil {
		return m.Compare(n)
	}
	return cmp.Compare(x, y)
}

// Page after page is the whole list, with and without an order.
func TestPagesOfNow(t *testing.T) {
	for name, h := range selected(t) {
		for _, question := range []string{
			"", "order=first:asc&",
			"filter=" + url.QueryEscape("first > 2000-01-01T00:00:00Z") + "&",
		} {
			if strings.Contains("hosts listeners loss events clocks bursts", name) && question != "" {
				continue // they have no first
			}
			all, total, next := itemsOf(t, h, name, question+"limit=10000")
			if next != "" || total != len(all) {
				t.Errorf("%s?%s: %d of %d items, next is %q", name, question, len(all), total, next)
			}
			var pages []item
			cursor := ""
			for range len(all) {
				page, n, next := itemsOf(t, h, name, question+"limit=2"+cursor)
				if pages = append(pages, page...); n != total {
					t.Errorf("%s: total is %d, then %d", name, total, n)
				}
				if next == "" {
					break
				}
				cursor = "&cursor=" + next
			}
			if !reflect.DeepEqual(pages, all) {
				t.Errorf("%s?%s: %d items on pages, %d at once", name, question, len(pages), len(all))
			}
			if cursor == "" {
				t.Errorf("%s?%s: one page", name, question)
			}
		}
	}
}

// The page of the API has the fields that only it knows of.
func TestFieldsAreDocumented(t *testing.T) {
	page, err := os.ReadFile("../docs/reference/api.md")
	if err != nil {
		t.Fatal(err)
	}
	_, fields, _ := strings.Cut(string(page), "### Filter, order and pages")
	for _, name := range []string{
		"bursts", "clocks", "cables", "hosts", "loss", "ports", "listeners", "rules", "outputs",
		"silences", "views",
	} {
		_, row, _ := strings.Cut(fields, "\n| `"+name+"` |")
		row, _, _ = strings.Cut(row, "\n")
		for _, f := range schemas(nil)[name].Fields() {
			if !strings.Contains(row, "`"+f.Name+"`") {
				t.Errorf("%s: %s is not in the table", name, f.Name)
			}
		}
	}
}

// What a filter says of a field selects the items that have that value in JSON, and no others.
func TestFilterOfNow(t *testing.T) {
	servers := selected(t)
	duration := func(v any) string { return fmt.Sprintf("%.0fns", v) }
	plain := func(v any) string { return fmt.Sprintf("%v", v) }
	whole := func(v any) string { return fmt.Sprintf("%.0f", v) }
	for _, c := range []struct {
		list   string
		text   func(any) string
		fields string // of the filter, with the member of JSON
	}{
		{"nodes", whole, "node=id packets=packets drops=drops queue=queue_max"},
		{"nodes", plain, "name=name first=first last=last"},
		{
			"nodes", duration,
			"latency.min=latency_ns.min latency.p50=latency_ns.p50 latency.p99=latency_ns.p99 latency.max=latency_ns.max",
		},
		{"hops", whole, "node=node ingress_port=ingress_port egress_port=egress_port packets=packets queue=queue.max"},
		{"hops", duration, "latency.min=latency_ns.min latency.p99=latency_ns.p99 latency.max=latency_ns.max"},
		{
			"queues", whole,
			"node=node egress_port=port queue=queue samples=depth.count occupancy.max=depth.max occupancy.last=last_depth",
		},
		{"links", whole, "from=from from_port=from_port to=to to_port=to_port packets=packets"},
		{"links", plain, "first=first last=last"},
		{
			"flows", whole,
			"src_port=src_port dst_port=dst_port dscp=dscp reports=reports packets=packets bytes=bytes drops=drops path_changes=path_changes",
		},
		{"flows", plain, "id=id src=src dst=dst protocol=protocol device=device first=first last=last"},
		{
			"flows", duration,
			"residence.min=residence_ns.min residence.p50=residence_ns.p50 residence.p99=residence_ns.p99 residence.max=residence_ns.max end_to_end.max=end_to_end_ns.max",
		},
		{"paths", whole, "flows=flows packets=packets"},
		{"paths", plain, "id=id first=first last=last"},
		{
			"paths", duration,
			"residence.min=residence_ns.min residence.p50=residence_ns.p50 residence.p99=residence_ns.p99 end_to_end.max=end_to_end_ns.max",
		},
		{
			"drops", whole,
			"node=node ingress_port=ingress_port egress_port=egress_port reason=reason packets=packets src_port=last_flow.src_port",
		},
		{"drops", plain, "name=name reason_name=reason_name src=last_flow.src dst=last_flow.dst first=first last=last"},
		{
			"exporters", whole,
			"node=node hw_id=hw_id received=received reports=reports lost=lost reordered=reordered duplicate=duplicate restarted=restarted",
		},
		{"exporters", plain, "source=source name=name version=version first=first last=last"},
		{"events", whole, "node=node egress_port=port count=count"},
		{
			"bursts", whole,
			"node=node port=port queue=queue packets=packets bytes=bytes drops=drops sources=sources main_sources=main_sources peak_bytes=peak_bytes",
		},
		{"bursts", plain, "id=id name=name start=start peak=peak end=end incast=incast"},
		{"bursts", duration, "duration=duration_ns peak_delay=peak_delay_ns"},
		{"clocks", whole, "node=node reference=reference links=links"},
		{"clocks", plain, "name=name trusted=trusted reason=reason last_jump.after=last_jump.after"},
		{"clocks", duration, "offset=offset_ns offset_ns=offset_ns uncertainty=uncertainty_ns span=span_ns"},
		{"hosts", plain, "address=address"},
		{
			"loss", whole,
			"node=node hw_id=hw_id lost=lost arrived=arrived received=received decoded=decoded reports=reports",
		},
		{"loss", plain, "source=source name=name version=version loss_known=loss_known"},
		{"ports", whole, "node=node port=port to_node=to_node to_port=to_port received=received sent=sent"},
		{"ports", plain, "name=name to_name=to_name first=first last=last"},
		{"listeners", whole, "received=received decoded=decoded kernel_drops=kernel_drops"},
		{"listeners", plain, "address=address"},
		{"events", plain, "id=id kind=kind severity=severity start=start end=end reason_name=reason_name"},
	} {
		h := servers[c.list]
		all, _, _ := itemsOf(t, h, c.list, "limit=10000")
		for pair := range strings.FieldsSeq(c.fields) {
			field, path, _ := strings.Cut(pair, "=")
			counts, example := map[string]int{}, map[string]any{}
			for _, i := range all {
				if v := at(i, path); v != nil && v != "" {
					counts[c.text(v)]++
					example[c.text(v)] = v
				}
			}
			if len(counts) == 0 && !strings.Contains("nodes.queue device src_port src dst end restarted", field) {
				t.Errorf("%s: no item has %s", c.list, path)
			}
			for _, value := range slices.Sorted(maps.Keys(counts)) {
				quoted := value
				if _, text := example[value].(string); text {
					quoted = `"` + value + `"`
				}
				got, total, _ := itemsOf(t, h, c.list, "limit=10000&filter="+url.QueryEscape(field+" = "+quoted))
				if len(got) != counts[value] || total != counts[value] {
					t.Errorf("%s: %s = %s selects %d, want %d", c.list, field, quoted, total, counts[value])
				}
				for _, i := range got {
					if c.text(at(i, path)) != value {
						t.Errorf("%s: %s = %s selects %v", c.list, field, quoted, at(i, path))
					}
				}
			}
		}
	}
	// What there is several of, and sums.
	h := servers["hosts"]
	for query, want := range map[string]int{
		"hosts?filter=node+%3D+s1": countItems(t, h, "hosts", func(i item) bool {
			return slices.ContainsFunc(i["places"].([]any), func(p any) bool { return p.(item)["node"] == 1.0 })
		}),
		"hosts?filter=port+%3D+1+and+places+%3D+1": countItems(t, h, "hosts", func(i item) bool {
			places := i["places"].([]any)
			return len(places) == 1 && places[0].(item)["port"] == 1.0
		}),
		"loss?filter=malformed+%3E+0": countItems(t, h, "loss",
			func(i item) bool { return len(i["malformed"].(item)) > 0 }),
	} {
		name, rest, _ := strings.Cut(query, "?")
		if _, total, _ := itemsOf(t, h, name, rest); total != want || want == 0 {
			t.Errorf("%s: got %d, want %d", query, total, want)
		}
	}
	h = servers["flows"]
	for query, want := range map[string]int{
		"flows?filter=node+%3D+s2+and+hops+%3E+1": countItems(t, h, "flows",
			func(i item) bool { return len(hopsOf(i)) > 1 && passes(i, 2) }),
		"flows?filter=not+node+%3D+s2": countItems(t, h, "flows",
			func(i item) bool { return !passes(i, 2) }),
		"flows?filter=exists+path": countItems(t, h, "flows",
			func(i item) bool { return len(i["paths"].([]any)) > 0 }),
		"flows?filter=residence+%3E+200us&node=1": countItems(t, h, "flows", func(i item) bool {
			mean, _ := at(i, "residence_ns.mean").(float64)
			return mean > 200e3 && passes(i, 1)
		}),
	} {
		name, rest, _ := strings.Cut(query, "?")
		if _, total, _ := itemsOf(t, h, name, rest); total != want {
			t.Errorf("%s: got %d, want %d", query, total, want)
		}
	}
}

func countItems(t *testing.T, h http.Handler, name string, is func(item) bool) (n int) {
	all, _, _ := itemsOf(t, h, name, "limit=10000")
	for _, i := range all {
		if is(i) {
			n++
		}
	}
	return n
}

// hopsOf returns the hops of the latest path of a flow.
func hopsOf(flow item) []any {
	paths, _ := flow["paths"].([]any)
	if len(paths) == 0 {
		return nil
	}
	hops, _ := paths[0].(item)["hops"].([]any)
	return hops
}

func passes(flow item, node float64) bool {
	return slices.ContainsFunc(hopsOf(flow), func(hop any) bool { return hop.(item)["node"] == node })
}
