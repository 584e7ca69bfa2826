package analyze

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// TestUtilizationOfLinks: each interval of a link has the number, the sum and the highest of the utilizations that
// packets told in it of the port that they left by, in stacks and in reports of one node, over all paths and shards.
// The list of now has those of all time.
func TestUtilizationOfLinks(t *testing.T) {
	type link [2]uint32 // two nodes
	type interval struct {
		link
		startNs int64
	}
	c := &Collector{Owners: []Owner{NewShard(DefaultConfig()), NewShard(DefaultConfig())}}
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC).UnixNano()
	v := NewIntervals(c, nil, now)
	g := rand.New(rand.NewPCG(5, 8))
	want, got := map[interval]telemetry.UtilizationSum{}, map[interval]telemetry.UtilizationSum{}
	all, last := map[link]telemetry.UtilizationSum{}, map[link]uint32{}
	paths := map[uint16][]uint32{} // of flows, by source port
	told := func(from, to, value uint32) {
		one := telemetry.UtilizationSum{Samples: 1, Sum: uint64(value), Max: value}
		k := interval{link{from, to}, now - now%telemetry.FlowIntervalNs}
		sum, total := want[k], all[k.link]
		sum.Merge(&one)
		total.Merge(&one)
		want[k], all[k.link], last[k.link] = sum, total, value
	}
	give := func(batch *telemetry.Intervals) {
		for _, l := range batch.Links {
			if l.Utilization.Samples > 0 {
				k := interval{link{l.From.Node, l.To.Node}, l.StartNs}
				sum := got[k]
				sum.Merge(&l.Utilization)
				got[k] = sum
			}
		}
	}
	process := func(r *telemetry.Report) {
		b := telemetry.Batch{}
		b.Add(r)
		c.Owners[r.Flow.ShardOf(2)].(*Shard).Process(&b, now)
	}
	queueReports := 0
	for range 30_000 {
		now += 1e6 + int64(g.IntN(3e6))
		v.Look(now, give)
		r := newSent().report(g, 40)
		if path := paths[r.Flow.SrcPort]; path != nil && g.IntN(5) == 0 { // one node of the path speaks
			i := g.IntN(len(path))
			r.Hops, r.Flags = nil, telemetry.HasFlow|telemetry.Congested
			r.Local = telemetry.Hop{
				Has: telemetry.HasNode | telemetry.HasTxUtil, NodeID: path[i],
				TxUtil: g.Uint32N(20_000),
			}
			if i+1 < len(path) {
				told(path[i], path[i+1], r.Local.TxUtil)
				queueReports++
			}
			process(r)
			continue
		}
		path := []uint32{}
		for i := range r.Hops {
			h := &r.Hops[i]
			path = append(path, h.NodeID)
			if h.NodeID != 3 && g.IntN(3) > 0 { // node 3 tells nothing, others not always
				h.Has |= telemetry.HasTxUtil
				h.TxUtil = uint32(g.ExpFloat64() * 3000)
			}
			if i > 0 && r.Hops[i-1].Has&telemetry.HasTxUtil != 0 {
				told(path[i-1], path[i], r.Hops[i-1].TxUtil)
			}
		}
		paths[r.Flow.SrcPort] = path
		process(r)
	}
	v.Finish(now, give)
	same(t, "interval", want, got)
	for _, l := range c.Links() {
		k := link{l.From, l.To}
		total, told := all[k]
		switch u := l.Utilization; {
		case !told && u == nil:
		case u == nil || u.Samples != total.Samples || u.Mean != float64(total.Sum)/float64(total.Samples) ||
			u.Max != total.Max || *u.Last != last[k]:
			t.Errorf("link %v: got %+v, want %+v, the last %d", k, u, total, last[k])
		}
	}
	if len(all) < 5 || len(want) < 20 || queueReports < 1000 {
		t.Errorf("%d links, %d intervals, %d reports of one node: this tests little", len(all), len(want), queueReports)
	}
}
