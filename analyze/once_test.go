package analyze

import (
	"fmt"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// hopAt returns a hop of a node that tells its latency.
func hopAt(node uint32, latencyNs uint64) telemetry.Hop {
	return telemetry.Hop{
		Has:    telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasLatency,
		NodeID: node, IngressPort: 1, EgressPort: 2,
		LatencyNs: latencyNs,
	}
}

// stackReport returns a report of a packet with the stack of those hops.
func stackReport(packet uint64, hops ...telemetry.Hop) telemetry.Report {
	return telemetry.Report{
		Flags: telemetry.HasFlow | telemetry.Tracked | telemetry.Embedded,
		Flow:  telemetry.FlowKey{Protocol: 17, DstPort: 53}, PacketID: packet, TTL: 60,
		Bytes: 100, Hops: hops,
	}
}

// cardReport returns a report of one node.
func cardReport(packet uint64, ttl uint8, local telemetry.Hop) telemetry.Report {
	return telemetry.Report{
		Flags: telemetry.HasFlow | telemetry.Tracked, Flow: telemetry.FlowKey{Protocol: 17, DstPort: 53},
		PacketID: packet, TTL: ttl, Bytes: 100, Local: local,
	}
}

// tables gives reports to a shard, a millisecond apart.
func tables(reports ...telemetry.Report) *Collector {
	s := NewShard(DefaultConfig())
	for i := range reports {
		s.Process(&telemetry.Batch{Reports: reports[i:][:1]}, second+int64(i)*1e6)
	}
	endWait(s, second+int64(len(reports))*1e6)
	return &Collector{Owners: []Owner{s}}
}

// A node that tells of its long queue tells of no other packet than the stack that the sink reports, before or after
// it.
func TestQueueReportIsNoPacket(t *testing.T) {
	queued := hopAt(1, 900_000)
	queued.Has |= telemetry.HasQueue
	queued.QueueOccupancy = 40_000
	stack := func(packet uint64) telemetry.Report { return stackReport(packet, hopAt(1, 10_000), hopAt(2, 10_000)) }
	report := cardReport(1, 62, queued)
	report.Flags |= telemetry.Congested
	for name, reports := range map[string][]telemetry.Report{
		"behind": {stack(1), report, stack(2)},
		"before": {report, stack(1), stack(2)},
	} {
		c := tables(reports...)
		flows, _ := c.Flows(FlowFilter{Limit: 1})
		if f := &flows[0]; f.Packets != 2 || f.Bytes != 200 || f.Residence.Max > 21_000 || len(f.Paths) != 1 {
			t.Errorf("%s: got %+v", name, f)
		}
		for _, h := range c.Hops() {
			if h.Packets != 2 || h.LatencyNs.Count != 2 || h.LatencyNs.Mean != 10_000 {
				t.Errorf("%s: node %d: %d packets, latency %+v", name, h.Node, h.Packets, h.LatencyNs)
			}
		}
		if q := c.Queues(); len(q) != 1 || q[0].Depth.Max != 40_000 {
			t.Errorf("%s: queues: %+v", name, q)
		}
	}
}

// A report about a queue needs no packet.
func TestQueueReportWithoutAPacket(t *testing.T) {
	r := cardReport(0, 0,
		telemetry.Hop{
			Has: telemetry.HasNode | telemetry.HasEgressPort | telemetry.HasQueue, NodeID: 4, EgressPort: 3,
			QueueID: 2, QueueOccupancy: 70_000,
		})
	r.Flags = telemetry.Congested
	q := tables(r, r).Queues()
	if len(q) != 1 || q[0].Node != 4 || *q[0].Port != 3 || q[0].Queue != 2 || q[0].Depth.Count != 2 ||
		*q[0].LastDepth != 70_000 {
		t.Errorf("got %+v", q)
	}
}

// Copies and probes are no packets of their flow, and do not change its path.
func TestProbesAreCountedApart(t *testing.T) {
	var stacks, cards []telemetry.Report
	for n := range uint64(3) {
		stacks = append(stacks, stackReport(n, hopAt(1, 10), hopAt(2, 10)))
		probe := stackReport(n, hopAt(1, 10), hopAt(3, 10))
		probe.Flags |= telemetry.Discard
		stacks = append(stacks, probe)
		for node := range uint32(2) {
			card := cardReport(n, uint8(63-node), hopAt(1+node, 10))
			card.Flags |= telemetry.Instructed
			cards = append(cards, card)
			card.Flags |= telemetry.Discard
			card.Local = hopAt(1+2*node, 10)
			cards = append(cards, card)
		}
	}
	for name, reports := range map[string][]telemetry.Report{"stacks": stacks, "postcards": cards} {
		c := tables(reports...)
		flows, _ := c.Flows(FlowFilter{Limit: 1})
		if f := &flows[0]; f.Packets != 3 || f.Probes != 3 || f.Bytes != 300 || f.PathChanges != 0 ||
			len(f.Paths) != 1 || f.Paths[0].Packets != 3 {
			t.Errorf("%s: got %+v", name, f)
		}
		if got := fmt.Sprint(pathsOf(c)); got != "map[1 1>2, 2 1>2:3 1 1>2, 3 1>2:3]" {
			t.Errorf("%s: got %s", name, got)
		}
	}
}

// A copy, which takes another way than its packet, tells nothing of the flow, also if it comes first.
func TestCopyBeforeItsPacket(t *testing.T) {
	copied := stackReport(1, hopAt(1, 7), hopAt(3, 7))
	copied.Flags |= telemetry.Discard | telemetry.Copied
	c := tables(copied, stackReport(1, hopAt(1, 10), hopAt(2, 10)))
	flows, _ := c.Flows(FlowFilter{Limit: 1})
	if f := &flows[0]; f.Packets != 1 || f.Probes != 1 || f.Residence.Count != 1 || f.Residence.Min != 20 ||
		f.PathChanges != 0 || len(f.Paths) != 1 || f.Paths[0].Packets != 1 {
		t.Errorf("got %+v", f)
	}
	if got := fmt.Sprint(pathsOf(c)); got != "map[1 1>2, 2 1>2:1 1 1>2, 3 1>2:1]" {
		t.Errorf("got %s", got)
	}
}

// Packets that look alike are as many as were sent, though a postcard of one may be taken for that of another.
func TestPacketsThatLookAlike(t *testing.T) {
	var reports []telemetry.Report
	for node := range uint32(3) {
		for range 5 {
			reports = append(reports, cardReport(7, uint8(63-node), hopAt(1+node, 10)))
		}
	}
	c := tables(reports...)
	if flows, _ := c.Flows(FlowFilter{Limit: 1}); flows[0].Packets != 5 {
		t.Errorf("got %d packets, want 5", flows[0].Packets)
	}
	for _, h := range c.Hops() {
		if h.Packets > 5 || h.LatencyNs.Count != h.Packets {
			t.Errorf("node %d: %d packets, %d latencies", h.Node, h.Packets, h.LatencyNs.Count)
		}
	}
}

// The hops of packets of which postcards are missing have as many packets as latencies.
func TestHopsOfIncompletePackets(t *testing.T) {
	c := tables(
		cardReport(1, 63, hopAt(1, 10)), cardReport(1, 62, hopAt(2, 10)), cardReport(1, 61, hopAt(3, 10)),
		cardReport(2, 63, hopAt(1, 10)), cardReport(2, 61, hopAt(3, 10)), cardReport(3, 63, hopAt(1, 10)),
	)
	endWait(c.Owners[0], 5*second)
	want := map[uint32]uint64{1: 3, 2: 1, 3: 2}
	for _, h := range c.Hops() {
		if h.Packets != want[h.Node] || h.LatencyNs.Count != h.Packets {
			t.Errorf("node %d: %d packets, %d latencies, want %d", h.Node, h.Packets, h.LatencyNs.Count, want[h.Node])
		}
	}
}

// Datagrams that come twice count once from the first on, though the numbers of their exporter have not shown yet that
// they count.
func TestFirstDatagramsThatComeTwice(t *testing.T) {
	c := codepoint.New()
	if err := c.Set("int_udp_port", test.INTPort); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	p := &pipeline{
		decoder: telemetry.NewDecoder(c), exporters: ledger.NewExporters(10),
		shard: NewShard(DefaultConfig()), headers: make([]telemetry.Header, 1),
	}
	src := netip.MustParseAddrPort("192.0.2.1:1")
	for n := range uint32(20) {
		for range 2 {
			p.batch.Reset()
			p.decoder.Decode(test.Report(test.Form20MD, 1, n, 3), src, 6000, &p.batch, &p.headers[0])
			p.batch.Attribute(p.exporters.Observe(p.headers, second), p.headers)
			p.shard.Process(&p.batch, second)
		}
	}
	flows, _ := (&Collector{Owners: []Owner{p.shard}}).Flows(FlowFilter{Limit: 1})
	if flows[0].Packets != 20 {
		t.Errorf("got %d packets of 20", flows[0].Packets)
	}
}
