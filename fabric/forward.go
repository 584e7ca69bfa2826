package fabric

import "fmt"

// arriveSwitch handles a packet that has come to a switch: telemetry, then the decisions of a router.
func (f *Fabric) arriveSwitch(p *parcel) {
	in := p.in
	n := in.node
	f.stats.Hops++
	if p.hops < maxHops {
		p.path[p.hops] = hop{node: uint16(n.id), in: uint16(in.id)}
	}
	p.hops++
	p.arrived = f.nowNs
	var h headers
	ip := h.parse(p.frame)
	p.state = PacketState{
		Port: in.id, ArrivedNs: f.clockNs(n, f.nowNs), DSCP: h.dscp, Hash: h.hash,
		Protocol: h.protocol, DstPort: h.dstPort,
	}
	if n.watches() {
		p.watched = true
		p.state.Slot = n.slots.get()
		if v := n.device.Arrive(p.frame, &p.state); v.Drop {
			f.drop(p, loss{place: PlaceIngress, reason: v.Reason, node: n})
			return
		}
	}
	switch {
	case !ip:
		f.drop(p, loss{place: PlaceIngress, reason: ReasonUnknown, node: n})
		return
	case h.ttl <= 1:
		f.drop(p, loss{place: PlaceIngress, reason: ReasonTTL, node: n})
		return
	case len(n.denies) > 0 && n.denied(&h, &p.state, p.frame, f.nowNs):
		f.drop(p, loss{place: PlaceIngress, reason: ReasonACLDeny, node: n})
		return
	}
	t := n.table4
	if len(h.dst) == 16 {
		t = n.table6
	}
	r := t.lookup(h.dst)
	if r == nil || len(r.ports) == 0 {
		f.drop(p, loss{place: PlaceIngress, reason: ReasonRoutingMiss, node: n, silent: r != nil && r.silent})
		return
	}
	p.route = r
	f.enqueue(p, r.choose(p.state.Hash, n.seed), n.classes[p.state.DSCP&63])
}

// enqueue puts a packet into a queue of a port, if there is room, and wakes the port if it has nothing to do.
func (f *Fabric) enqueue(p *parcel, out *port, class uint8) {
	n, q := out.node, &out.queues[class]
	p.length, p.class = uint64(len(p.frame)), class
	p.ahead, p.stored = q.bytes, n.used
	if i := p.hops - 1; n.host == nil && i < maxHops {
		p.path[i].out, p.path[i].queue = uint16(out.id), class
	}
	if out.link.down > 0 {
		f.drop(p, atPort(out, PlaceEgress, ReasonPortDown))
		return
	}
	if free := n.buffer - min(n.used, n.buffer); p.length > free || float64(q.bytes) >= n.alpha*float64(free) {
		if q.burst != nil {
			q.burst.Drops++
		}
		f.drop(p, atPort(out, PlaceQueue, ReasonTrafficManager))
		return
	}
	n.used += p.length
	p.enqueued = f.nowNs
	out.waiting++
	q.push(p)
	if f.truth != nil && n.host == nil {
		f.watchQueue(out, q, p)
	}
	switch {
	case out.woken:
	case out.busyNs <= f.nowNs:
		f.transmit(out)
	default:
		out.woken = true
		f.agenda.add(out.busyNs, evPort, out.index)
	}
}

// transmit takes the next packet of a port out of its queue and puts it on the link.
func (f *Fabric) transmit(out *port) {
	for {
		p := out.dequeue()
		if p == nil {
			return
		}
		n := out.node
		n.used -= p.length
		q := &out.queues[p.class]
		if q.burst != nil && q.bytes <= f.burstBelow {
			f.endBurst(q, false)
		}
		// The latency of the pipeline is spent behind the queue. Bits go out in the order of packets, also when it
		// shrinks.
		startNs := max(f.nowNs+n.latencyNs, out.wireNs)
		if n.host == nil && !f.depart(p, out, startNs) {
			f.scratch.departure.Extra, f.scratch.departure.Copies = nil, f.scratch.departure.Copies[:0]
			continue
		}
		f.launch(p, out, startNs)
		f.launchExtra(p, out)
		f.launchCopies(p, n, startNs)
		if out.waiting > 0 {
			out.woken = true
			f.agenda.add(out.busyNs, evPort, out.index)
		}
		return
	}
}

// launch puts the bits of a packet on the link from startNs on.
func (f *Fabric) launch(p *parcel, out *port, startNs int64) {
	serialNs := out.link.serialNs(len(p.frame))
	out.busyNs = max(out.busyNs, f.nowNs) + serialNs
	out.wireNs = startNs + serialNs
	out.meter.add(startNs, uint64(max(len(p.frame)+framing, leastWire)))
	if f.tap != nil {
		if err := f.tap.Frame(out.link.name, out == out.link.a, f.epochNs+uint64(startNs), p.frame); err != nil {
			f.fail(fmt.Errorf("capture of link %s: %w", out.link.name, err))
		}
	}
	p.in, p.cuts = out.peer, out.link.cuts
	f.agenda.add(out.wireNs+out.link.delayNs, evArrive, p.index)
}

// launchExtra puts what a telemetry device sends behind a packet on the link. These packets do not wait in a queue.
func (f *Fabric) launchExtra(p *parcel, out *port) {
	extra := f.scratch.departure.Extra
	f.scratch.departure.Extra = nil
	for _, frame := range extra {
		x := f.copyOf(p, frame)
		if len(x.frame)-ethernetLen > out.link.mtu {
			f.drop(x, atPort(out, PlaceEgress, ReasonMTU))
			continue
		}
		f.launch(x, out, out.wireNs)
	}
}

// launchCopies puts copies on the links of other ports, without waiting in their queues.
func (f *Fabric) launchCopies(p *parcel, n *node, startNs int64) {
	d := &f.scratch.departure
	for i := range d.Copies {
		c := &d.Copies[i]
		out := n.ports[c.Port-1]
		x := f.copyOf(p, c.Frame)
		copy(x.frame[0:6], out.peer.mac[:])
		copy(x.frame[6:12], out.mac[:])
		if x.hops <= maxHops {
			x.path[x.hops-1].out = uint16(out.id)
		}
		if len(x.frame)-ethernetLen > out.link.mtu {
			f.drop(x, atPort(out, PlaceEgress, ReasonMTU))
			continue
		}
		atNs := max(startNs, out.wireNs)
		if x.sampled = p.sampled; x.sampled {
			x.arrived, x.class, x.ahead, x.stored, x.state.Port = p.arrived, p.class, 0, p.stored, p.state.Port
			f.writeHop(x, out, atNs)
		}
		f.launch(x, out, atNs)
	}
	d.Copies = d.Copies[:0]
}

// copyOf makes a packet that a switch sends besides p.
func (f *Fabric) copyOf(p *parcel, frame []byte) *parcel {
	x := f.pool.get()
	f.stats.Copies++
	f.stats.InFlight++
	x.id, x.flow, x.bornNs, x.sampled = f.stats.Sent+f.stats.Copies, p.flow, p.bornNs, false
	x.copied = p.id
	x.hops, x.path = p.hops, p.path
	x.frame = append(x.buffer[:0], frame...)
	x.flow.conversation.live++
	return x
}

// depart makes a packet ready to leave a switch; false if it does not leave. Only here its length is compared with the
// MTU of the link: what telemetry has added on the way is gone again.
func (f *Fabric) depart(p *parcel, out *port, startNs int64) bool {
	rewrite(p.frame, out)
	if p.watched && !f.departDevice(p, out, startNs) {
		return false
	}
	if len(p.frame)-ethernetLen > out.link.mtu {
		f.drop(p, atPort(out, PlaceEgress, ReasonMTU))
		return false
	}
	if p.sampled {
		f.writeHop(p, out, startNs)
	}
	return true
}

// queueLimit returns how long a queue may be while all of them hold used bytes (dynamic thresholds).
func (n *node) queueLimit(used uint64) uint64 {
	return uint64(n.alpha * float64(n.buffer-min(used, n.buffer)))
}

// departDevice shows a packet to the telemetry device of a switch; false if it takes it out.
func (f *Fabric) departDevice(p *parcel, out *port, startNs int64) bool {
	n := out.node
	q := &f.scratch.queued
	*q = Queued{
		Port: out.id, Queue: p.class, QueueBytes: p.ahead, QueueLimit: n.queueLimit(p.stored), BufferBytes: p.stored,
		EnqueuedNs: f.clockNs(n, p.enqueued), DepartedNs: f.clockNs(n, startNs),
		TxBps: out.meter.rate(startNs), Bps: out.link.bps, MTU: out.link.mtu,
	}
	q.Others = p.route.others(out, f.scratch.others[:0])
	for i := range q.Others {
		o := &q.Others[i]
		o.DepartedNs = f.clockNs(n, max(startNs, n.ports[o.Port-1].wireNs))
	}
	f.scratch.others = q.Others
	d := &f.scratch.departure
	d.Frame, d.Extra, d.Copies, d.Discard, d.Reason = p.frame, nil, d.Copies[:0], false, ReasonDiscarded
	d.Reports.reset()
	n.device.Depart(&p.state, q, d)
	p.frame, d.Frame = d.Frame, nil
	f.leave(p, n)
	f.sendReports(n, &d.Reports, p)
	if d.Discard {
		if p.copied != 0 && p.sampled {
			f.writeHop(p, out, startNs)
		}
		f.drop(p, atPort(out, PlaceEgress, d.Reason))
		return false
	}
	return true
}

// leave ends what the telemetry device of a switch remembers of a packet.
func (f *Fabric) leave(p *parcel, n *node) {
	if p.watched {
		p.watched = false
		n.slots.put(p.state.Slot)
	}
}

// arriveLink handles a packet that has come to the end of a link.
func (f *Fabric) arriveLink(p *parcel) {
	l := p.in.link
	switch {
	case p.cuts != l.cuts:
		f.drop(p, atPort(p.in.peer, PlaceLink, ReasonLinkDown))
	case l.gray > 0 && l.random.Float64() < l.gray:
		f.drop(p, atPort(p.in.peer, PlaceLink, ReasonGrayLink))
	case p.in.node.host != nil:
		f.receive(p)
	default:
		f.arriveSwitch(p)
	}
}
