package api

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"net/url"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func eventServer(t *testing.T) http.Handler {
	collector, log := happened(t)
	cfg := testConfig(collector)
	cfg.Events = log
	return New(cfg)
}

func TestEvents(t *testing.T) {
	h := eventServer(t)
	for name, target := range map[string]string{
		"events": "events", "events_filter": "events?filter=" + url.QueryEscape("node = s2 and reason_name like \"acl%\""),
	} {
		w := ask(h, "GET", "/api/v1/"+target)
		if w.Code != 200 {
			t.Errorf("%s: got %d %s", target, w.Code, w.Body)
		}
		golden(t, name, w.Body.Bytes())
	}
}

// Each parameter leaves what it selects.
func TestEventFilters(t *testing.T) {
	h := eventServer(t)
	for target, want := range map[string]struct{ total, listed int }{
		"":                                  {7, 7},
		"limit=2":                           {7, 2},
		"kind=drop_storm":                   {4, 4},
		"id=nothing":                        {0, 0},
		"kind=drop_storm,report_loss":       {5, 5},
		"kind=report_loss&kind=loop":        {1, 1},
		"kind=blackhole":                    {0, 0},
		"severity=info":                     {7, 7},
		"severity=warning":                  {5, 5},
		"severity=critical":                 {3, 3},
		"node=s2":                           {2, 2},
		"node=2&limit=1":                    {2, 1},
		"node=nobody":                       {0, 0},
		"open=true":                         {2, 2},
		"open=false":                        {5, 5},
		"filter=":                           {7, 7},
		"filter=not+end+is+null":            {5, 5},
		"filter=duration+>+500ms":           {4, 4},
		"filter=start+<+now-55s":            {5, 5},
		"filter=dst_port=6007":              {2, 2},
		"filter=source+in+192.0.2.0/24":     {1, 1},
		"filter=count=30&node=s2&kind=loop": {0, 0},
	} {
		w := ask(h, "GET", "/api/v1/events?"+strings.NewReplacer(">", "%3E", "<", "%3C").Replace(target))
		var list EventList
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || list.Total != want.total || len(list.Events) != want.listed {
			t.Errorf("%s: got %s, want %d of %d", target, w.Body, want.listed, want.total)
		}
	}
}

func TestEventProblems(t *testing.T) {
	h := eventServer(t)
	kinds := "new_flow, path_change, ecmp_imbalance, path_not_allowed, link_lost, latency_anomaly, microburst, incast, drop_storm, blackhole, " +
		"gray_failure, loop, hop_limit, mtu_exceeded, hop_without_int, malformed, unexpected_node, waypoint_missed, report_loss, node_restart, clock_jump"
	for query, want := range map[string]Problem{
		"kind=storm":                     {Parameter: "kind", Detail: `kind is "storm"`, Allowed: kinds},
		"kind=":                          {Parameter: "kind", Detail: `kind is ""`, Allowed: kinds},
		"kind=loop,":                     {Parameter: "kind", Detail: `kind is ""`, Allowed: kinds},
		"severity=bad":                   {Parameter: "severity", Detail: `severity is "bad"`, Allowed: "info, warning, critical"},
		"open=yes":                       {Parameter: "open", Detail: `open is "yes"`, Allowed: "true, false"},
		"open=true&open=false":           {Parameter: "open", Detail: "open is given 2 times", Allowed: "once"},
		"node=":                          {Parameter: "node", Detail: "node is empty", Allowed: "the id or the name of a node"},
		"limit=0":                        {Parameter: "limit", Detail: `limit is "0"`, Allowed: "1 to 10000"},
		"order=last":                     {Parameter: "order", Detail: `unknown parameter "order"`, Allowed: "filter, id, kind, limit, node, open, severity"},
		"filter=a&filter=b":              {Parameter: "filter", Detail: "filter is given 2 times", Allowed: "once"},
		"open=yes&filter=kindd%3Dloop":   {Parameter: "open", Detail: `open is "yes"`, Allowed: "true, false"},
		"filter=count%3D1+and+kindd%3D2": {Parameter: "filter", Detail: "filter: column 13: events have no field kindd: did you mean kind?"},
		"filter=kind%3D":                 {Parameter: "filter", Detail: "filter: column 6: expected one of a list of names such as new_flow, found the end"},
	} {
		w := ask(h, "GET", "/api/v1/events?"+query)
		var p Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || w.Code != 400 || w.Header().Get("Content-Type") != problemType {
			t.Errorf("%s: got %d %s", query, w.Code, w.Body)
		}
		if p.Parameter != want.Parameter || p.Detail != want.Detail || p.Allowed != want.Allowed || (p.Filter != nil) != strings.HasPrefix(want.Detail, "filter: ") {
			t.Errorf("%s: got %s", query, w.Body)
		}
		if p.Filter != nil && strings.Contains(query, "kindd") {
			if f := *p.Filter; f.Offset != 12 || f.Length != 5 || f.Column != 13 || f.Suggestion != "kind" {
				t.Errorf("%s: got %+v", query, f)
			}
		}
	}
}

// TestEventRow gives each field of the schema a value of an event that has all of them, and none of one that has nothing.
func TestEventRow(t *testing.T) {
	start := begin
	end := start.Add(time.Second)
	node, port, toNode, toPort, id := uint32(1), uint32(2), uint32(3), uint32(4), uint32(5)
	queue, reason := uint8(6), uint8(7)
	full := telemetry.Event{
		ID: "a", Kind: telemetry.EventLoop, Severity: telemetry.Critical, Start: start, End: &end, Count: 8, Text: "b",
		Node: &node, Name: "c", Port: &port, Queue: &queue, ToNode: &toNode, ToName: "d", ToPort: &toPort, Reason: &reason, ReasonName: "e",
		Source: "192.0.2.1", Path: "f", Flow: &telemetry.Endpoints{
			Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("2001:db8::1"), SrcPort: 9, DstPort: 10,
			Protocol: "99", Tunnel: "geneve", TunnelID: &id,
		},
	}
	want := map[string][]filter.Value{
		"id": {filter.FromText("a")}, "kind": {filter.FromUint(12)}, "severity": {filter.FromUint(2)}, "start": {filter.FromTime(start)},
		"end": {filter.FromTime(end)}, "duration": {filter.FromDuration(time.Second)}, "count": {filter.FromUint(8)}, "text": {filter.FromText("b")},
		"node": {filter.FromUint(1), filter.FromUint(3)}, "name": {filter.FromText("c"), filter.FromText("d")}, "egress_port": {filter.FromUint(2)},
		"queue_id": {filter.FromUint(6)}, "to_node": {filter.FromUint(3)}, "to_port": {filter.FromUint(4)}, "reason": {filter.FromUint(7)},
		"reason_name": {filter.FromText("e")}, "source": {filter.FromAddr(telemetry.AddrFrom4([4]byte{192, 0, 2, 1}))}, "path": {filter.FromText("f")},
		"src": {filter.FromAddr(telemetry.AddrFrom4([4]byte{10, 0, 0, 1}))}, "dst": {filter.FromAddr(telemetry.AddrFrom(full.Flow.Dst))},
		"src_port": {filter.FromUint(9)}, "dst_port": {filter.FromUint(10)}, "protocol": {filter.FromUint(99)}, "tunnel": {filter.FromUint(3)},
		"tunnel_id": {filter.FromUint(5)},
	}
	always := map[string]bool{"id": true, "kind": true, "severity": true, "start": true, "count": true, "text": true}
	values := func(e *telemetry.Event, f *filter.Field) (list []filter.Value) {
		for i := range 3 {
			v, ok := eventRow{e}.Value(f.Index(), i)
			if !ok || i > 0 && !f.Many {
				break
			}
			list = append(list, v)
		}
		return list
	}
	for _, f := range filter.Events.Fields() {
		if len(f.Any) > 0 {
			continue
		}
		if got := values(&full, f); !reflect.DeepEqual(got, want[f.Name]) {
			t.Errorf("%s: got %v, want %v", f.Name, got, want[f.Name])
		}
		if got := values(&telemetry.Event{}, f); (len(got) > 0) != always[f.Name] {
			t.Errorf("%s of nothing: got %v", f.Name, got)
		}
	}
	far := telemetry.Event{ToNode: &toNode, ToName: "d"}
	for _, name := range []string{"node", "name"} {
		f, _ := filter.Events.Find(name)
		if got := values(&far, f); !reflect.DeepEqual(got, want[name][1:]) {
			t.Errorf("%s of the far end alone: got %v", name, got)
		}
	}
	if _, ok := (eventRow{&telemetry.Event{Flow: &telemetry.Endpoints{Protocol: "other"}}}).Value(index(t, "protocol"), 0); ok {
		t.Error("a protocol without a number has one")
	}
}

func index(t *testing.T, name string) int {
	f, ok := filter.Events.Find(name)
	if !ok {
		t.Fatalf("no field %s", name)
	}
	return f.Index()
}
