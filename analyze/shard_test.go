package analyze

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/analyze/ledger"
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
	shard, exporters := NewShard(config), ledger.NewExporters(100)
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
	endWait(shard, now)
	collector := &Collector{Owners: []Owner{shard}, Exporters: []*ledger.Exporters{exporters}}
	collector.Configure(Configured{Names: map[uint32]string{1: "s1", 2: "s2", 3: "s3"}})
	return collector
}

// endWait lets the time pass that postcards wait.
func endWait(s Owner, now int64) {
	for range 10 {
		now += second / 10
		s.Tick(now)
	}
}

// A process that stood still does not end the wait for postcards that came meanwhile.
func TestJoinOutlastsStalls(t *testing.T) {
	for _, after := range []string{"tick", "batch"} {
		s := NewShard(DefaultConfig())
		postcard := func(node uint32, ttl uint8, nowNs int64) {
			r := telemetry.Report{
				Flow: telemetry.FlowKey{Protocol: 17, DstPort: 53}, PacketID: 7, TTL: ttl,
				Flags: telemetry.HasFlow | telemetry.Tracked,
			}
			r.Local = telemetry.Hop{NodeID: node, Has: telemetry.HasNode}
			s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, nowNs)
		}
		postcard(1, 63, second)
		if after == "tick" {
			s.Tick(9 * second)
		}
		postcard(2, 62, 9*second)
		endWait(s, 9*second)
		paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10)
		if len(paths) != 1 || len(paths[0].Hops) != 2 {
			t.Errorf("%s: %+v", after, paths)
		}
	}
}

// A packet waits for postcards that are in the socket of a receiver that is behind, but not for ever.
func TestJoinWaitsForReceivers(t *testing.T) {
	for behind, want := range map[int64]string{3: "1 ?>?, 2 ?>?", 9: "1 ?>?"} {
		s := NewShard(DefaultConfig())
		delivered := int64(0)
		s.Delivered = func(nowNs int64) int64 { return delivered }
		postcard := func(node uint32, ttl uint8, nowNs int64) {
			r := telemetry.Report{
				Flow: telemetry.FlowKey{Protocol: 17, DstPort: 53}, PacketID: 7, TTL: ttl,
				Flags: telemetry.HasFlow | telemetry.Tracked,
			}
			r.Local = telemetry.Hop{NodeID: node, Has: telemetry.HasNode}
			s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, nowNs)
		}
		now := 10 * second
		s.Tick(now)
		postcard(1, 63, now)
		for delivered = now; now < (10+behind)*second; now += second / 10 {
			s.Tick(now)
		}
		if behind == 3 {
			postcard(2, 62, now)
		}
		delivered = now + second
		endWait(s, now)
		if got := pathsOf(&Collector{Owners: []Owner{s}}); got[want] != 1 {
			t.Errorf("%d s behind: got %v, want %q", behind, got, want)
		}
		if behind == 9 && s.join.Oldest() != nil {
			t.Error("a packet waits for ever")
		}
	}
}

// Two receivers whose batches take turns, one of them late each time, do not make the time go by.
func TestJoinOutlastsLateBatches(t *testing.T) {
	s := NewShard(DefaultConfig())
	postcard := func(node uint32, ttl uint8, packet uint64, nowNs int64) {
		r := telemetry.Report{
			Flow: telemetry.FlowKey{Protocol: 17, DstPort: 53}, PacketID: packet, TTL: ttl,
			Flags: telemetry.HasFlow | telemetry.Tracked,
		}
		r.Local = telemetry.Hop{NodeID: node, Has: telemetry.HasNode}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, nowNs)
	}
	postcard(1, 63, 7, second)
	for packet := range uint64(10) {
		postcard(1, 63, 100+packet, second)
		postcard(1, 63, 200+packet, second-second/10)
	}
	postcard(2, 62, 7, second)
	if paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10); len(paths) != 0 {
		t.Errorf("a packet waited for no time at all: %+v", paths)
	}
	endWait(s, second)
	if got := pathsOf(&Collector{Owners: []Owner{s}}); got["1 ?>?, 2 ?>?"] != 1 {
		t.Errorf("got %v", got)
	}
	// A clock that is set back goes on from there.
	postcard(1, 63, 8, 10*second)
	s.Tick(5 * second)
	endWait(s, 5*second)
	if s.join.Oldest() != nil {
		t.Error("a packet waits for ever")
	}
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
	if len(links) != 2 || *links[0].FromPort != 2 || *links[0].ToPort != 3 || *links[1].FromPort != 4 ||
		*links[1].ToPort != 5 {
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
					t.Errorf("node %d: latency %d ns of the truth is not in [%d, %d]", *h.Node, latency,
						h.LatencyNs.Min, h.LatencyNs.Max)
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
	want := map[string]uint64{
		"s1 routing_miss": 10, "s2 acl_deny": 10, "s2 routing_miss": 10,
		"s3 egress_next_miss": 10,
	}
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
	collector := Collector{Owners: []Owner{s}}
	flows, total := collector.Flows(FlowFilter{Limit: 100, Order: ByPackets})
	if total != 1000 || s.flows.evicted+s.rejected != 19000+100-1000 {
		t.Errorf("got %d flows, %d evicted and %d not let in", total, s.flows.evicted, s.rejected)
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

// decodeOne feeds one datagram to a shard.
func decodeOne(t *testing.T, s *Shard, c *codepoint.Config, payload []byte, now int64) {
	t.Helper()
	var batch telemetry.Batch
	var h telemetry.Header
	telemetry.NewDecoder(c).Decode(payload, netip.MustParseAddrPort("192.0.2.11:1"), 6000, &batch, &h)
	if h.Outcome != telemetry.Decoded {
		t.Fatalf("outcome %v, reason %v", h.Outcome, h.Reason)
	}
	s.Process(&batch, now)
}

func reportVector(t *testing.T, name string) (payload []byte, c *codepoint.Config) {
	t.Helper()
	v := test.Vectors(t, name)[0]
	if v.StartsAt == "telemetry_report" {
		return v.Bytes, v.Points(t)
	}
	d, ok := test.UDP(v.Bytes)
	if !ok {
		t.Fatal("no UDP payload")
	}
	return d.Payload, v.Points(t)
}

// A sink that tells of itself in the report comes behind the stack; one that is in the stack does not come twice.
func TestSinkMetadataInTheReport(t *testing.T) {
	for name, want := range map[string]string{
		"tr20_embedded_int_md_new_udp": "257 ?>?, 514 ?>?, 771 ?>?",
		"ts_tracked_flow_profile":      "1 ?>?, 2 ?>?, 3 ?>?",
		"tr10_min_int10_udp":           "257 ?>?, 514 ?>?, 771 ?>?",
		"tr05_int05_tcp":               "257 ?>?, 514 ?>?",
	} {
		s := NewShard(DefaultConfig())
		payload, c := reportVector(t, name)
		decodeOne(t, s, c, payload, second)
		paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10)
		if len(paths) != 1 || route(paths[0].Hops) != want {
			t.Errorf("%s: got %+v, want %s", name, paths, want)
		}
	}
}

// The older hops of an intermediate report and the newer ones of the sink's report are one path.
func TestIntermediateReport(t *testing.T) {
	payload, c := reportVector(t, "tr20_intermediate")
	s := NewShard(DefaultConfig())
	decodeOne(t, s, c, payload, second)
	// The sink's report of the same packet: nodes 4 and 5 put their records on the emptied stack.
	sink := append([]byte(nil), payload...)
	sink[3+8] &^= 0x10                 // I
	copy(sink[4:], []byte{0, 0, 0, 5}) // node id of the group header
	stack := 8 + 4 + 20 + 20 + 4 + 12  // group, report, IPv4, TCP, shim, INT-MD
	copy(sink[stack:], []byte{0, 0, 0, 5, 0, 0, 0, 9, 0, 0, 0, 4, 0, 0, 0, 8})
	sink = append(sink[:stack+16:stack+16], sink[stack+24:]...) // two records instead of three
	sink[8+4+20+20+1] -= 2                                      // shim Length
	sink[8+1] -= 2                                              // Report Length
	sink[8+4+3] -= 8                                            // IPv4 Total Length
	decodeOne(t, s, c, sink, second+1000)
	wantPath(t, s, "257 ?>?, 514 ?>?, 771 ?>?, 4 ?>?, 5 ?>?")

	// The record of node 4 had no room in the packet, not even without the stack: then it is in its report.
	s = NewShard(DefaultConfig())
	payload, c = reportVector(t, "tr20_intermediate")
	copy(payload[4:], []byte{0, 0, 0, 4}) // node id of the group header: its record is not in the stack
	decodeOne(t, s, c, payload, second)
	sink = append(sink[:stack+8:stack+8], sink[stack+16:]...) // a record less
	sink[8+4+20+20+1] -= 2
	sink[8+1] -= 2
	sink[8+4+3] -= 8
	decodeOne(t, s, c, sink, second+1000)
	wantPath(t, s, "257 ?>?, 514 ?>?, 771 ?>?, 4 ?>?, 5 ?>?")
}

func wantPath(t *testing.T, s *Shard, want string) {
	t.Helper()
	paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10)
	if len(paths) != 1 || route(paths[0].Hops) != want {
		for _, p := range paths {
			t.Errorf("got %s, want %s", route(p.Hops), want)
		}
	}
}

// A lost postcard leaves a gap that is shown as such.
func TestMissingHopIsNotInvented(t *testing.T) {
	c := codepoint.New()
	c.Compile()
	s := NewShard(DefaultConfig())
	for _, sequence := range []uint32{0, 2} { // nodes 1 and 3 of 3; their TTLs are 63 and 61
		decodeOne(t, s, c, test.Report(test.Form20XD, 7, sequence, 3), second)
	}
	endWait(s, 10*second)
	paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10)
	if want := "1 1>2, missing(1) ?>?, 3 1>2"; len(paths) != 1 || route(paths[0].Hops) != want {
		t.Errorf("got %+v, want %s", paths, want)
	}
	if paths[0].Residence != nil {
		t.Error("the latency of a path with a gap was invented")
	}
}

// A lost postcard does not make a path change; a shorter way does.
func TestPartOfPath(t *testing.T) {
	c := codepoint.New()
	c.Compile()
	s := NewShard(DefaultConfig())
	now := second
	packet := func(n uint32, nodes ...uint32) {
		for _, node := range nodes {
			decodeOne(t, s, c, test.Report(test.Form20XD, 7, 3*n+node-1, 3), now)
		}
		endWait(s, now)
		now += 20 * second
	}
	packet(1, 1, 3) // the first packet seen lacks a postcard
	packet(2, 1, 2, 3)
	packet(3, 1, 2)
	packet(4, 1, 3)
	packet(5, 3)
	packet(6, 1, 2, 3)
	collector := &Collector{Owners: []Owner{s}}
	got := map[string]string{}
	paths, _ := collector.Paths(10)
	for _, p := range paths {
		got[route(p.Hops)] = fmt.Sprint(p.Packets, "+", p.Incomplete)
	}
	want := map[string]string{"1 1>2, missing(1) ?>?, 3 1>2": "1+0", "1 1>2, 2 1>2, 3 1>2": "2+3"}
	if fmt.Sprint(got) != fmt.Sprint(want) {
		t.Errorf("paths: got %v, want %v", got, want)
	}
	flows, _ := collector.Flows(FlowFilter{Limit: 1})
	if flows[0].PathChanges != 0 || flows[0].Packets != 6 {
		t.Errorf("flow: %+v", flows[0])
	}
	// Node 3 directly behind node 1: the TTLs have no gap.
	payload := test.Report(test.Form20XD, 7, 3*7, 3)
	decodeOne(t, s, c, payload, now)
	payload = test.Report(test.Form20XD, 7, 3*7+2, 3)
	const ttl = 8 + 4 + 8 + 28 + 14 + 8 // group, report, metadata, Ethernet, to the TTL of IPv4
	if payload[ttl] != 61 {
		t.Fatalf("the TTL is not where this test looks: %d", payload[ttl])
	}
	payload[ttl] = 62
	decodeOne(t, s, c, payload, now)
	endWait(s, now)
	if flows, _ := collector.Flows(FlowFilter{Limit: 1}); flows[0].PathChanges != 1 ||
		route(flows[0].Paths[0].Hops) != "1 1>2, 3 1>2" {
		t.Errorf("flow: %+v", flows[0])
	}
}

// Packets give way in the order in which they came, and only when all places are taken.
func TestJoinTableIsFull(t *testing.T) {
	config := DefaultConfig()
	config.JoinPlaces = 4
	s := NewShard(config)
	postcard := func(packet uint64, node uint32) {
		r := telemetry.Report{
			Flow: telemetry.FlowKey{Protocol: 17}, PacketID: packet, TTL: uint8(64 - node),
			Flags: telemetry.HasFlow | telemetry.Tracked,
		}
		r.Local = telemetry.Hop{NodeID: node, Has: telemetry.HasNode}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, second)
	}
	for packet := range uint64(4) {
		postcard(packet, 1)
	}
	if n := (&Collector{Owners: []Owner{s}}).Counters().JoinEarly; n != 0 {
		t.Errorf("%d packets gave way although there was room", n)
	}
	postcard(4, 1) // packet 0 gives way
	for packet := range uint64(5) {
		postcard(packet, 2) // packet 0 does not wait again
	}
	c := &Collector{Owners: []Owner{s}}
	if n := c.Counters().JoinEarly; n != 1 {
		t.Errorf("%d packets gave way, want 1", n)
	}
	endWait(s, second)
	if flows, _ := c.Flows(FlowFilter{Limit: 1}); flows[0].Packets != 5 {
		t.Errorf("got %d packets, want 5", flows[0].Packets)
	}
}

// In a loop the last node that the hop limit let write may be the one that drops the packet, some rounds ago.
func TestLoopEndsWhereTheLimitLetIt(t *testing.T) {
	for _, test := range []struct {
		flags telemetry.Flags
		want  string
	}{
		{0, "1 1>2, 2 1>2 dropped"},
		{telemetry.HopLimit, "1 1>2, 2 1>2, ? ?>?, 2 ?>? dropped"},
	} {
		s := NewShard(DefaultConfig())
		r := telemetry.Report{Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded | telemetry.Dropped |
			test.flags, ReportNs: 500}
		for node := range uint32(2) {
			r.Hops = append(r.Hops, telemetry.Hop{
				Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort |
					telemetry.HasIngressTime,
				NodeID: node + 1, IngressPort: 1, EgressPort: 2, IngressNs: uint64(node) * 100,
			})
		}
		r.Local = telemetry.Hop{Has: telemetry.HasNode | telemetry.HasDrop, NodeID: 2}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, second)
		paths, _ := (&Collector{Owners: []Owner{s}}).Paths(10)
		if len(paths) != 1 || route(paths[0].Hops) != test.want {
			t.Errorf("got %s, want %s", route(paths[0].Hops), test.want)
		}
	}
}

// A packet that is dropped on its way did not take another path.
func TestDropIsNoPathChange(t *testing.T) {
	s := NewShard(DefaultConfig())
	packet := func(dropped bool, nodes ...uint32) {
		r := telemetry.Report{Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded}
		for _, node := range nodes {
			r.Hops = append(r.Hops, telemetry.Hop{Has: telemetry.HasNode, NodeID: node})
		}
		if dropped {
			r.Flags |= telemetry.Dropped
			r.Local = telemetry.Hop{Has: telemetry.HasNode | telemetry.HasDrop, NodeID: nodes[len(nodes)-1]}
		}
		s.Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, second)
	}
	want := uint64(0)
	for _, p := range []struct {
		dropped bool
		nodes   []uint32
		changes uint64
	}{
		{true, []uint32{1}, 0},
		{false, []uint32{1, 2, 3}, 0},
		{true, []uint32{1, 2}, 0},
		{true, []uint32{1}, 0},
		{false, []uint32{1, 2, 3}, 0},
		{true, []uint32{1, 4}, 0},
		{false, []uint32{1, 4, 3}, 1}, // the drop in between hides nothing
		{false, []uint32{1, 2, 3}, 1},
	} {
		packet(p.dropped, p.nodes...)
		want += p.changes
		if flows, _ := (&Collector{Owners: []Owner{s}}).Flows(FlowFilter{Limit: 1}); flows[0].PathChanges != want {
			t.Errorf("behind %+v: got %d path changes, want %d", p, flows[0].PathChanges, want)
		}
	}
}
