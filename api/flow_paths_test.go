package api

import (
	"encoding/json"
	"errors"
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

// rerouted returns a configuration whose store has one flow since tuesday: 10 intervals on path a, then one on both, 9
// on path b, 10 intervals without packets, 10 on path a again. Each interval has 5 packets on each of its paths, a
// packet waits 100 ns on path a, and 200 on path b. A second flow is on path c all the time.
func rerouted(t *testing.T) (cfg Config, key telemetry.FlowKey) {
	t.Helper()
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	key = telemetry.FlowKey{
		Src: telemetry.AddrFrom(netip.MustParseAddr("10.0.0.1")),
		Dst: telemetry.AddrFrom(netip.MustParseAddr("10.1.0.1")), SrcPort: 1000, DstPort: 443, Protocol: 6,
	}
	other := key
	other.SrcPort = 1001
	const a, b, c3 = 0xa, 0xb, uint64(0xffff_ffff_ffff_fffc)
	place := func(node uint32, has telemetry.Fields) telemetry.PathElement {
		return telemetry.PathElement{
			Place: telemetry.Place{
				Has:  has | telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort,
				Node: node, IngressPort: 1, EgressPort: 2,
			},
		}
	}
	v := &telemetry.Intervals{Routes: []telemetry.Route{
		{StartNs: tuesday.UnixNano(), Path: a, Elements: []telemetry.PathElement{
			place(1, 0), {Missing: 2}, place(2, 0),
		}},
		{
			StartNs: tuesday.UnixNano(), Path: b,
			Elements: []telemetry.PathElement{
				place(1, 0),
				{Place: telemetry.Place{Has: telemetry.HasNode, Node: 3}},
				place(2, telemetry.HasDrop),
			},
		},
	}}
	at := func(i int, key telemetry.FlowKey, path uint64, ns uint64) {
		v.Flows = append(v.Flows, telemetry.FlowInterval{
			StartNs: tuesday.Add(time.Duration(i) * 10 * time.Second).UnixNano(), Key: key, Path: path, Packets: 5,
			Bytes: 500, Drops: 1,
			Residence: telemetry.LatencySummary{Count: 5, Sum: 5 * ns, Min: ns - uint64(i), Max: ns + uint64(i)},
		})
	}
	for i := range 40 {
		at(i, other, c3, 300)
		switch {
		case i < 11 || i >= 30:
			at(i, key, a, 100)
		}
		if i >= 10 && i < 20 {
			at(i, key, b, 200)
		}
	}
	if err := s.Write([]*telemetry.Intervals{v}); err != nil {
		t.Fatal(err)
	}
	cfg = testConfig(newFeed().Collector)
	cfg.History = s.Query
	return cfg, key
}

// flowPathList asks for the paths of a flow.
func flowPathList(t *testing.T, h http.Handler, id, query string) types.FlowPathList {
	t.Helper()
	var list types.FlowPathList
	w := ask(h, "GET", "/api/v1/flows/"+id+"/paths?"+query)
	if err := json.Unmarshal(w.Body.Bytes(), &list); err != nil || w.Code != 200 {
		t.Fatalf("%s: %d, %s", query, w.Code, w.Body)
	}
	return list
}

// spansText is "a 0-110 packets 55 mean 100" for each span, times in seconds since tuesday.
func spansText(list types.FlowPathList) string {
	var texts []string
	for _, s := range list.Paths {
		text := fmt.Sprintf("%s %v-%v packets %d", strings.TrimLeft(s.ID, "0"), s.Start.Sub(tuesday).Seconds(),
			s.End.Sub(tuesday).Seconds(), s.Packets)
		if s.Residence != nil {
			text += fmt.Sprintf(" %d/%d/%d", *s.ResidenceMin, *s.Residence, *s.ResidenceMax)
		}
		texts = append(texts, text)
	}
	return strings.Join(texts, ", ")
}

// TestFlowPaths: each path is there from when to when the flow took it, in the order of time.
func TestFlowPaths(t *testing.T) {
	cfg, key := rerouted(t)
	h := New(cfg)
	id := flowID(&key)
	golden(t, "flowpaths", ask(h, "GET", "/api/v1/flows/"+id+"/paths?"+tuesdays).Body.Bytes())
	clock := func(seconds int) string {
		return tuesday.Add(time.Duration(seconds) * time.Second).Format(time.RFC3339)
	}
	for query, want := range map[string]string{
		tuesdays: "a 0-110 packets 55 90/100/110, b 100-200 packets 50 181/200/219, a 300-400 packets 50 61/100/139",
		"since=" + clock(90) + "&until=" +
			clock(310): "a 90-110 packets 10 90/100/110, b 100-200 packets 50 181/200/219, a 300-310 packets 5 70/100/130",
		"since=" + clock(0) + "&until=" + clock(100):   "a 0-100 packets 50 91/100/109",
		"since=" + clock(200) + "&until=" + clock(300): "",
		tuesdays +
			"&interval=200s": "a 0-200 packets 55 90/100/110, b 0-200 packets 50 181/200/219, a 200-400 packets 50 61/100/139",
		"since=" + clock(80) + "&until=" + clock(120) +
			"&interval=10s": "a 80-90 packets 5 92/100/108, a 90-100 packets 5 91/100/109, a 100-110 packets 5 90/100/110, b 100-110 packets 5 190/200/210, b 110-120 packets 5 189/200/211",
		tuesdays + "&limit=1": "a 0-110 packets 55 90/100/110",
	} {
		list := flowPathList(t, h, id, query)
		if got := spansText(list); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, got, want)
		}
		if len(list.Paths) > 0 && (list.Flow == nil || *list.Flow != telemetry.EndpointsOf(&key)) {
			t.Errorf("%s: flow %+v", query, list.Flow)
		}
	}
	other := key
	other.SrcPort = 1001
	list := flowPathList(t, h, flowID(&other), tuesdays)
	if got := spansText(list); got != "fffffffffffffffc 0-400 packets 200 261/300/339" || list.Paths[0].Hops == nil ||
		len(list.Paths[0].Hops) != 0 {
		t.Errorf("a path whose hops nobody knows: %s", got)
	}
	if list := flowPathList(t, h, "0000000000000000", tuesdays); list.Flow != nil || len(list.Paths) != 0 {
		t.Errorf("no flow: %+v", list)
	}
}

// TestFlowPathsNow: without a store, the tables say what they remember, also of the flow itself.
func TestFlowPathsNow(t *testing.T) {
	h := New(testConfig(captured(t)))
	var flows types.FlowList
	if err := json.Unmarshal(ask(h, "GET", "/api/v1/flows").Body.Bytes(), &flows); err != nil || len(flows.Flows) < 5 {
		t.Fatal(len(flows.Flows), err)
	}
	for _, want := range flows.Flows {
		var got types.FlowAnswer
		if err := json.Unmarshal(ask(h, "GET", "/api/v1/flows/"+want.ID).Body.Bytes(), &got); err != nil {
			t.Fatal(err)
		}
		a, _ := json.Marshal(got.Flow)
		b, _ := json.Marshal(want)
		if string(a) != string(b) {
			t.Errorf("got  %s\nwant %s", a, b)
		}
		list := flowPathList(t, h, want.ID, "")
		if len(list.Paths) != len(want.Paths) || list.Flow == nil || *list.Flow != want.Endpoints &&
			list.Flow.Tunnel == "" {
			t.Fatalf("%s: %+v", want.ID, list)
		}
		for i, span := range list.Paths {
			path := want.Paths[len(want.Paths)-1-i]
			if span.ID != path.ID || span.Packets != path.Packets || !span.Start.Equal(path.First) ||
				len(span.Hops) != len(path.Hops) {
				t.Errorf("%s: got %+v, want %+v", want.ID, span, path)
			}
		}
		if list := flowPathList(t, h, want.ID, "since=2s"); len(list.Paths) != 0 {
			t.Errorf("%s, a minute later: %+v", want.ID, list.Paths)
		}
	}
}

func TestFlowProblems(t *testing.T) {
	cfg, _ := rerouted(t)
	h := New(cfg)
	for target, want := range map[string]struct {
		status    int
		parameter string
	}{
		"1":                                       {400, "id"},
		"":                                        {404, ""},
		"zzzzzzzzzzzzzzzz":                        {400, "id"},
		"0000000000000001/":                       {404, ""},
		"0000000000000001/hops":                   {404, ""},
		"0000000000000001":                        {404, ""},
		"0000000000000001?x=1":                    {400, "x"},
		"0000000000000001/paths?x=1":              {400, "x"},
		"0000000000000001/paths?since=x":          {400, "since"},
		"0000000000000001/paths?since=25h":        {400, "since"},
		"0000000000000001/paths?until=1m":         {400, "since"},
		"0000000000000001/paths?interval=15s":     {400, "interval"},
		"0000000000000001/paths?interval=0s":      {400, "interval"},
		"0000000000000001/paths?interval=x":       {400, "interval"},
		"0000000000000001/paths?since=1h&limit=0": {400, "limit"},
	} {
		h := h
		if strings.Contains(target, "since=25h") {
			kept := cfg
			kept.KeptFine = 24 * time.Hour
			h = New(kept)
		}
		w := ask(h, "GET", "/api/v1/flows/"+target)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != want.status ||
			p.Parameter != want.parameter {
			t.Errorf("%s: %d, %s", target, w.Code, w.Body)
		}
	}
}

// What the client returns is what the server sent.
func TestClientFlowPaths(t *testing.T) {
	cfg, key := rerouted(t)
	server := httptest.NewServer(New(cfg))
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := client.Query{Since: tuesday.Format(time.RFC3339), Until: tuesday.Add(time.Hour).Format(time.RFC3339)}
	list, err := client.Get[client.FlowPathList](t.Context(), c, "flows/"+flowID(&key)+"/paths", q)
	if err != nil {
		t.Fatal(err)
	}
	text, _ := json.Marshal(list)
	if a, b := normal(t, text),
		normal(t, ask(New(cfg), "GET", "/api/v1/flows/"+flowID(&key)+"/paths?"+tuesdays).Body.Bytes()); a != b {
		t.Errorf("got  %s\nwant %s", a, b)
	}
	var p *types.Problem
	if _, err := client.Item[client.FlowAnswer](t.Context(), c, "flows", flowID(&key)); !errors.As(err, &p) ||
		p.Status != 404 {
		t.Errorf("a flow of the past: %v", err)
	}
}

// An interval that ended while the first packet of a flow waited for its postcards tells of no path.
func TestFlowPathsBeforeTheFirst(t *testing.T) {
	runs := pathRuns{step: time.Second, running: map[uint64]int{}}
	add := func(second int64, path *types.PathID, packets, drops uint64) {
		at, bytes := time.Unix(second, 0), 100*packets
		runs.add(&flowPathRow{Start: &at, Path: path, Packets: &packets, Bytes: &bytes, Drops: &drops})
	}
	a := types.PathID(7)
	add(1, nil, 0, 0)
	add(2, &a, 3, 0)
	add(3, nil, 0, 1)
	if spans := runs.spans(); len(spans) != 2 || spans[0].Packets != 3 || *spans[1].Drops != 1 {
		t.Errorf("got %+v", spans)
	}
}
