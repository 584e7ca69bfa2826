package analyze

import (
	"math"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// TestIncompletePackets: of 250 packets through nodes 1, 2 and 3 the postcards of node 2 about 53 are lost. Each figure
// that rests on them says so, those of the store as those of now; figures of nodes 1 and 3 have all packets.
func TestIncompletePackets(t *testing.T) {
	const packets, lost = 250, 53
	s := NewShard(DefaultConfig())
	collector := &Collector{Owners: []Owner{s}}
	v := NewIntervals(collector, nil, 0)
	now := second
	for i := range uint32(packets) {
		now += second / 1000
		for node := range uint32(3) {
			if node == 1 && i >= 100 && i < 100+lost {
				continue
			}
			b := telemetry.Batch{}
			b.Add(&telemetry.Report{
				Version: telemetry.Version20, Flags: telemetry.Tracked | telemetry.HasFlow, PacketID: uint64(i + 1),
				Flow: telemetry.FlowKey{Protocol: 17}, TTL: uint8(63 - node), Bytes: 100,
				Local: telemetry.Hop{
					Has: telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasQueue |
						telemetry.HasLatency,
					NodeID: node + 1, IngressPort: 1, EgressPort: 2, LatencyNs: 1000,
				},
			})
			s.Process(&b, now)
		}
	}
	endWait(s, now+second)
	check := func(what string, got *telemetry.Sample, incomplete, want int64) {
		t.Helper()
		if got == nil || incomplete != want ||
			want > 0 && (got.Complete == nil || math.Abs(*got.Complete-197./250) > 1e-6) {
			t.Errorf("%s: %d incomplete, %+v, want %d, and 197 of 250", what, incomplete, got, want)
		}
		if want == 0 && got != nil && got.Complete != nil {
			t.Errorf("%s: %v complete, which nobody knows", what, *got.Complete)
		}
	}
	at := map[uint32]int64{1: 0, 2: lost, 3: 0}
	for _, l := range collector.Links() {
		check("link", l.Sample, int64(l.Incomplete), lost)
		if l.Packets != packets-lost {
			t.Errorf("link: %d packets", l.Packets)
		}
	}
	for _, h := range collector.Hops() {
		check("hop", h.Sample, int64(h.Incomplete), at[h.Node])
	}
	for _, n := range collector.Nodes() {
		check("node", n.Sample, at[n.ID], at[n.ID])
	}
	for _, q := range collector.Queues() {
		check("queue", q.Sample, at[q.Node], at[q.Node])
	}
	flows, _ := collector.Flows(FlowFilter{Limit: 1})
	check("flow", flows[0].Sample, lost, lost)
	for i := range flows[0].Paths[0].Hops {
		h := &flows[0].Paths[0].Hops[i]
		check("hop of the flow", h.Sample, at[*h.Node], at[*h.Node])
	}

	links, hops, queues, kinds := 0, 0, 0, map[string]bool{}
	v.Finish(10*second, func(r *telemetry.Intervals) {
		for i := range r.Paths {
			p := &r.Paths[i]
			check("record of a path", p.Sample.Sample(p.Packets, int64(p.Incomplete)), int64(p.Incomplete), lost)
			kinds["path"] = true
		}
		var flow telemetry.SampleSum // on its path, and in part
		for i := range r.Flows {
			flow.Merge(&r.Flows[i].Sample)
			kinds["flow"] = true
		}
		if len(r.Flows) > 0 {
			check("records of a flow", flow.Sample(packets, 0), lost, lost)
		}
		for i := range r.Links {
			l := &r.Links[i]
			check("record of a link", l.Sample.Sample(l.Packets, int64(l.Incomplete)), int64(l.Incomplete), lost)
			links++
		}
		for i := range r.Hops {
			h := &r.Hops[i]
			check("record of a hop", h.Sample.Sample(h.Packets, h.Incomplete), h.Incomplete, at[h.Node])
			hops++
		}
		for i := range r.Queues {
			q := &r.Queues[i]
			check("record of a queue", q.Sample.Sample(q.Samples, 0), at[q.Node], at[q.Node])
			queues++
		}
	})
	if links != 2 || hops != 3 || queues != 3 || len(kinds) != 2 {
		t.Errorf("%d records of links, %d of hops, %d of queues, %v", links, hops, queues, kinds)
	}
}
