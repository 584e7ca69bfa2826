package analyze

import (
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A pathWindow counts flows on a path since the last scan.
type pathWindow struct {
	flows   uint32 // those with packets on it
	left    uint32 // those that took another path afterwards
	to      uint32 // place of the path that the latest of these took
	through uint32 // if it ends with a drop: flows of which a packet arrived after one that was dropped there
	streams loss.Count
	numbers loss.Count                                   // the same of packets that the source numbered
	hit     struct{ Streams, Numbers *telemetry.Extent } // whom these packets were lost of
}

// meet counts the flow of fp among those with packets on p, once between two scans. It comes before fp.last is set.
func (s *Shard) meet(p *path, fp *flowPath) {
	if fp.last < s.scanNs {
		p.sinceScan.flows++
	}
}

// noteArrival notes that the flow which takes p takes route now: its packets are not all dropped.
func (p *path) noteArrival(route []topology.HopKey) {
	if p.hops[len(p.hops)-1].Has&telemetry.HasDrop != 0 && route[len(route)-1].Has&telemetry.HasDrop == 0 {
		p.sinceScan.through++
	}
}

// seenInPart notes that of a packet of f, which came at seenNs, nothing more is to be heard than postcards of the hops
// from first to last of its path.
func (s *Shard) seenInPart(f *flow, first, last int, seenNs int64) {
	p := s.pathOf(&f.paths[0])
	if first > 0 {
		p.hops[first].part.First++
	}
	if last == len(p.hops)-1 {
		f.vanished = false
		return
	}
	part := &p.hops[last].part
	if part.Last == 0 {
		part.FirstNs = seenNs
	}
	part.Last++
	part.LastNs = seenNs
	s.hits.Add(&part.Hit, &f.key, 1)
	if f.vanished {
		part.Again++
	}
	f.vanished = true
}
