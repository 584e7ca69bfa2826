package analyze

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

const second = int64(1e9)

// collectorOf feeds the reports of a capture to one shard, a millisecond apart, and ends all waiting.
func collectorOf(t testing.TB, c *codepoint.Config, captures ...string) *Collector {
	t.Helper()
	config := DefaultConfig()
	config.MaxFlows = 1000
	shard, exporters := NewShard(config), NewExporters(100)
	decoder := telemetry.NewDecoder(c)
	now := second
	for _, capture := range captures {
		for _, frame := range test.Packets(t, capture+"_reports.pcap") {
			d, ok := test.UDP(frame)
			if !ok {
				continue
			}
			var batch telemetry.Batch
			var h telemetry.Header
			decoder.Decode(d.Payload, d.Src, d.DstPort, &batch, &h)
			exporters.Observe([]telemetry.Header{h}, now)
			shard.Process(&batch, now)
			now += 1e6
		}
	}
	shard.Tick(now + 10*second)
	return &Collector{Shards: []*Shard{shard}, Exporters: []*Exporters{exporters}, Names: map[uint32]string{1: "s1", 2: "s2", 3: "s3"}}
}

// route spells a path as "s1 1>2 s2 3>4".
func route(hops []telemetry.PathHop) string {
	port := func(p *uint32) string {
		if p == nil {
			return "?"
		}
		return fmt.Sprint(*p)
	}
	var parts []string
	for _, h := range hops {
		name := "?"
		switch {
		case h.Missing > 0:
			name = fmt.Sprintf("missing(%d)", h.Missing)
		case h.Node != nil:
			name = h.Name
			if name == "" {
				name = fmt.Sprint(*h.Node)
			}
		}
		text := fmt.Sprintf("%s %s>%s", name, port(h.IngressPort), port(h.EgressPort))
		if h.Dropped {
			text += " dropped"
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, ", ")
}

func pathsOf(c *Collector) map[string]uint64 {
	m := map[string]uint64{}
	paths, _ := c.Paths(1000)
	for _, p := range paths {
		m[route(p.Hops)] += p.Packets
	}
	return m
}

func checkPaths(t *testing.T, c *Collector, want map[string]uint64) {
	t.Helper()
	got := pathsOf(c)
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("paths:\ngot  %v\nwant %v", got, want)
	}
}

// Postcards of three switches become whole paths, and the latencies on them are those of the postcards.
func TestPostcardsBecomePaths(t *testing.T) {
	c := collectorOf(t, test.Dialect(t, "fabric-tna-bmv2"), "fabric_tna_xd_udp")
	checkPaths(t, c, map[string]uint64{"s1 1>2, s2 3>4, s3 5>6": 40})
	flows, total := c.Flows(FlowFilter{Limit: 10, Order: ByPackets})
	if total != 2 {
		t.Errorf("flows: got %d, want 2", total)
	}
	for _, f := range flows {
		if f.Packets != 20 || f.Reports != 60 || len(f.Paths) != 1 || f.Residence.Count != 20 {
			t.Errorf("flow %v: %+v", f.Endpoints, f)
		}
	}
	links := c.Links()
	if len(links) != 2 || *links[0].FromPort != 2 || *links[0].ToPort != 3 || *links[1].FromPort != 4 || *links[1].ToPort != 5 {
		t.Errorf("links: got %+v", links)
	}
	exporters := c.ExporterList()
	if len(exporters) != 3 {
		t.Fatalf("exporters: got %d, want 3", len(exporters))
	}
	for _, e := range exporters {
		if e.Received != 40 || e.Lost == nil || *e.Lost != 0 || e.Reordered+e.Duplicate+e.Restarted != 0 {
			t.Errorf("exporter: got %+v", e)
		}
	}
}

// Latencies are exact: the truth file quotes the bytes of the postcards.
func TestPostcardLatencies(t *testing.T) {
	c := collectorOf(t, test.Dialect(t, "fabric-tna-bmv2"), "fabric_tna_xd_udp")
	type local struct {
		SwitchID  uint32 `json:"switch_id"`
		EgressTS  uint64 `json:"egress_ts"`
		IngressTS uint64
	}
	var truth struct {
		Samples map[string][]struct {
			Header struct {
				IngressTS uint64 `json:"ingress_ts"`
				Local     *local `json:"local_header"`
			} `json:"report_header"`
		}
	}
	test.Truth(t, "fabric_tna_xd_udp", &truth)
	paths, _ := c.Paths(1)
	checked := 0
	for _, s := range truth.Samples["fabric_tna_xd_udp_reports.pcap"] {
		if s.Header.Local == nil {
			continue
		}
		latency := (s.Header.Local.EgressTS - s.Header.IngressTS) * 1000
		for _, h := range paths[0].Hops {
			if *h.Node == s.Header.Local.SwitchID {
				if latency < h.LatencyNs.Min || latency > h.LatencyNs.Max {
					t.Errorf("node %d: latency %d ns of the truth is not in [%d, %d]", *h.Node, latency, h.LatencyNs.Min, h.LatencyNs.Max)
				}
				checked++
			}
		}
	}
	if checked == 0 {
		t.Error("the truth file has no sample to check with")
	}
}

// A packet that is dropped has a path up to the drop, and the drop has place and reason.
func TestDrops(t *testing.T) {
	c := collectorOf(t, test.Dialect(t, "fabric-tna-bmv2"), "fabric_tna_xd_drop")
	checkPaths(t, c, map[string]uint64{ // 10 packets of each of 4 flows
		"s1 1>2, s2 3>0 dropped":         20,
		"s1 1>2, s2 3>4, s3 5>6 dropped": 10,
		"s1 1>0 dropped":                 10,
	})
	got := map[string]uint64{}
	for _, d := range c.Drops(nil) {
		got[fmt.Sprint(d.Name, " ", d.ReasonName)] += d.Packets
	}
	want := map[string]uint64{"s1 routing_miss": 10, "s2 acl_deny": 10, "s2 routing_miss": 10, "s3 egress_next_miss": 10}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("drops: got %v, want %v", got, want)
	}
	for _, l := range c.Links() {
		if *l.FromPort == 0 {
			t.Errorf("a drop was taken for a link: %+v", l)
		}
	}
}

// Stacks become paths, with ports and, for the dialect, without what the mirrored copy got wrong.
func TestStacksBecomePaths(t *testing.T) {
	c := collectorOf(t, test.Dialect(t, "onos-int10-ver0"), "onos_v10_pathchange")
	checkPaths(t, c, map[string]uint64{"s1 1>2, s2 3>4, s3 5>?": 194, "s1 1>8, s3 8>?": 106})
	flows, _ := c.Flows(FlowFilter{Limit: 10})
	if len(flows) != 2 {
		t.Errorf("got %d flows, want 2", len(flows))
	}
	for _, f := range flows {
		if f.Packets != 150 || f.PathChanges != 2 || len(f.Paths) != 2 || f.Paths[0].Packets+f.Paths[1].Packets != 150 {
			t.Errorf("flow: got %+v", f)
		}
	}
	for _, e := range c.ExporterList() {
		if e.Lost != nil {
			t.Errorf("loss is claimed to be known: %+v", e)
		}
	}
}

func TestFlowTableEvictsWhatWasNotSeenAgain(t *testing.T) {
	config := DefaultConfig()
	config.MaxFlows, config.MaxPaths = 1000, 64
	s := NewShard(config)
	c := codepoint.New()
	if err := c.Set("int_udp_port", test.INTPort); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	d := telemetry.NewDecoder(c)
	src := netip.MustParseAddrPort("192.0.2.1:1")
	send := func(flow, sequence uint32) {
		var batch telemetry.Batch
		var h telemetry.Header
		d.Decode(test.Report(test.Form20MD, flow, sequence, 5), src, 6000, &batch, &h)
		s.Process(&batch, second)
	}
	for flow := range uint32(100) { // real flows: many packets
		send(flow, 0)
		send(flow, 1)
	}
	for flow := uint32(1000); flow < 20000; flow++ { // a flood of flows of one packet
		send(flow, 0)
		if flow%100 == 0 {
			for real := range uint32(100) {
				send(real, flow)
			}
		}
	}
	collector := Collector{Shards: []*Shard{s}}
	flows, total := collector.Flows(FlowFilter{Limit: 100, Order: ByPackets})
	if total != 1000 || s.flows.evicted != 19000+100-1000 {
		t.Errorf("got %d flows and %d evicted", total, s.flows.evicted)
	}
	for _, f := range flows {
		if f.Packets < 100 {
			t.Fatalf("a real flow was evicted: %v has %d packets", f.Endpoints, f.Packets)
		}
	}
	counted := 0
	for i := range s.flows.count {
		f := s.flows.at(i)
		if place, _, ok := s.flows.find(&f.key, s.flows.tagOf(&f.key)); !ok || place != i {
			t.Fatalf("flow %d is not found in the index", i)
		}
		counted++
	}
	if paths, _ := collector.Paths(10); len(paths) != 1 || paths[0].Flows != counted {
		t.Errorf("got %d flows on the path, want %d", paths[0].Flows, counted)
	}
}
