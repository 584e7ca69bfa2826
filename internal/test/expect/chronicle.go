package expect

import (
	"errors"
	"slices"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// A Chronicle is what a collector has to count in each interval of time, of a network with INT-MD that reports every
// packet; in the other modes, the events and bursts that it has to tell. It takes the truth while it is written, as
// fabric.Options.Truth, and keeps what is in the network and the sums, so that runs may be long. It is not for
// concurrent use.
type Chronicle struct {
	options Options
	ticksNs int64 // how often the collector is told the time
	truth   Truth

	epochNs, tickNs int64
	open            map[uint64][]*Report
	identities      []uint64         // of the reports that follow
	postcards       []*waitingPacket // the first waits longest
	waiting         map[waitingKey]*waitingPacket
	told            map[uint64]*waitingPacket // by packet, of those in the network of which all switches tell
	flows           map[uint32]*chronicleFlow
	routes          map[string]*chronicleRoute
	exporters       map[uint32]*exporter

	hops       map[placeSecond]*telemetry.HopInterval
	queues     map[placeSecond]*telemetry.QueueInterval
	links      map[linkTen]*telemetry.LinkInterval
	drops      map[dropTen]uint64
	ledger     map[nodeTen]*telemetry.ExporterInterval
	unreported uint64

	occasions map[subject][]occasion
	watched   map[queueKey]*watchedQueue
	fates     map[uint64]*fate // of packets in the network
	bursts    []*burst

	grayLosses []grayLoss
}

type (
	// A placeSecond is a place, or a queue there, in a second; the others are of ten seconds.
	placeSecond struct {
		startNs int64
		element
		queue uint8
	}
	linkTen struct {
		startNs           int64
		from, out, to, in uint32
	}
	dropTen struct {
		startNs int64
		dropKey
	}
	nodeTen struct {
		startNs int64
		node    uint32
	}
	routeTen struct {
		startNs int64
		route   *chronicleRoute
	}
)

// A chronicleRoute is a way that packets took.
type chronicleRoute struct {
	number uint64
	path
	tens map[int64]*telemetry.PathInterval
}

// A chronicleFlow is a flow of the network. Its endpoints are known when it is over.
type chronicleFlow struct {
	route       *chronicleRoute // of its latest packet
	first, last *chronicleRoute // of the first and the latest packet that arrived
	firstNs     int64
	seenNs      int64 // when the first path of one of its packets was known, and where that came in
	seenAt      uint32
	arrival     arrival
	tens        map[int64]*telemetry.FlowInterval
	on          map[routeTen]uint64 // packets by path
}

// A waitingPacket is one that its first switch told of, with a postcard; nobody else does, if there are stacks.
type waitingPacket struct {
	waitingKey
	bytes  uint64
	sights []sight
	behind bool // the switch where it came in has not told of it, or told later
	part   bool // not all switches that it came to have told of it
	dueNs  int64
	done   bool
}

// A waitingKey is what packets are told apart by: one that was dropped where it came in is none that left.
type waitingKey struct {
	flow     uint32
	identity uint64
	dropped  bool
}

// joinWindowNs is how long a collector waits for further postcards.
const joinWindowNs = 500e6

// NewChronicle returns a Chronicle of what a collector counts that is told the time every tick, and at every report.
func NewChronicle(o Options, tick time.Duration) *Chronicle {
	return &Chronicle{
		options: o, ticksNs: tick.Nanoseconds(),
		truth: Truth{
			Switches: map[uint32]*truth.Switch{}, Flows: map[uint32]*truth.Flow{},
			Packets: map[uint64][]*Visit{}, hostPorts: map[[2]uint32]bool{}, rates: map[[2]uint32]uint64{},
		},
		open: map[uint64][]*Report{}, flows: map[uint32]*chronicleFlow{}, routes: map[string]*chronicleRoute{},
		waiting: map[waitingKey]*waitingPacket{}, told: map[uint64]*waitingPacket{}, exporters: map[uint32]*exporter{},
		hops: map[placeSecond]*telemetry.HopInterval{}, queues: map[placeSecond]*telemetry.QueueInterval{},
		links: map[linkTen]*telemetry.LinkInterval{}, drops: map[dropTen]uint64{},
		ledger:    map[nodeTen]*telemetry.ExporterInterval{},
		occasions: map[subject][]occasion{}, watched: map[queueKey]*watchedQueue{}, fates: map[uint64]*fate{},
	}
}

// Identify says by what a collector can tell the packet of the next report from others of its flow.
func (c *Chronicle) Identify(packet uint64) { c.identities = append(c.identities, packet) }

// Write implements io.Writer. Nobody calls it: a Chronicle takes records.
func (c *Chronicle) Write([]byte) (int, error) { return 0, errors.ErrUnsupported }

// Record implements truth.Recorder.
func (c *Chronicle) Record(record truth.Record) error {
	switch r := record.(type) {
	case *truth.Hop:
		h := *r
		c.visit(&Visit{Packet: h.Packet, Flow: h.Flow, Hop: &h})
	case *truth.Report:
		if r.Packet == 0 {
			return errors.New("a report that is about no packet")
		}
		report := *r
		c.open[r.Packet] = append(c.open[r.Packet], &Report{Report: &report})
	case *truth.Path:
	case *truth.Burst:
		c.burst(r)
	case *truth.Drop:
		d := *r
		if d.Place == "host" || d.Place == "link" {
			if d.Reason == "gray_link" && (d.Length > lengthWithoutData || c.options.Mode != MD) {
				c.grayLosses = append(c.grayLosses, grayLoss{c.epochNs + d.TimeNs, d.Link, d.Flow})
			}
			c.forget(d.Packet)
			return nil
		}
		c.visit(&Visit{Packet: d.Packet, Flow: d.Flow, Drop: &d})
	case *truth.Fault:
		f := *r
		c.truth.take(&f, nil)
	case *truth.Run:
		c.truth.take(r, nil)
		c.epochNs = int64(r.EpochNs)
		c.tickNs = c.epochNs - c.epochNs%c.ticksNs
	default:
		c.truth.take(r, nil)
	}
	return nil
}

// visit takes what a switch did with a packet, and the reports that it sent of it.
func (c *Chronicle) visit(v *Visit) {
	v.Index = len(c.truth.Packets[v.Packet])
	c.truth.Packets[v.Packet] = append(c.truth.Packets[v.Packet], v)
	told := false
	for _, r := range c.open[v.Packet] {
		c.report(r, v)
		told = told || !r.Lost
	}
	c.enqueue(v, told)
	if over := v.Drop != nil || c.truth.IsSink(v); over {
		if len(c.open[v.Packet]) == 0 && (v.Drop == nil || v.Drop.Seen) {
			c.unreported++
		}
		c.forget(v.Packet)
	}
	delete(c.open, v.Packet)
}

// forget forgets a packet that left the network, or was lost there.
func (c *Chronicle) forget(packet uint64) {
	delete(c.truth.Packets, packet)
	delete(c.fates, packet)
	delete(c.told, packet)
}

// report takes a report, at its time. What waits longer than the window is over, as a collector finds when it is told
// the time.
func (c *Chronicle) report(r *Report, v *Visit) {
	nowNs := c.epochNs + r.TimeNs
	c.pass(nowNs)
	c.account(r, nowNs)
	if r.Lost {
		return
	}
	identity := c.identities[0]
	c.identities = c.identities[1:]
	f := c.flow(v.Flow)
	ten := f.ten(nowNs)
	ten.Reports++
	if v.Drop != nil {
		s := c.options.sight(v)
		c.drops[dropTen{startOf(nowNs, telemetry.FlowIntervalNs), dropKey{s.element, v.Drop.Code}}]++
		c.happened(subject{kind: telemetry.EventDropStorm, node: s.node, port: s.out, reason: v.Drop.Code}, nowNs, 1)
	}
	bytes := (&collector{Truth: &c.truth, Options: &c.options}).bytes(v)
	switch {
	case c.options.Mode != MD:
		c.postcard(v, bytes, nowNs)
	case v.Index == 0: // there is no stack yet
		c.wait(&waitingPacket{
			waitingKey: waitingKey{v.Flow, identity, v.Drop != nil}, bytes: bytes, sights: []sight{c.options.sight(v)},
			dueNs: nowNs + joinWindowNs,
		}, nowNs)
	default:
		count(ten, bytes, v.Drop != nil)
		if c.options.MaxHops > 0 && v.Index > c.options.MaxHops {
			last := c.truth.Packets[v.Packet][c.options.MaxHops-1].Hop
			c.happened(subject{kind: telemetry.EventHopLimit, node: last.Node, port: last.Out, toNode: r.Node}, nowNs,
				1)
		}
		var sights []sight
		for i, before := range c.truth.Packets[v.Packet][:v.Index] {
			if c.options.MaxHops == 0 || i < c.options.MaxHops {
				sights = append(sights, c.options.sight(before))
			}
		}
		c.observe(f, append(c.options.behindLimit(sights, v), c.options.sight(v)), nowNs, nowNs)
	}
	c.sweep(nowNs, nowNs)
}

// pass tells the time up to nowNs. What is over when an interval ends belongs to that interval.
func (c *Chronicle) pass(nowNs int64) {
	for ; c.tickNs <= nowNs; c.tickNs += c.ticksNs {
		c.sweep(c.tickNs, c.tickNs-1)
	}
}

// sweep finishes packets that waited long enough, and counts them at a time.
func (c *Chronicle) sweep(nowNs, atNs int64) {
	for len(c.postcards) > 0 && (c.postcards[0].done || c.postcards[0].dueNs <= nowNs) {
		c.finish(c.postcards[0], atNs)
		c.postcards = c.postcards[1:]
	}
}

// wait lets a packet wait. One that looks the same ends the wait of the one before.
func (c *Chronicle) wait(p *waitingPacket, nowNs int64) {
	if o := c.waiting[p.waitingKey]; o != nil {
		c.finish(o, nowNs)
	}
	c.waiting[p.waitingKey] = p
	c.postcards = append(c.postcards, p)
}

// postcard takes the report of one switch, where all of them tell of a packet.
func (c *Chronicle) postcard(v *Visit, bytes uint64, nowNs int64) {
	p := c.told[v.Packet]
	if p == nil {
		p = &waitingPacket{
			waitingKey: waitingKey{flow: v.Flow}, bytes: bytes, behind: v.Index > 0, dueNs: nowNs + joinWindowNs,
		}
		c.told[v.Packet] = p
		c.postcards = append(c.postcards, p)
	}
	p.sights = append(p.sights, c.options.sight(v))
	p.dropped = v.Drop != nil
	p.part = !p.dropped && !c.truth.IsSink(v) || len(p.sights) <= v.Index
}

func (c *Chronicle) finish(p *waitingPacket, atNs int64) {
	if p.done {
		return
	}
	p.done = true
	f := c.flow(p.flow)
	count(f.ten(atNs), p.bytes, p.dropped)
	if c.options.Mode == MD {
		delete(c.waiting, p.waitingKey)
	}
	cameNs := p.dueNs - joinWindowNs
	if p.behind && f.seenNs == 0 { // where it comes from is not known
		f.seenNs = cameNs
	}
	if p.part && f.route != nil {
		if _, ok := f.route.fit(p.sights); ok {
			return
		}
	}
	c.observe(f, p.sights, atNs, cameNs)
}

// saw notes where a packet came into the network, if it is the first of its flow.
func (f *chronicleFlow) saw(first *sight, cameNs int64) {
	if f.seenNs == 0 || cameNs < f.seenNs {
		f.seenNs, f.seenAt = cameNs, first.node
	}
}

// account notes what became of a report. A loss shows with the next report that arrives.
func (c *Chronicle) account(r *Report, nowNs int64) {
	x := c.exporters[r.Node]
	if x == nil {
		x = &exporter{}
		c.exporters[r.Node] = x
	}
	if r.Lost {
		x.pending++
		return
	}
	key := nodeTen{startOf(nowNs, telemetry.FlowIntervalNs), r.Node}
	i := c.ledger[key]
	if i == nil {
		i = &telemetry.ExporterInterval{StartNs: key.startNs, Node: r.Node, HasNode: true}
		c.ledger[key] = i
	}
	i.Received++
	i.Reports++
	if x.received > 0 && x.pending > 0 {
		i.Lost += int64(x.pending)
		c.happened(subject{kind: telemetry.EventReportLoss, node: r.Node}, nowNs, uint64(x.pending))
	}
	x.received++
	x.pending = 0
}

// observe notes that a packet took a path and what it met there. What it shows happened when the first report of it
// came.
func (c *Chronicle) observe(f *chronicleFlow, sights []sight, nowNs, cameNs int64) {
	r := c.route(f, sights)
	f.saw(&sights[0], cameNs)
	c.looped(&r.path, cameNs)
	if again := f.route == r; !again && !r.elements[len(r.elements)-1].dropped() {
		if from, to := f.arrival.turns(&r.path, &sights[0], nowNs); from != nil {
			f.ten(nowNs).PathChanges++
			c.turned(from, to, cameNs)
		}
		if f.arrival.by == &r.path {
			f.last = r
		}
		if f.first == nil && f.last != nil {
			f.first, f.firstNs = r, nowNs
		}
	}
	f.route = r
	if c.options.Mode != MD {
		return // sums are those of a collector
	}
	ten, second := startOf(nowNs, telemetry.FlowIntervalNs), startOf(nowNs, telemetry.HopIntervalNs)
	p := r.tens[ten]
	if p == nil {
		p = &telemetry.PathInterval{StartNs: ten, Path: r.number}
		r.tens[ten] = p
	}
	p.Packets++
	f.on[routeTen{ten, r}]++
	residence, complete := uint64(0), true
	for i := range r.elements {
		s := &sights[i]
		if !s.named() { // behind the hop limit
			complete = false
			continue
		}
		if i > 0 && sights[i-1].named() {
			if b := &sights[i-1]; b.node != s.node || !s.dropped() {
				c.carried(linkTen{ten, b.node, b.out, s.node, s.in}, b)
			}
		}
		c.meet(s, second)
		complete = complete && s.has&telemetry.HasLatency != 0
		residence += s.latency
	}
	if !complete {
		return
	}
	first, last := &sights[0], &sights[len(r.elements)-1]
	k := f.ten(nowNs)
	p.Residence.Count, p.Residence.Sum = p.Residence.Count+1, p.Residence.Sum+residence
	k.Residence.Count, k.Residence.Sum = k.Residence.Count+1, k.Residence.Sum+residence
	const longest = 1 << 40 // ns, 18 minutes
	if d := int64(last.egress - first.ingress); d < int64(residence) || d >= longest {
		p.ClockErrors++
	} else {
		p.EndToEnd.Count, p.EndToEnd.Sum = p.EndToEnd.Count+1, p.EndToEnd.Sum+uint64(d)
		k.EndToEnd.Count, k.EndToEnd.Sum = k.EndToEnd.Count+1, k.EndToEnd.Sum+uint64(d)
	}
}

// carried notes that a packet took a link, and what the switch that it came from told of it.
func (c *Chronicle) carried(k linkTen, from *sight) {
	l := c.links[k]
	if l == nil {
		l = &telemetry.LinkInterval{
			StartNs: k.startNs,
			From:    telemetry.Place{Has: telemetry.HasNode | telemetry.HasEgressPort, Node: k.from, EgressPort: k.out},
			To:      telemetry.Place{Has: telemetry.HasNode | telemetry.HasIngressPort, Node: k.to, IngressPort: k.in},
		}
		c.links[k] = l
	}
	l.Packets++
	if from.has&telemetry.HasTxUtil != 0 {
		use := from.sentBps * 10_000 / c.truth.rates[[2]uint32{k.from, k.out}] // hundredths of a percent
		l.Utilization.Samples++
		l.Utilization.Sum += use
		l.Utilization.Max = max(l.Utilization.Max, uint32(use))
	}
}

// meet notes what a packet met at a switch.
func (c *Chronicle) meet(s *sight, second int64) {
	key := placeSecond{second, s.element, 0}
	h := c.hops[key]
	if h == nil {
		h = &telemetry.HopInterval{StartNs: second, Place: s.element.place()}
		c.hops[key] = h
	}
	h.Packets++
	if s.has&telemetry.HasLatency != 0 {
		h.Latency.Count, h.Latency.Sum = h.Latency.Count+1, h.Latency.Sum+s.latency
	}
	if s.has&telemetry.HasQueue == 0 {
		return
	}
	key.element, key.queue = element{node: s.node, out: s.out, known: telemetry.HasNode | telemetry.HasEgressPort},
		s.queue
	q := c.queues[key]
	if q == nil {
		q = &telemetry.QueueInterval{StartNs: second, Place: key.element.place(), Queue: s.queue}
		c.queues[key] = q
	}
	q.Samples++
	q.Sum += s.depth
	q.Max = max(q.Max, uint32(s.depth))
}

// route returns the way along sights, which is seldom another than that of the packet of the flow before.
func (c *Chronicle) route(f *chronicleFlow, sights []sight) *chronicleRoute {
	list, _ := elements(sights, c.options.Mode != MD)
	if f.route != nil && slices.Equal(f.route.elements, list) {
		return f.route
	}
	p := path{elements: list}
	name := route(p.hops(nil))
	r := c.routes[name]
	if r == nil {
		r = &chronicleRoute{number: uint64(len(c.routes) + 1), path: p, tens: map[int64]*telemetry.PathInterval{}}
		c.routes[name] = r
	}
	return r
}

func (c *Chronicle) flow(number uint32) *chronicleFlow {
	f := c.flows[number]
	if f == nil {
		f = &chronicleFlow{
			tens: map[int64]*telemetry.FlowInterval{}, on: map[routeTen]uint64{},
			arrival: arrival{cards: c.options.Mode != MD},
		}
		c.flows[number] = f
	}
	return f
}

// ten returns the interval of a flow in which a time lies.
func (f *chronicleFlow) ten(nowNs int64) *telemetry.FlowInterval {
	start := startOf(nowNs, telemetry.FlowIntervalNs)
	v := f.tens[start]
	if v == nil {
		v = &telemetry.FlowInterval{StartNs: start}
		f.tens[start] = v
	}
	return v
}

// count adds a packet to the interval v of a flow. That it was dropped counts there too, wherever its report came.
func count(v *telemetry.FlowInterval, bytes uint64, dropped bool) {
	v.Packets++
	v.Bytes += bytes
	if dropped {
		v.Drops++
	}
}

// startOf is the start of the interval in which a time lies.
func startOf(nowNs, lengthNs int64) int64 { return nowNs - nowNs%lengthNs }

// place returns the element as records have it.
func (s *element) place() telemetry.Place {
	return telemetry.Place{Has: s.known, Node: s.node, IngressPort: s.in, EgressPort: s.out}
}
