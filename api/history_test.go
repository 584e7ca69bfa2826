package api

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// tuesday is in the middle of what remembered keeps.
var tuesday = begin.Add(-4 * 24 * time.Hour).Truncate(time.Minute)

// remembered returns a configuration whose store has, since tuesday, 30 intervals of 5 flows: flow f has f+1 packets in
// each.
func remembered(t *testing.T) Config {
	t.Helper()
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	place := func(node uint32) telemetry.Place {
		return telemetry.Place{
			Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort, Node: node,
			IngressPort: 6, EgressPort: 7,
		}
	}
	v := &telemetry.Intervals{}
	for i := range int64(30) {
		at := tuesday.UnixNano() + i*10e9
		for f := range 5 {
			r := telemetry.FlowInterval{
				StartNs: at, Path: 5, Packets: uint64(f + 1), Bytes: 100, Reports: 1,
				Key: telemetry.FlowKey{
					Src: telemetry.AddrFrom4([4]byte{10, 0, 0, byte(f)}),
					Dst: telemetry.AddrFrom4([4]byte{10, 1, 0, 1}), SrcPort: 1000, DstPort: 443, Protocol: 6,
				},
			}
			r.Residence = telemetry.LatencySummary{Count: 1, Sum: 500, Min: 500, Max: 500}
			r.Sample.Add(telemetry.SampleOnEvent, -1, r.Packets)
			v.Flows = append(v.Flows, r)
		}
		h := telemetry.Histogram{
			Count: 3, Sum: 700, Min: 100, Max: 400, Scale: 1, Start: 13,
			Counts: []uint64{2, 0, 0, 0, 1},
		}
		var sample telemetry.SampleSum
		sample.Add(10, 0.1, 15)
		v.Paths = append(v.Paths,
			telemetry.PathInterval{StartNs: at, Path: 5, Packets: 15, Residence: h, Incomplete: 5, Sample: sample})
		v.Hops = append(v.Hops, telemetry.HopInterval{
			StartNs: at, Place: place(1), Packets: 15, Latency: h, Sample: sample,
		})
		v.Queues = append(v.Queues,
			telemetry.QueueInterval{StartNs: at, Place: place(1), Queue: 2, Samples: 4, Sum: 100, Max: uint32(i)})
		told := telemetry.UtilizationSum{Samples: 4, Sum: 12_000, Max: 5000 + uint32(i)}
		if i%3 == 0 { // nobody told of it
			told = telemetry.UtilizationSum{}
		}
		v.Links = append(v.Links,
			telemetry.LinkInterval{
				StartNs: at, From: place(1), To: place(2), Packets: 15, Delay: h, Utilization: told,
				Sample: sample, Incomplete: 1,
			})
		v.Drops = append(v.Drops, telemetry.DropInterval{StartNs: at, Place: place(2), Reason: 5, Packets: 2})
		v.Exporters = append(v.Exporters,
			telemetry.ExporterInterval{
				StartNs: at, Source: netip.MustParseAddr("192.0.2.1"), Version: "2.0",
				LossKnown: "yes", Received: 7,
			})
		v.Events = append(v.Events,
			telemetry.Event{
				ID: fmt.Sprintf("%016x", i), Kind: telemetry.EventLoop, Severity: telemetry.Critical,
				Start: time.Unix(0, at).UTC(), Text: "a loop", Evidence: []telemetry.Evidence{},
			})
	}
	if err := s.Write([]*telemetry.Intervals{v}); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(newFeed().Collector)
	cfg.History, cfg.SQL, cfg.Between = s.Query, s.SQL, s.Between
	return cfg
}

// tuesdays are the parameters of the time range that has all records.
var tuesdays = "since=" + tuesday.Format(time.RFC3339) + "&until=" + tuesday.Add(time.Hour).Format(time.RFC3339)

// Lists of a time range have what was counted in it, and the golden files say in which shape.
func TestHistory(t *testing.T) {
	h := New(remembered(t))
	for name, query := range map[string]string{
		"flows": "", "paths": "", "hops": "", "queues": "", "links": "", "drops": "", "exporters": "",
		"events": "&limit=2",
	} {
		w := ask(h, "GET", "/api/v1/"+name+"?"+tuesdays+query)
		if w.Code != 200 {
			t.Errorf("%s: got %s", name, w.Body)
			continue
		}
		golden(t, name+"_history", w.Body.Bytes())
	}
}

// Sums over a time range are those of the records in it, however they are grouped and selected.
func TestHistoryQuestions(t *testing.T) {
	h := New(remembered(t))
	minute := "since=" + tuesday.Add(time.Minute).Format(time.RFC3339) + "&until=" +
		tuesday.Add(2*time.Minute).Format(time.RFC3339)
	for query, want := range map[string]string{ // packets of each record
		"flows?" + tuesdays:                                                  "150 120 90 60 30",
		"flows?" + minute:                                                    "30 24 18 12 6",
		"flows?" + tuesdays + "&limit=2":                                     "150 120",
		"flows?" + tuesdays + "&group_by=":                                   "450",
		"flows?" + tuesdays + "&group_by=dst,dst_port":                       "450",
		"flows?" + tuesdays + "&group_by=&interval=1m":                       "90 90 90 90 90",
		"flows?" + minute + "&group_by=&interval=20s":                        "30 30 30",
		"flows?" + tuesdays + "&src=10.0.0.2/31":                             "120 90",
		"flows?" + tuesdays + "&src=10.0.0.4":                                "150",
		"flows?" + tuesdays + "&port=443&protocol=tcp&limit=1":               "150",
		"flows?" + tuesdays + "&port=80":                                     "",
		"flows?" + tuesdays + "&filter=src+%3D+10.0.0.1+or+src+%3D+10.0.0.0": "60 30",
		// all have the same: by group then
		"flows?" + tuesdays + "&order=bytes&group_by=src": "30 60 90 120 150",
		"flows?since=1h":                                          "",
		"hops?" + tuesdays + "&node=s1":                           "450",
		"hops?" + tuesdays + "&node=0x2":                          "",
		"links?" + tuesdays + "&node=s2":                          "450",
		"links?" + tuesdays + "&filter=from+%3D+s1":               "450",
		"links?" + tuesdays + "&filter=utilization.max+>+5024":    "60",
		"links?" + tuesdays + "&filter=utilization.mean+=+3000":   "300",
		"drops?" + tuesdays + "&group_by=reason":                  "60",
		"drops?" + tuesdays + "&group_by=reason&reason=5":         "60",
		"drops?" + tuesdays + "&group_by=reason&reason=reason_5":  "60",
		"drops?" + tuesdays + "&group_by=reason&reason=acl_deny":  "",
		"drops?" + tuesdays + "&group_by=&filter=name+%3D+s2":     "60",
		"drops?" + tuesdays + "&group_by=&filter=name+~+%22^s%22": "60",
		"drops?" + tuesdays + "&filter=name+!%3D+s2":              "",
		"hops?" + tuesdays + "&filter=name+in+(s1,s2)":            "450",
	} {
		w := ask(h, "GET", "/api/v1/"+query)
		name, _, _ := strings.Cut(query, "?")
		var list map[string]any
		if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
			t.Errorf("%s: got %s", query, w.Body)
			continue
		}
		var got []string
		for _, item := range list[name].([]any) {
			got = append(got, fmt.Sprint(item.(map[string]any)["packets"]))
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: got %v, want %s", query, got, want)
		}
	}
	for query, want := range map[string]int{
		"": 30, "&kind=loop": 30, "&kind=blackhole": 0, "&severity=critical": 30,
		"&open=true": 30, "&open=false": 0, "&filter=id+like+%22%251f%22": 0, "&node=s1": 0,
	} {
		var list types.EventHistory
		json.Unmarshal(ask(h, "GET", "/api/v1/events?"+tuesdays+query).Body.Bytes(), &list)
		if len(list.Events) != want {
			t.Errorf("events %s: got %d, want %d", query, len(list.Events), want)
		}
	}
}

// Page after page, everything comes once, also when many are equal.
func TestHistoryPages(t *testing.T) {
	h := New(remembered(t))
	for _, query := range []string{
		"flows?" + tuesdays + "&limit=4&order=bytes&interval=10s",
		"events?since=2000h&limit=7",
	} {
		name, _, _ := strings.Cut(query, "?")
		seen := map[string]bool{}
		next, pages := "", 0
		for ; pages < 100; pages++ {
			var list map[string]any
			w := ask(h, "GET", "/api/v1/"+query+next)
			json.Unmarshal(w.Body.Bytes(), &list)
			for _, item := range list[name].([]any) {
				seen[fmt.Sprint(item)] = true
			}
			if list["total"] != float64(len(seen)) {
				t.Fatalf("%s: total is %v after %d", query, list["total"], len(seen))
			}
			if list["next_cursor"] == nil {
				break
			}
			next = "&cursor=" + list["next_cursor"].(string)
		}
		if want := map[string]int{"flows": 150, "events": 30}[name]; len(seen) != want || pages < 2 {
			t.Errorf("%s: got %d in %d pages, want %d", query, len(seen), pages, want)
		}
	}
}

func TestHistoryETag(t *testing.T) {
	h := New(remembered(t))
	first := ask(h, "GET", "/api/v1/flows?"+tuesdays)
	tag := first.Header().Get("ETag")
	if !strings.HasPrefix(tag, `W/"`) {
		t.Fatalf("got %v", first.Header())
	}
	with := func(tag string) func(*http.Request) {
		return func(r *http.Request) { r.Header.Set("If-None-Match", tag) }
	}
	if w := ask(h, "GET", "/api/v1/flows?"+tuesdays, with(`"x", `+tag)); w.Code != 304 || w.Body.Len() != 0 {
		t.Errorf("got %d %s", w.Code, w.Body)
	}
	for _, other := range []string{"&limit=1", "&format=csv"} {
		if w := ask(h, "GET", "/api/v1/flows?"+tuesdays+other, with(tag)); w.Code != 200 {
			t.Errorf("%s: got %d", other, w.Code)
		}
	}
}

func TestHistoryProblems(t *testing.T) {
	h := New(remembered(t))
	for query, want := range map[string]string{ // parameter: detail
		"flows?since=yesterday":             `since: since is "yesterday"`,
		"flows?since=9999-01-01T00:00:00Z":  "until: until is not after since",
		"flows?until=now":                   "since: since is missing, and until is given",
		"flows?since=1h&until=2h":           "until: until is not after since",
		"flows?since=1h&group_by=src,color": `group_by: group_by has "color"`,
		"flows?since=1h&group_by=src,src":   `group_by: group_by has "src"`,
		"flows?since=1h&interval=1ms":       `interval: interval is "1ms"`,
		"flows?since=1000h&interval=1s":     `interval: interval is "1s"`,
		"flows?since=1h&interval=7s":        `interval: interval is "7s"`,
		"flows?since=1h&order=size":         `order: order is "size"`,
		"flows?since=1h&order=":             `order: order is ""`,
		"flows?since=1h&cursor=!":           `cursor: cursor is "!"`,
		"flows?since=1h&cursor=e30":         `cursor: cursor is "e30"`,
		"flows?since=1h&filter=src+%3D":     "filter: filter: ",
		"flows?since=1h&filter=)or(1%3D1":   "filter: filter: ",
		"flows?since=1h&outer_port=1":       `outer_port: unknown parameter "outer_port"`,
		"flows?since=1h&filter=node+%3D+3+and+hop.latency+%3E+50us+and+src+in+10.0.0.0/8": "filter: filter: column 14: flows of a time range have no field hop.latency: ask for hops of the time range, with latency.max",
		"flows?since=1h&filter=exists+hop.queue":                                          "filter: filter: column 8: flows of a time range have no field hop.queue: ask for queues",
		"paths?since=1h&filter=flows+%3E+3":                                               "filter: filter: column 1: paths of a time range have no field flows: ask for flows of the time range",
		"flows/00000000000000ab?since=1h":                                                 "since: this is the flow as it is now; /api/v1/flows/00000000000000ab/paths has what it was in a time range",
		"bursts?since=1h&node=nobody":                                                     `node: node: column 8: no node has the name nobody`,
		"hops?since=1h&node=nobody":                                                       `node: node: column 8: no node has the name nobody`,
		"flows?cursor=x":                                                                  `cursor: cursor is "x"`,
		"flows?group_by=src":                                                              "group_by: group_by is about a time range, which since begins",
		"hops?interval=1m":                                                                "interval: interval is about a time range, which since begins",
		"hosts?since=1h":                                                                  "since: there is no since here: what is answered is of now only",
		"clocks?interval=1m":                                                              "interval: there is no interval here: nothing is counted that could be added up for pieces of a time range",
		"flows?since=1h&order=packets:up":                                                 `order: order is "packets:up"`,
		"flows?since=1h&group_by=&order=src":                                              `order: order is "src"`,
		"events?since=1h&group_by=text":                                                   `group_by: group_by has "text"`,
		"events?since=1h&order=text":                                                      `order: order is "text"`,
		"events?interval=1m":                                                              "interval: interval is about a time range, which since begins",
		"events?group_by=kind&interval=1m":                                                "interval: interval is about a time range, which since begins",
		"bursts?group_by=bytes":                                                           `group_by: group_by has "bytes"`,
		"bursts?since=1h&order=name":                                                      `order: order is "name"`,
		"loss?group_by=lost":                                                              `group_by: group_by has "lost"`,
		"loss?interval=1m":                                                                "interval: there is no interval here",
		"nodes?group_by=node":                                                             "group_by: there is no group_by here",
	} {
		w := ask(h, "GET", "/api/v1/"+query)
		var p types.Problem
		json.Unmarshal(w.Body.Bytes(), &p)
		if got := p.Parameter + ": " + p.Detail; w.Code != 400 || !strings.HasPrefix(got, want) {
			t.Errorf("%s: got %d %s, want %s", query, w.Code, got, want)
		}
	}
	var list types.FlowHistory
	json.Unmarshal(ask(h, "GET", "/api/v1/flows?limit=1&"+tuesdays).Body.Bytes(), &list)
	if w := ask(h, "GET", "/api/v1/flows?since=1h&cursor="+list.Next); w.Code != 400 ||
		!strings.Contains(w.Body.String(), "another question") {
		t.Errorf("a cursor of another question: got %s", w.Body)
	}
	cfg := remembered(t)
	cfg.KeptFine, cfg.KeptMinute = 48*time.Hour, 720*time.Hour
	if w := ask(New(cfg), "GET", "/api/v1/flows?"+tuesdays); w.Code != 400 ||
		!strings.Contains(w.Body.String(), "records by id are kept for 48h0m0s") {
		t.Errorf("flows of tuesday: got %s", w.Body)
	}
	for query, want := range map[string]string{
		"flows?group_by=src,dst_port&":                                  "",
		"flows?group_by=src&filter=src+in+10.0.0.0/8+and+dst_port=443&": "",
		"flows?group_by=src&filter=not+src_port=443&":                   "src_port, by which the filter selects, is kept for 48h0m0s",
		"flows?group_by=src&port=443&":                                  "src_port, by which the filter selects, is kept for 48h0m0s",
		"flows?group_by=src&filter=exists+id&":                          "id, by which the filter selects, is kept for 48h0m0s",
		"drops?filter=addr+=+10.0.0.1&":                                 "dst, by which the filter selects, is kept for 48h0m0s",
		"drops?filter=name+=+s2&":                                       "",
	} {
		w := ask(New(cfg), "GET", "/api/v1/"+query+tuesdays)
		if wrong := w.Code == 400; wrong != (want != "") || wrong && !strings.Contains(w.Body.String(), want) {
			t.Errorf("%s: got %d %s, want %q", query, w.Code, w.Body, want)
		}
	}
	if w := ask(New(testConfig(newFeed().Collector)), "GET", "/api/v1/flows?since=1h"); w.Code != 404 ||
		!strings.Contains(w.Body.String(), "--data DIR") {
		t.Errorf("without a store: got %s", w.Body)
	}
}

// The client gets what the server sent.
func TestHistoryClient(t *testing.T) {
	server := httptest.NewServer(New(remembered(t)))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := client.Query{
		Since: tuesday.Format(time.RFC3339), Until: tuesday.Add(time.Hour).Format(time.RFC3339), Limit: 2,
		GroupBy: "src,protocol,path", Interval: "1m", Order: "packets",
	}
	for page := range 2 {
		list, err := client.Get[client.FlowHistory](t.Context(), c, "flows", q)
		if err != nil {
			t.Fatal(err)
		}
		got, _ := json.Marshal(list)
		query := "&limit=2&group_by=src,protocol,path&interval=1m&order=packets&cursor=" + q.Cursor
		if page == 0 {
			query = strings.TrimSuffix(query, "&cursor=")
		}
		if want := ask(server.Config.Handler, "GET", "/api/v1/flows?"+tuesdays+query).Body.Bytes(); normal(t,
			got) != normal(t, want) {
			t.Errorf("page %d:\ngot  %s\nwant %s", page, got, want)
		}
		q.Cursor = list.Next
	}
}
