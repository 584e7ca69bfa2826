package api

import (
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
)

// attached returns a configuration whose store has, since tuesday, an hour of a network: node 1 is linked to node 2 all
// the time, and to node 3 but for minutes 10 to 30. Host 10.0.0.1 is at port 9 of node 1, and from minute 20 on at port
// 9 of node 2. Each link carries 6 packets in 10 s, of which the one to node 3 keeps each 1000 ns; three of these tell
// how busy its port is: 10200 plus the minute together, the highest 4000 plus the minute.
func attached(t *testing.T) Config {
	t.Helper()
	c := duckdb.DefaultConfig(t.TempDir())
	c.MinFree = 1 << 20
	s, err := duckdb.Open(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	const ports = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort
	v := &telemetry.Intervals{}
	link := func(at int64, from, fromPort, to, toPort uint32, delay telemetry.Histogram,
		told telemetry.UtilizationSum,
	) {
		v.Links = append(v.Links, telemetry.LinkInterval{
			StartNs: at, From: telemetry.Place{Has: ports, Node: from, EgressPort: fromPort},
			To: telemetry.Place{Has: ports, Node: to, IngressPort: toPort}, Packets: 6,
			Delay: delay, DelayUncertaintyNs: 7, Utilization: told,
		})
	}
	hop := func(at int64, node, in, out uint32, packets uint64, dropped telemetry.Fields) {
		v.Hops = append(v.Hops,
			telemetry.HopInterval{
				StartNs: at,
				Place:   telemetry.Place{Has: ports | dropped, Node: node, IngressPort: in, EgressPort: out},
				Packets: packets,
			})
	}
	thousand := telemetry.Histogram{Count: 6, Sum: 6000, Min: 1000, Max: 1000, Scale: 1, Start: 19, Counts: []uint64{6}}
	for i := range 360 {
		at, minute := tuesday.Add(time.Duration(i)*10*time.Second).UnixNano(), i/6
		link(at, 1, 1, 2, 1, telemetry.Histogram{}, telemetry.UtilizationSum{})
		if minute < 10 || minute >= 30 {
			link(at, 1, 2, 3, 1, thousand,
				telemetry.UtilizationSum{Samples: 3, Sum: 10_200 + uint64(minute), Max: 4000 + uint32(minute)})
		}
		node := uint32(1)
		if minute >= 20 {
			node = 2
		}
		v.Hosts = append(v.Hosts,
			telemetry.HostInterval{
				StartNs: at, Addr: telemetry.AddrFrom(netip.MustParseAddr("10.0.0.1")), Node: node,
				Port: 9, HasPort: true, Packets: 2,
			})
		for second := range int64(10) {
			hop(at+second*1e9, 1, 9, 1, 3, 0)
			hop(at+second*1e9, 1, 9, 1, 1, telemetry.HasDrop)
		}
	}
	if err := s.Write([]*telemetry.Intervals{v}); err != nil {
		t.Fatal(err)
	}
	cfg := testConfig(newFeed().Collector)
	cfg.History, cfg.Between = s.Query, s.Between
	return cfg
}

// TestTopologyAt: a topology of the past has what was there at the moment, with the packets of the minute before it.
func TestTopologyAt(t *testing.T) {
	h := New(attached(t))
	at := func(minute float64) string {
		return tuesday.Add(time.Duration(minute * float64(time.Minute))).Format(time.RFC3339)
	}
	golden(t, "topology_at", ask(h, "GET", "/api/v1/topology?at="+at(5)).Body.Bytes())
	for query, want := range map[string]string{
		"at=" + at(
			5): "links 1.1>2.1:36 1.2>3.1:36/1000/18,3401.3,4004 hosts 1.9:12 nodes 1:240 2:0 3:0 ports 1.1:0+180 1.2:0+0,4004 1.9:240+0 2.1:0+0 3.1:0+0",
		"at=" + at(
			15): "links 1.1>2.1:36 hosts 1.9:12 nodes 1:240 2:0 ports 1.1:0+180 1.9:240+0 2.1:0+0",
		"at=" + at(
			25): "links 1.1>2.1:36 hosts 2.9:12 nodes 1:240 2:0 ports 1.1:0+180 1.9:240+0 2.1:0+0 2.9:0+0",
		"at=" + at(
			30.5): "links 1.1>2.1:36 1.2>3.1:18/1000/9,3410.0,4030 hosts 2.9:12 nodes 1:240 2:0 3:0 ports 1.1:0+180 1.2:0+0,4030 1.9:240+0 2.1:0+0 2.9:0+0 3.1:0+0",
		"since=" + at(5) + "&until=" +
			at(25): "links 1.1>2.1:720 1.2>3.1:180/1000/90,3402.3,4009 hosts 2.9:60 1.9:180 nodes 1:4800 2:0 3:0 ports 1.1:0+3600 1.2:0+0,4009 1.9:4800+0 2.1:0+0 2.9:0+0 3.1:0+0",
		"at=" + at(-60): "links hosts nodes ports",
	} {
		var got types.Topology
		w := ask(h, "GET", "/api/v1/topology?"+query)
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != 200 {
			t.Fatalf("%s: %d, %s", query, w.Code, w.Body)
		}
		if text := topologyText(&got); text != want {
			t.Errorf("%s:\ngot  %s\nwant %s", query, text, want)
		}
	}
	var got types.Topology
	json.Unmarshal(ask(h, "GET", "/api/v1/topology?at="+at(5)).Body.Bytes(), &got)
	if l := got.Links[1]; !l.First.Equal(tuesday) || !l.Last.Equal(tuesday.Add(10*time.Minute)) ||
		l.Delay.NS.Count != 36 || *l.Delay.UncertaintyNs != 7 {
		t.Errorf("the link that failed: %+v", l)
	}
}

func topologyText(t *types.Topology) string {
	text := "links"
	for _, l := range t.Links {
		text += fmt.Sprintf(" %d.%d>%d.%d:%d", l.From, *l.FromPort, l.To, *l.ToPort, l.Packets)
		if l.Delay != nil && l.Delay.NS != nil {
			text += fmt.Sprintf("/%v", l.Delay.NS.Mean)
		}
		if u := l.Utilization; u != nil {
			text += fmt.Sprintf("/%d,%.1f,%d", u.Samples, u.Mean, u.Max)
		}
	}
	text += " hosts"
	for _, host := range t.Hosts {
		for _, p := range host.Places {
			text += fmt.Sprintf(" %d.%d:%d", p.Node, *p.Port, p.Packets)
		}
	}
	text += " nodes"
	for _, n := range t.Nodes {
		text += fmt.Sprintf(" %d:%d", n.ID, n.Packets)
	}
	text += " ports"
	for _, n := range t.Nodes {
		for _, p := range n.Ports {
			text += fmt.Sprintf(" %d.%d:%d+%d", n.ID, p.Port, p.Received, p.Sent)
			if p.Utilization != nil {
				text += fmt.Sprintf(",%d", p.Utilization.Max)
			}
		}
	}
	return text
}

func TestTopologyProblems(t *testing.T) {
	kept, none := New(attached(t)), New(testConfig(newFeed().Collector))
	for _, c := range []struct {
		query     string
		none      bool
		status    int
		parameter string
	}{
		{"at=then", false, 400, "at"},
		{"at=2999-01-01T00:00:00Z", false, 400, "at"},
		{"at=1m&since=2m", false, 400, "at"},
		{"since=1m&until=2m", false, 400, "until"},
		{"until=2m", false, 400, "since"},
		{"at=1m&port=x", false, 400, "port"},
		{"at=1m", true, 404, "at"},
		{"at=then", true, 400, "at"},
	} {
		h := kept
		if c.none {
			h = none
		}
		w := ask(h, "GET", "/api/v1/topology?"+c.query)
		var p types.Problem
		if err := json.Unmarshal(w.Body.Bytes(), &p); err != nil || p.Status != c.status || p.Parameter != c.parameter {
			t.Errorf("%s: %d, %s", c.query, w.Code, w.Body)
		}
	}
}

// TestNodesAt: the lists of nodes, ports and links at a moment are those of its topology, with what the store has of
// latencies.
func TestNodesAt(t *testing.T) {
	h := New(attached(t))
	at := "at=" + tuesday.Add(5*time.Minute).Format(time.RFC3339)
	var topology types.Topology
	json.Unmarshal(ask(h, "GET", "/api/v1/topology?"+at).Body.Bytes(), &topology)
	var nodes types.NodeList
	json.Unmarshal(ask(h, "GET", "/api/v1/nodes?"+at).Body.Bytes(), &nodes)
	var ports types.PortList
	json.Unmarshal(ask(h, "GET", "/api/v1/ports?"+at).Body.Bytes(), &ports)
	var links types.LinkList
	json.Unmarshal(ask(h, "GET", "/api/v1/links?node=s3&"+at).Body.Bytes(), &links)
	if len(nodes.Nodes) != 3 || len(ports.Ports) != 5 || len(links.Links) != 1 || links.Links[0].Packets != 36 {
		t.Fatalf("nodes %+v\nports %+v\nlinks %+v", nodes, ports, links)
	}
	if n := nodes.Nodes[0]; n.Packets != 240 || n.Name != "s1" || fmt.Sprint(n.Ports) != "[1 2 9]" ||
		n.First != topology.Nodes[0].First || n.LatencyNs != nil {
		t.Errorf("node %+v", n)
	}
	if p := ports.Ports[2]; p.Node != 1 || p.Port != 9 || p.Received != 240 || p.Hosts != 1 {
		t.Errorf("port %+v", p)
	}
	if nodes.Since == nil || !nodes.Until.Equal(tuesday.Add(5*time.Minute)) ||
		nodes.Until.Sub(*nodes.Since) != time.Minute || nodes.Completeness != nil {
		t.Errorf("nodes from %v to %v", nodes.Since, nodes.Until)
	}
	without := remembered(t)
	without.Between = nil
	h = New(without)
	var all types.NodeList
	// Without Between there is no past.
	if w := ask(h, "GET", "/api/v1/nodes?"+tuesdays); w.Code != 404 {
		t.Errorf("got %d", w.Code)
	}
	cfg := attached(t)
	cfg.History = remembered(t).History
	json.Unmarshal(ask(New(cfg), "GET", "/api/v1/nodes?"+tuesdays).Body.Bytes(), &all)
	if len(all.Nodes) != 3 {
		t.Fatalf("%+v", all)
	}
	if n := all.Nodes[0]; n.Packets != 450 || n.LatencyNs == nil || n.LatencyNs.Count != 90 || n.LatencyNs.Max != 400 ||
		*n.QueueMax != 29 || n.Drops != 0 {
		t.Errorf("node 1: %+v, %+v", n, n.LatencyNs)
	}
	if n := all.Nodes[1]; n.Drops != 60 {
		t.Errorf("node 2: %+v", n)
	}
}

// What the client returns of the past is what the server sent.
func TestClientTopologyAt(t *testing.T) {
	h := New(attached(t))
	server := httptest.NewServer(h)
	defer server.Close()
	c, err := client.New(server.URL)
	if err != nil {
		t.Fatal(err)
	}
	q := client.Query{At: tuesday.Add(5 * time.Minute).Format(time.RFC3339)}
	for name, get := range map[string]func() (any, error){
		"topology": func() (any, error) { return client.Get[client.Topology](t.Context(), c, "topology", q) },
		"ports":    func() (any, error) { return client.Get[client.PortList](t.Context(), c, "ports", q) },
		"nodes":    func() (any, error) { return client.Get[client.NodeList](t.Context(), c, "nodes", q) },
		"links":    func() (any, error) { return client.Get[client.LinkList](t.Context(), c, "links", q) },
	} {
		got, err := get()
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		text, _ := json.Marshal(got)
		if a, b := normal(t, text), normal(t, ask(h, "GET", "/api/v1/"+name+"?at="+q.At).Body.Bytes()); a != b {
			t.Errorf("%s:\ngot  %s\nwant %s", name, a, b)
		}
	}
}
