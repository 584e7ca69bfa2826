package serve

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/netip"
	"net/url"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// Counters of ports that come to sflow:// are in the answers of the API: what a port carries by them, also of a port
// that no packet shows, and its node; what came again counts once. Nothing of it is in figures of packets.
func TestServeCounters(t *testing.T) {
	for _, workers := range []int{1, 2} {
		t.Run(fmt.Sprintf("%d shards", workers), func(t *testing.T) { serveCounters(t, workers) })
	}
}

func serveCounters(t *testing.T, workers int) {
	agent := test.SFlowAgent{Address: netip.MustParseAddr("10.0.0.3")}
	c := DefaultConfig()
	c.Points.SourceNodes = map[netip.Addr]uint32{agent.Address: 3}
	c.Points.Compile()
	c.Names, c.Workers = map[uint32]string{3: "leaf3"}, workers
	c.Listen, c.HTTP = []string{"sflow://127.0.0.1:0"}, "127.0.0.1:0"
	s, err := New(t.Context(), &c, io.Discard)
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(t.Context())
	done := make(chan error)
	go func() { done <- s.Run(ctx) }()
	conn, err := net.Dial("udp", s.Receivers[0].Stats().Address)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	// Two samples of port 5 and one of port 6. Between the first and the second datagram the agent says that 1000
	// seconds passed: far more than the test takes, so that rates are of that time. 1.25 GB in it are 10 Mbit/s, a
	// tenth of the speed.
	agent.UptimeMs = 500_000
	none := test.SFlowCounts{}
	in := test.SFlowCounts{Octets: 1e9, Unicast: 7, Discards: 9, Errors: 1}
	first := agent.Datagram(agent.Counters(5, in, none), agent.Counters(6, none, none))
	agent.UptimeMs += 1_000_000
	in.Octets, in.Unicast, in.Discards = in.Octets+1.25e9, in.Unicast+2_000_000, in.Discards+3
	out := test.SFlowCounts{Octets: 125e6, Unicast: 1_000_000, Errors: 4}
	second := agent.Datagram(agent.Counters(5, in, out))
	unknown := test.SFlowAgent{Address: netip.MustParseAddr("10.0.0.9")} // no node has it
	sent := [][]byte{first, second, second, first, unknown.Datagram(unknown.Counters(5, none, none))}
	for _, payload := range sent {
		if _, err := conn.Write(payload); err != nil {
			t.Fatal(err)
		}
	}
	get := func(path string, into any) {
		t.Helper()
		answer, err := http.Get(s.URL() + path)
		if err != nil {
			t.Fatal(err)
		}
		defer answer.Body.Close()
		text, err := io.ReadAll(answer.Body)
		if err != nil || answer.StatusCode != http.StatusOK {
			t.Fatalf("%s: %s, %v, %s", path, answer.Status, err, text)
		}
		if whole, ok := into.(*string); ok {
			*whole = string(text)
		} else if err := json.Unmarshal(text, into); err != nil {
			t.Fatal(err)
		}
	}
	// The datagrams that come again, and late, have three samples.
	var ports types.PortList
	test.Eventually(t, "all samples are in the table", func() bool {
		get("/api/v1/ports", &ports)
		decoded := uint64(0) // a shard has a receiver
		for _, r := range s.Receivers {
			decoded += r.Stats().Decoded
		}
		return decoded == uint64(len(sent)) && len(ports.Ports) == 2 && ports.Ports[0].Counters.InBPS != nil &&
			s.Collector.Counters().CountersPassedBy == 3
	})
	p := ports.Ports[0]
	got, err := json.Marshal(p.Counters)
	if err != nil {
		t.Fatal(err)
	}
	var members map[string]any
	if err := json.Unmarshal(got, &members); err != nil {
		t.Fatal(err)
	}
	for name, want := range map[string]any{
		"in_bps": 10e6, "out_bps": 1e6, "in_pps": 2000.0, "out_pps": 1000.0, "in_use": 0.1, "out_use": 0.01,
		"in_discards": 3.0, "out_discards": 0.0, "in_errors": 0.0, "out_errors": 4.0, "speed_bps": 100e6, "admin": "up",
		"oper": "up", "interval_ns": 1e12, "restarts": 0.0,
	} {
		if members[name] != want {
			t.Errorf("%s: got %v, want %v", name, members[name], want)
		}
	}
	if p.Node != 3 || p.Name != "leaf3" || p.Port != 5 || p.Speed != 100e6 || p.Received+p.Sent != 0 ||
		p.Utilization != nil || !p.Last.Equal(p.Counters.Last) || p.Counters.Last.Before(p.Counters.First) {
		t.Errorf("got %+v", p)
	}
	if other := ports.Ports[1]; other.Port != 6 || other.Counters.InBPS != nil || *other.Counters.InDiscards != 0 {
		t.Errorf("with one sample: got %+v", other.Counters)
	}
	for filter, want := range map[string]int{
		"counters.in_use > 9%": 1, "counters.in_bps >= 10Mbps": 1, "counters.out_errors > 0": 1,
		"counters.oper = down": 0,
	} {
		var found types.PortList
		get("/api/v1/ports?filter="+url.QueryEscape(filter), &found)
		if len(found.Ports) != want {
			t.Errorf("%s: %d ports, want %d", filter, len(found.Ports), want)
		}
	}
	var nodes struct{ Nodes []telemetry.Node }
	if get("/api/v1/nodes", &nodes); len(nodes.Nodes) != 1 || nodes.Nodes[0].ID != 3 || nodes.Nodes[0].Packets != 0 ||
		fmt.Sprint(nodes.Nodes[0].Ports) != "[5 6]" {
		t.Errorf("got %+v", nodes.Nodes)
	}
	var inventory types.Inventory
	if get("/api/v1/inventory", &inventory); len(inventory.Nodes) != 1 || len(inventory.Nodes[0].Ports) != 2 ||
		inventory.Nodes[0].Ports[0].Speed != 100e6 || inventory.Nodes[0].Ports[0].From["speed_bps"] != "sflow" {
		t.Errorf("got %+v", inventory.Nodes)
	}
	var topology types.Topology // is what packets show
	if get("/api/v1/topology", &topology); len(topology.Nodes) != 0 {
		t.Errorf("got %+v", topology.Nodes)
	}
	var metrics string
	get("/metrics", &metrics)
	for _, want := range []string{
		`waybill_flow_samples_total{outcome="port_counters",protocol="sflow"} 6`,
		`waybill_flow_samples_total{outcome="no_node",protocol="sflow"} 1`,
		"waybill_counted_ports 2", "waybill_counters_unplaced_total 0", "waybill_counters_passed_by_total 3",
		"waybill_reports_total 0",
	} {
		if !strings.Contains(metrics, "\n"+want+"\n") {
			t.Errorf("no line %s", want)
		}
	}
	stop()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
}
