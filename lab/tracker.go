//go:build linux

package lab

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/waybill-int/waybill/fabric"
	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
)

// A tracker makes the truth of captures. Each packet of a flow is seen when it leaves its host, comes to a router,
// leaves it, and comes to the other host; where it is not seen any more, it was lost. What was in the queue of a port
// at a moment follows from who had come to the router and not left by that port yet.
//
// It works some seconds behind, so that all captures have told of a moment, and packets have left their queues.
type tracker struct {
	lab      *Lab
	captures []*capture
	writer   *truth.Writer

	dscp, mask uint8 // that mark INT
	delay      time.Duration

	waiting []sighting          // by time, once they are all there
	live    map[key][]*transit  // packets in the network
	known   map[*flow]struct{}  // that were seen
	lasts   map[*router]lastWay // where packets of flows went to last
	numbers uint64              // of packets
	end     truth.End
	dropped map[fabric.Reason]uint64

	unreadable, unmatched uint64
	lostFrames            uint64
	faults                []*truth.Fault
	told                  int // faults that are written
}

type lastWay map[*flow]*port

// A key is what one packet has in common with itself everywhere. TCP may repeat one.
type key struct {
	flow   *flow
	number uint64
	clone  bool
}

// A transit is a packet in the network.
type transit struct {
	key
	id     uint64
	sentNs int64
	lastNs int64
	left   *port   // whose link it is on; nil: in a router
	inside *router // that it is in
	visits []visit
}

// A visit is one of a packet at a router.
type visit struct {
	in, out     *port
	inNs, outNs int64
	likely      *port // where the packet before it went to; nil: unknown
	ttl         uint8
	length      int
}

// tracked is what a tracker keeps of a flow.
type tracked struct {
	sent, delivered, dropped uint64
	bytes                    uint64 // of payload that came
	live                     int
	lastNs                   int64
	paths                    []*truth.Path
}

// settle is how long captures may take to tell of a packet.
const settle = 700 * time.Millisecond

func newTracker(l *Lab) *tracker {
	t := &tracker{
		lab: l, writer: truth.NewWriter(l.options.Truth), live: map[key][]*transit{}, known: map[*flow]struct{}{},
		lasts: map[*router]lastWay{}, dropped: map[fabric.Reason]uint64{}, delay: time.Second + l.longestQueue(),
	}
	for _, r := range l.routers {
		t.lasts[r] = lastWay{}
	}
	return t
}

// open starts the captures.
func (t *tracker) open() error {
	for _, k := range t.lab.links {
		for _, p := range []*port{k.a, k.b} {
			if err := p.ns().do(func() error {
				c, err := openCapture(p)
				if err == nil {
					t.captures = append(t.captures, c)
				}
				return err
			}); err != nil {
				return err
			}
		}
	}
	return nil
}

// poll takes what the captures have, and works out what is old enough.
func (t *tracker) poll(all bool) {
	l := t.lab
	for _, c := range t.captures {
		c.read(func(ns int64, out bool, front []byte, length int) {
			s := sighting{ns: ns - l.epochNs, port: c.port, out: out}
			if s.parse(front, length, t.dscp, t.mask) {
				t.waiting = append(t.waiting, s)
			} else if len(front) == snapshot {
				t.unreadable++
			}
		})
		t.lostFrames += c.lost()
	}
	now := l.now()
	until := now - int64(settle)
	if all {
		until = now
	}
	l.mu.Lock()
	faults := t.faults[t.told:]
	t.told = len(t.faults)
	l.mu.Unlock()
	for _, f := range faults {
		t.writer.Write(f)
	}
	slices.SortStableFunc(t.waiting, func(a, b sighting) int { return cmp.Compare(a.ns, b.ns) })
	n := 0
	for ; n < len(t.waiting) && t.waiting[n].ns < until; n++ {
		t.see(&t.waiting[n])
	}
	t.waiting = append(t.waiting[:0], t.waiting[n:]...)
	t.resolve(until-int64(t.delay), all)
	for _, r := range l.routers {
		for _, p := range r.ports {
			horizon := until - 2*int64(t.delay)
			if all {
				horizon = now + 1
			}
			p.track.work(t, p, horizon)
		}
	}
	if all {
		for f := range t.known {
			t.writeFlow(f)
		}
		return
	}
	for f := range t.known {
		f.mu.Lock()
		over, endNs := f.over, f.endNs
		f.mu.Unlock()
		if over && f.track.live == 0 && max(f.track.lastNs, endNs) < until-3*int64(t.delay) {
			t.writeFlow(f)
		}
	}
}

// flowOf returns whose packet it is; nil if of none of the lab.
func (t *tracker) flowOf(s *sighting) *flow {
	l := t.lab
	l.mu.Lock()
	defer l.mu.Unlock()
	if !s.tuple.udp {
		return l.tuples[s.tuple]
	}
	f := l.flows[s.flow]
	if f == nil || !f.udp || f.dst != s.tuple.dst && (f.inner == nil || f.dst.Addr() != s.tuple.dst.Addr()) {
		return nil // in VXLAN that gets INT the port changes
	}
	return f
}

// see follows a packet from one interface to the next.
func (t *tracker) see(s *sighting) {
	f := t.flowOf(s)
	if f == nil {
		return
	}
	k := key{f, s.number, s.clone}
	find := func(here func(p *transit) bool) *transit {
		list := t.live[k]
		if i := slices.IndexFunc(list, here); i >= 0 {
			return list[i]
		}
		return nil
	}
	p := s.port
	switch {
	case p.host != nil && s.out: // it begins
		if p.host.address(f.src.Addr().Is6()) != f.src.Addr() {
			return
		}
		t.known[f] = struct{}{}
		f.track.sent++
		t.end.Sent++
		t.add(k, &transit{left: p}, s)
	case p.host != nil: // it arrives
		v := find(func(v *transit) bool { return v.left == p.peer })
		if v == nil {
			t.lose(s)
			return
		}
		t.remove(v)
		if v.clone {
			return
		}
		f.track.delivered++
		f.track.bytes += uint64(s.bytes)
		f.track.lastNs = s.ns
		t.end.Delivered++
		t.pass(v)
	case !s.out: // it comes to a router
		v := find(func(v *transit) bool { return v.left == p.peer })
		if v == nil {
			t.lose(s)
			return
		}
		t.end.Hops++
		v.left, v.inside, v.lastNs = nil, p.router, s.ns
		v.visits = append(v.visits, visit{
			in: p, inNs: s.ns, likely: t.lasts[p.router][f], ttl: s.ttl, length: s.length,
		})
	default: // it leaves one
		v := find(func(v *transit) bool { return v.inside == p.router })
		if v == nil && s.clone {
			t.end.Copies++
			v = t.add(k, &transit{}, s)
			v.visits = append(v.visits, visit{inNs: s.ns, ttl: s.ttl})
		}
		if v == nil {
			t.lose(s)
			return
		}
		at := &v.visits[len(v.visits)-1]
		at.out, at.outNs, at.length = p, s.ns, s.length
		v.left, v.inside, v.lastNs = p, nil, s.ns
		t.lasts[p.router][f] = p
		p.track.add(event{ns: at.inNs, kind: arrives, bytes: at.length, flow: f, packet: v, hop: len(v.visits) - 1})
		p.track.add(event{ns: at.outNs, kind: leaves, bytes: at.length, flow: f})
	}
}

// lose is for a sighting of a packet that was nowhere before: of before the captures began, or a copy.
func (t *tracker) lose(s *sighting) {
	if !s.clone {
		t.unmatched++
	}
}

func (t *tracker) add(k key, v *transit, s *sighting) *transit {
	t.numbers++
	v.key, v.id, v.sentNs, v.lastNs = k, t.numbers, s.ns, s.ns
	if k.flow.udp && !k.clone {
		v.id = k.number // which the payload says
	} else {
		v.id = t.lab.packets.Add(1)
	}
	k.flow.track.live++
	t.live[k] = append(t.live[k], v)
	return v
}

func (t *tracker) remove(v *transit) {
	v.flow.track.live--
	list := slices.DeleteFunc(t.live[v.key], func(o *transit) bool { return o == v })
	if len(list) == 0 {
		delete(t.live, v.key)
	} else {
		t.live[v.key] = list
	}
}

// pass counts the path of a packet that arrived.
func (t *tracker) pass(v *transit) {
	hops := make([]truth.PathHop, len(v.visits))
	for i := range v.visits {
		hops[i] = truth.PathHop{Node: v.visits[i].in.router.Node, In: v.visits[i].in.id, Out: v.visits[i].out.id}
	}
	paths := &v.flow.track.paths
	if n := len(*paths); n == 0 || !slices.Equal((*paths)[n-1].Hops, hops) {
		*paths = append(*paths, &truth.Path{Flow: v.flow.id, FromNs: v.sentNs, Hops: hops})
	}
	last := (*paths)[len(*paths)-1]
	last.Packets++
	last.UntilNs = max(last.UntilNs, v.sentNs)
}

// resolve finds the packets that were not seen since a moment: they are lost, or at the end on their way.
func (t *tracker) resolve(before int64, all bool) {
	var old []*transit
	for _, list := range t.live {
		for _, v := range list {
			if v.lastNs < before {
				old = append(old, v)
			} else if all && !v.clone {
				t.end.InFlight++
			}
		}
	}
	slices.SortFunc(old, func(a, b *transit) int {
		return cmp.Or(cmp.Compare(a.lastNs, b.lastNs), cmp.Compare(a.id, b.id))
	})
	for _, v := range old {
		t.remove(v)
		if v.clone {
			continue // sinks take them out; nobody counts those that were lost
		}
		d := t.blame(v)
		v.flow.track.dropped++
		v.flow.track.lastNs = v.lastNs
		t.dropped[fabric.Reason(d.Code)]++
		t.writer.Write(d)
	}
}

// blame says where and why a packet was lost.
func (t *tracker) blame(v *transit) *truth.Drop {
	d := &truth.Drop{TimeNs: v.lastNs, Packet: v.id, Flow: v.flow.id}
	because := func(place fabric.Place, reason fabric.Reason) *truth.Drop {
		d.Place, d.Reason, d.Code = place.String(), reason.String(), uint8(reason)
		d.Seen = d.Node > 0 && place != fabric.PlaceLink && t.lab.routers[d.Node-1].INT
		return d
	}
	if len(v.visits) > 0 {
		d.Length = v.visits[len(v.visits)-1].length
	}
	down := func(k *link, before time.Duration) bool {
		return t.during(v.lastNs, before, "link_down", func(f *truth.Fault) bool { return f.Link == k.Name })
	}
	if p := v.left; p != nil { // it has left, and did not come
		if p.host != nil {
			d.Host = p.host.Name
		} else {
			d.Node, d.In, d.Out = p.router.Node, v.visits[len(v.visits)-1].in.id, p.id
		}
		mac := ""
		if p.host != nil {
			mac = p.host.MAC
		}
		if to := p.peer.router; to != nil && t.lab.filtered(to, v.flow, mac, v.lastNs) { // captures are behind XDP
			d.Host, d.Node, d.In, d.Out = "", to.Node, p.peer.id, 0
			return because(fabric.PlaceIngress, fabric.ReasonACLDeny)
		}
		d.Link = p.link.Name
		if down(p.link, 0) {
			return because(fabric.PlaceLink, fabric.ReasonLinkDown)
		}
		return because(fabric.PlaceLink, fabric.ReasonGrayLink)
	}
	at := &v.visits[len(v.visits)-1]
	r := at.in.router
	d.Node, d.In = r.Node, at.in.id
	here := func(kind string, is func(s *scenario.Fault) bool) bool {
		return t.during(at.inNs, 0, kind, func(f *truth.Fault) bool {
			return slices.Contains(f.Nodes, r.Node) && is(&t.lab.scenario.Faults[f.Fault])
		})
	}
	switch {
	case at.ttl <= 1:
		return because(fabric.PlaceIngress, fabric.ReasonTTL)
	case here("mitigate", func(s *scenario.Fault) bool { return matches(s.Mitigate, v.flow) }):
		return because(fabric.PlaceIngress, fabric.ReasonACLDeny)
	case here("blackhole", func(s *scenario.Fault) bool { return s.Blackhole.Prefix.Contains(v.flow.dst.Addr()) }):
		return because(fabric.PlaceIngress, fabric.ReasonRoutingMiss)
	case down(at.in.link, 0): // the port that it came by is no more
		return because(fabric.PlaceIngress, fabric.ReasonUnknown)
	}
	t.lab.mu.Lock()
	ports := r.route(v.flow.dst.Addr(), at.inNs)
	t.lab.mu.Unlock()
	out := at.likely
	// Of the first packet of a flow nobody knows the way, and others may have another one since routes were changed.
	if out == nil || !down(out.link, 0) && out.track.depthAt(at.inNs) < out.limit/2 {
		if i := slices.IndexFunc(ports, func(p *port) bool { return down(p.link, 0) }); i >= 0 {
			out = ports[i]
		}
	}
	if out == nil && len(ports) == 1 {
		out = ports[0]
	} else if out == nil {
		out = t.lasts[r][v.flow] // that of the packet behind it
	}
	if out == nil && len(ports) == 0 {
		return because(fabric.PlaceIngress, fabric.ReasonRoutingMiss)
	}
	if out != nil {
		d.Out = out.id
		if down(out.link, t.delay-time.Second) { // what waited for it when it went down, too
			return because(fabric.PlaceEgress, fabric.ReasonPortDown)
		}
		out.track.add(event{ns: at.inNs, kind: lost, flow: v.flow})
	}
	return because(fabric.PlaceQueue, fabric.ReasonTrafficManager)
}

// during says whether a fault was there at a moment, or began within some time behind it.
func (t *tracker) during(ns int64, before time.Duration, kind string, is func(*truth.Fault) bool) bool {
	t.lab.mu.Lock()
	defer t.lab.mu.Unlock()
	since := map[int]int64{}
	for _, f := range t.faults {
		if f.Kind != kind || !is(f) {
			continue
		}
		switch begun, ok := since[f.Fault]; f.Phase {
		case "start":
			since[f.Fault] = f.TimeNs
		case "end":
			if ok && ns >= begun-int64(before) && ns <= f.TimeNs {
				return true
			}
			delete(since, f.Fault)
		}
	}
	for _, begun := range since {
		if ns >= begun-int64(before) {
			return true
		}
	}
	return false
}

func (t *tracker) writeFlow(f *flow) {
	for _, p := range f.track.paths {
		t.writer.Write(p)
	}
	f.mu.Lock()
	protocol, bytes := uint8(6), f.bytes
	if f.udp {
		protocol, bytes = 17, f.track.bytes
	}
	r := &truth.Flow{
		Flow: f.id, Reverse: f.reverse, Traffic: f.label, Src: f.src.Addr().String(), Dst: f.dst.Addr().String(),
		Protocol: protocol, SrcPort: f.src.Port(), DstPort: f.dst.Port(), DSCP: f.dscp, StartNs: f.startNs,
		EndNs: f.endNs, Bytes: bytes, PacketsSent: f.track.sent, PacketsDelivered: f.track.delivered,
		PacketsDropped: f.track.dropped, Retransmitted: f.resent, Finished: f.finished, Inner: f.inner,
	}
	if !f.over {
		r.EndNs = t.lab.now()
	}
	f.mu.Unlock()
	t.writer.Write(r)
	delete(t.known, f)
	for _, ways := range t.lasts {
		delete(ways, f)
	}
	t.lab.forget(f)
}

// close writes what is left, and the totals.
func (t *tracker) close() error {
	if t.writer == nil {
		return nil
	}
	t.poll(true)
	t.end.TimeNs = t.lab.now()
	t.end.Dropped = []truth.Reason{}
	for _, reason := range slices.Sorted(maps.Keys(t.dropped)) {
		t.end.Dropped = append(t.end.Dropped,
			truth.Reason{Reason: reason.String(), Code: uint8(reason), Packets: t.dropped[reason]})
	}
	t.writer.Write(&t.end)
	return t.writer.Flush()
}
