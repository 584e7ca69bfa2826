package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// A node with a slow path forwards a packet as it is, and sends its record behind it in a follow-up packet (INT 2016
// §4.2): a copy of the packet with the stack as it came to the node, and the record on top. The stack of the packet
// itself lacks it. Where there are such nodes, stacks wait in the join for the records that belong into them; the
// number of records below one says where.

// slowPathNs is how long after a follow-up packet all stacks of a shard wait for theirs.
const slowPathNs = 60e9

// awaits reports whether a stack that became hops has to wait for records that follow it: there are follow-up packets
// these days, or more routers have taken one from the TTL than have told of themselves. If the source does not tell how
// many there are, hosts begin with 32, 64, 128 or 255; of one that does not stacks wait in vain.
func (s *Shard) awaits(r *telemetry.Report, hops []telemetry.Hop, routers int) bool {
	if len(hops) == 0 || len(hops) >= maxPostcards || r.Is(telemetry.StackCut) {
		return false
	}
	if s.followedNs != 0 && s.lastNs-s.followedNs < slowPathNs {
		return true
	}
	if routers > 0 {
		return routers > len(hops)
	}
	for _, usual := range [...]uint8{32, 64, 128, 255} {
		if r.TTL <= usual {
			return int(usual-r.TTL) > len(hops)
		}
	}
	return false
}

// await keeps the hops of a stack until the records that follow it have come. The TTL of a hop, which those of stacks
// do not have, is its place: odd in the stack of the packet, even between two of them.
func (s *Shard) await(r *telemetry.Report, tag uint32, hops []telemetry.Hop, routers int, nowNs int64) {
	hash := joinHash(r, tag)
	p := s.join.find(r, hash, awaitsFollowUps)
	if p != nil && p.whole { // another packet that looks the same
		s.finish(p, nowNs, false)
		p = nil
	}
	if p == nil {
		p = s.wait(r, hash, awaitsFollowUps, nowNs)
	}
	p.whole, p.bytes, p.routers = true, r.Bytes, uint8(max(routers, 0))
	for i := range hops {
		p.addRecord(&hops[i], 2*i+1)
	}
}

func (p *pending) addRecord(h *telemetry.Hop, place int) {
	if p.n < maxPostcards {
		p.hops[p.n] = *h
		p.hops[p.n].TTL = uint8(place)
		p.n++
	}
}

// followUp takes the record that a follow-up packet brings. It is no packet of the flow.
func (s *Shard) followUp(f *flow, tag uint32, r *telemetry.Report, nowNs int64) {
	s.followedNs = s.lastNs
	if len(r.Hops) == 0 {
		return
	}
	newest := len(r.Hops) - 1
	record := r.Hops[newest]
	record.TTL = uint8(2 * newest)
	hash := joinHash(r, tag)
	p := s.join.find(r, hash, awaitsFollowUps)
	if p == nil {
		if s.join.isLate(hash, &record) {
			s.late(f, &record, nowNs)
			return
		}
		p = s.wait(r, hash, awaitsFollowUps, nowNs) // it may overtake its packet between two sockets
	}
	p.addRecord(&record, 2*newest)
}

// joinedStack adds the path of a packet whose follow-ups have come, or have had the time for it.
func (s *Shard) joinedStack(f *flow, p *pending, nowNs int64) {
	hops := p.hops[:p.n]
	if !p.whole { // nobody knows its packet: the nodes tell of themselves
		for i := range hops {
			s.queueReport(f, &hops[i], nowNs)
		}
		return
	}
	slices.SortStableFunc(hops, func(a, b telemetry.Hop) int { return int(a.TTL) - int(b.TTL) })
	uncertain := false // of two nodes with a slow path, nothing says which comes first
	for i := 1; i < len(hops); i++ {
		uncertain = uncertain || hops[i].TTL == hops[i-1].TTL
	}
	hops, gap := s.spread(hops, int(p.routers))
	s.probe, s.copied = p.probe, p.copied
	same := f.paths[0].used && s.pathOf(&f.paths[0]) != nil && s.pathOf(&f.paths[0]).is(s.routeOf(hops))
	if same || !s.partOfPath(f, hops, nowNs) { // a record is lost
		s.observePath(f, hops, p.bytes, nowNs, uncertain || gap)
	}
	s.probe, s.copied = false, false
}
