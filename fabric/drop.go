package fabric

import "github.com/waybill-int/waybill/fabric/truth"

// A loss says where and why a packet is lost.
type loss struct {
	place  Place
	reason Reason
	node   *node // of a link: the one that sent
	out    *port // nil if it was not chosen yet
	silent bool  // the telemetry device is not told
}

// atPort returns the loss of a packet that was to go out at a port. A host has one place only, and its own word for a
// full queue.
func atPort(out *port, place Place, reason Reason) loss {
	if out.node.host != nil && place != PlaceLink {
		place = PlaceHost
		if reason == ReasonTrafficManager {
			reason = ReasonHostQueue
		}
	}
	return loss{place: place, reason: reason, node: out.node, out: out}
}

// drop ends a packet that does not arrive.
func (f *Fabric) drop(p *parcel, l loss) {
	n := l.node
	seen := p.watched && !l.silent
	if seen {
		d := &f.scratch.dropped
		*d = Dropped{Frame: p.frame, Place: l.place, Reason: l.reason, ClockNs: f.clockNs(n, f.nowNs)}
		if l.out != nil {
			d.Port, d.Queue, d.QueueBytes = l.out.id, p.class, p.ahead
		}
		r := &f.scratch.departure.Reports
		r.reset()
		n.device.Drop(&p.state, d, r)
		f.sendReports(n, r, p)
	}
	f.leave(p, n)
	f.stats.Dropped[l.reason]++
	if p.copied == 0 {
		p.flow.dropped++
	}
	if f.truth != nil {
		f.writeDrop(p, l, seen)
	}
	f.end(p)
}

func (f *Fabric) writeDrop(p *parcel, l loss, seen bool) {
	r := &f.scratch.drop
	*r = truth.Drop{
		TimeNs: f.nowNs, Packet: p.id, CopyOf: p.copied, Flow: p.flow.id,
		Place: l.place.String(), Node: l.node.id,
		Reason: l.reason.String(), Code: uint8(l.reason), Seen: seen, Length: len(p.frame),
	}
	switch {
	case l.node.host != nil && l.place == PlaceHost:
		r.Host = l.node.name
	case l.place == PlaceLink:
		r.Link = l.out.link.name
	}
	if l.node.host == nil && p.hops > 0 {
		r.In = uint32(p.path[min(p.hops, maxHops)-1].in)
	}
	if l.out != nil && l.node.host == nil {
		r.Out, r.Queue = l.out.id, p.class
	}
	if l.place == PlaceQueue {
		r.Depth = p.ahead
	}
	f.truth.Write(r)
}

// end takes a packet out of the network.
func (f *Fabric) end(p *parcel) {
	c := p.flow.conversation
	f.stats.InFlight--
	c.live--
	f.pool.put(p)
	f.release(c)
}
