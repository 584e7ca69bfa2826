package node

import (
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/watch"
)

// reasonForeignINT is the drop reason of packets that come from outside with INT: denied by an ACL.
const reasonForeignINT = 60

// Arrive takes a packet as it came from the link, and fills s. It neither changes nor keeps frame.
func (n *Node) Arrive(frame []byte, in Ingress, s *State) Verdict {
	p := &n.visit.packet
	*s = State{inPort: in.Port, arrivedNs: in.TimeNs, mode: n.mode}
	if in.Untimed {
		s.flags = untimed
	}
	n.count(Arrived)
	err := n.inside.Parse(frame, p)
	if n.isEdge(in.Port) {
		n.count(FromEdge)
		if !n.acceptEdge || !p.INT.Present || n.accepts(p) {
			s.flags |= fromOutside
		}
	}
	if err == nil && s.is(fromOutside) && p.INT.Present && !n.accepts(p) {
		if !n.marked(p) {
			n.count(EdgeINT)
			s.flow = p.Flow.Hash()
			return Verdict{Drop: true, Reason: reasonForeignINT}
		}
		err = n.outside.Parse(frame, p)
	}
	if err != nil {
		n.count(Unreadable)
		return Verdict{}
	}
	if p.L3 == 0 {
		return Verdict{}
	}
	n.countIf(p.INT.Nested, Nested)
	n.countIf(p.INT.Conflict, Conflict)
	s.DSCP, s.Hash, s.ttl = n.class(p), balance(p), p.TTL
	if len(frame) >= 12 {
		s.srcMAC = [6]byte(frame[6:12])
	}
	if !p.HasFlow {
		return Verdict{}
	}
	s.flow, s.Protocol, s.DstPort = s.Hash, p.Flow.Protocol, p.Flow.DstPort
	if p.HasOuter {
		s.flow, s.Protocol, s.DstPort = p.Flow.Hash(), p.Outer.Protocol, p.Outer.DstPort
	}
	s.flags |= flowFlags(p)
	if !in.Unwatched {
		n.match(p, s)
	}
	return Verdict{}
}

// match asks the flow watchlist. Whether a packet from inside of the domain gets INT was decided at the source: here
// only INT-XD is decided, and whether events matter.
func (n *Node) match(p *embed.Packet, s *State) {
	k := n.key(p, s.inPort)
	a, ok := n.flows.list.Match(&k)
	if !ok {
		return
	}
	d := &n.flows.demands[a.Entry]
	if a.ReportAll {
		s.flags |= reportAll
	}
	if !s.is(fromOutside) && d.mode != watch.ModeXD {
		return
	}
	if a.Sample > 1 && !n.sampler.Take(a, packetHash(p, s.flow)) {
		n.count(Unsampled)
		s.flags &^= reportAll
		return
	}
	n.count(Watched)
	s.flags |= watched
	s.mode, s.bitmap, s.metadata = d.mode, d.bitmap, n.reported(d.metadata)
	s.traceType = d.traceType
	if len(d.sets) > 0 { // not in turn: flows whose packets come by turns, too, shall have all sets
		n.turns++
		s.bitmap = d.sets[fold(n.turns, n.spec.Seed)%uint64(len(d.sets))]
	}
}
