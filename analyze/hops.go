package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Hops returns what packets met at each node between two of its ports, over all paths, by node and ports.
func (c *Collector) Hops() []telemetry.NodeHop {
	type gathered struct {
		telemetry.NodeHop
		latency histogram.Histogram
		sample  telemetry.SampleSum
		missing int64
		queue   queueStat
	}
	hops, told := map[topology.HopKey]*gathered{}, c.samples()
	for _, p := range c.mergedPaths() {
		first, last := time.Unix(0, p.first).UTC(), time.Unix(0, p.last).UTC()
		for i := range p.hops {
			at := &p.hops[i]
			if at.Has&telemetry.HasNode == 0 || at.Has&telemetry.HasDrop != 0 {
				continue
			}
			h := hops[at.HopKey]
			if h == nil {
				a := at.HopKey.Answer(c.Names())
				h = &gathered{NodeHop: telemetry.NodeHop{
					Node: at.Node, Name: a.Name, IngressPort: a.IngressPort, EgressPort: a.EgressPort, First: first,
					Last: last,
				}}
				hops[at.HopKey] = h
			}
			h.Packets += p.packets + at.parts
			h.missing += p.missingAt(i)
			told.ofHop(p, i).AddTo(&h.sample, p.packets+at.parts)
			h.latency.Merge(&at.latency)
			h.queue.merge(&at.queue, !last.Before(h.Last))
			if first.Before(h.First) {
				h.First = first
			}
			if last.After(h.Last) {
				h.Last = last
			}
		}
	}
	list := make([]telemetry.NodeHop, 0, len(hops))
	for _, h := range hops {
		h.LatencyNs, h.Queue = h.latency.Distribution(), h.queue.answer(told.unitOf(h.Node))
		h.Sample, h.Incomplete = h.sample.Sample(h.Packets, h.missing), uint64(max(h.missing, 0))
		list = append(list, h.NodeHop)
	}
	slices.SortFunc(list, func(a, b telemetry.NodeHop) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node),
			cmp.Compare(topology.PortOf(a.IngressPort), topology.PortOf(b.IngressPort)),
			cmp.Compare(topology.PortOf(a.EgressPort), topology.PortOf(b.EgressPort)))
	})
	return list
}
