package analyze

import (
	"github.com/waybill-int/waybill/analyze/join"
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
	if len(hops) == 0 || len(hops) >= join.MaxHops || r.Is(telemetry.StackCut) {
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

// await keeps the hops of a stack until the records that follow it have come.
func (s *Shard) await(r *telemetry.Report, tag uint32, hops []telemetry.Hop, routers int, nowNs int64) {
	hash := join.Hash(r.PacketID, tag)
	p := s.join.Find(r, hash, join.FollowUps)
	if p != nil && p.Whole { // another packet that looks the same
		s.finish(p, nowNs, false)
		p = nil
	}
	if p == nil {
		p = s.wait(r, hash, join.FollowUps, nowNs)
	}
	p.Whole, p.Bytes, p.Routers = true, r.Bytes, uint8(max(routers, 0))
	for i := range hops {
		p.AddRecord(&hops[i], 2*i+1)
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
	hash := join.Hash(r.PacketID, tag)
	p := s.join.Find(r, hash, join.FollowUps)
	if p == nil {
		if s.join.IsLate(hash, &record) {
			s.late(f, &record, nowNs)
			return
		}
		p = s.wait(r, hash, join.FollowUps, nowNs) // it may overtake its packet between two sockets
	}
	p.AddRecord(&record, 2*newest)
}

// joinedStack adds the path of a packet whose follow-ups have come, or have had the time for it.
func (s *Shard) joinedStack(f *flow, p *join.Packet, nowNs int64) {
	hops := p.Hops()
	if !p.Whole { // nobody knows its packet: the nodes tell of themselves
		for i := range hops {
			s.queueReport(f, &hops[i], nowNs)
		}
		return
	}
	uncertain := join.OrderByPlace(hops)
	hops, gap := s.spread(hops, int(p.Routers))
	s.probe, s.copied = p.Probe, p.Copied
	same := f.paths[0].used && s.pathOf(&f.paths[0]) != nil && s.pathOf(&f.paths[0]).is(s.routeOf(hops))
	if same || !s.partOfPath(f, hops, nowNs) { // a record is lost
		s.observePath(f, hops, p.Bytes, nowNs, uncertain || gap)
	}
	s.probe, s.copied = false, false
}
