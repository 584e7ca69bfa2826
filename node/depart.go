package node

import "github.com/waybill-int/waybill/node/embed"

// Depart takes a packet as it leaves, with what a router has rewritten since Arrive: TTL and MAC addresses. What leaves
// is in out, which is emptied first. frame is not changed.
func (n *Node) Depart(frame []byte, s *State, e Egress, out *Output) {
	out.reset()
	n.out = out
	out.Frame = frame
	v := &n.visit
	v.state, v.egress, v.edge = s, e, n.isEdge(e.Port)
	if v.egress.MTU == 0 && e.Port > 0 && uint64(e.Port) <= uint64(len(n.spec.Ports)) {
		v.egress.MTU = n.spec.Ports[e.Port-1].MTU
	}
	v.queue = n.observe(&v.egress)
	err := n.parse(frame, &v.packet, s.is(fromOutside))
	n.measure(v)
	switch {
	case err != nil || v.packet.L3 == 0:
		n.queueReport(v, frame)
	case s.is(fromOutside) && v.edge && !v.packet.INT.Present:
		n.count(Turned)
		n.postcard(v, n.unmarked(v))
	case s.is(fromOutside) && !v.edge:
		n.source(v)
	case v.edge:
		n.sink(v)
	default:
		n.transit(v)
	}
	n.out = nil
}

// clean makes sure that a packet that enters the domain without INT does not look like one with it, and returns it.
func (n *Node) clean(v *visit) []byte {
	p := &v.packet
	if !n.marked(p) {
		return p.Frame
	}
	out, _ := n.inside.CleanMark(n.out.buffer[:0], p)
	n.out.set(out)
	n.count(Cleaned)
	return out
}

// refused counts why a packet got less than it was meant to.
func (n *Node) refused(o Outcome, w embed.Why) {
	n.count(o)
	n.stats.Why[min(int(w), len(n.stats.Why)-1)]++
}
