package expect

import (
	"github.com/waybill-int/waybill/telemetry"
)

// A collector does with the truth what a collector does with reports.
type collector struct {
	*Truth
	*Options
	names map[uint32]string

	flows map[string]*flow // by endpoints
	order []*flow
	paths map[string]*path // by route

	waiting map[postcardKey][]*packet
	queue   []*packet // that wait, in the order of their first postcards

	drops     map[dropKey]*telemetry.Drop
	exporters map[uint32]*exporter
}

// Answers returns what a collector answers that got all reports but the lost ones, in the order of sending.
func (t *Truth) Answers(o Options) *Answers {
	c := &collector{
		Truth: t, Options: &o, names: map[uint32]string{}, flows: map[string]*flow{}, paths: map[string]*path{},
		waiting: map[postcardKey][]*packet{}, drops: map[dropKey]*telemetry.Drop{}, exporters: map[uint32]*exporter{},
	}
	for id, s := range t.Switches {
		c.names[id] = s.Name
	}
	arrived := 0
	for _, r := range t.Reports {
		c.account(r)
		if r.Lost {
			continue
		}
		if r.CopyOf != 0 {
			c.takeCopy(r)
		} else if r.Visit != nil {
			identity := r.Packet
			if o.Identity != nil {
				identity = o.Identity[arrived]
			}
			c.take(r.Visit, identity)
		}
		arrived++
	}
	for _, p := range c.queue {
		c.finish(p)
	}
	return c.answers()
}

// flow returns the flow of that number.
func (c *collector) flow(number uint32) *flow {
	record := c.Flows[number]
	e, outer := endpoints(record)
	name := endpointsName(&e)
	f := c.flows[name]
	if f == nil {
		f = &flow{
			Endpoints: e, outer: outer, dscp: record.DSCP, taken: map[*path]uint64{},
			arrival: arrival{cards: c.Mode != MD},
		}
		c.flows[name] = f
		c.order = append(c.order, f)
	}
	return f
}

// take takes the report that was sent in a visit.
func (c *collector) take(v *Visit, identity uint64) {
	f := c.flow(v.Flow)
	f.reports++
	if v.Drop != nil {
		f.drops++
		c.drop(v, f)
	}
	if c.Mode != MD || v.Index == 0 { // there is no stack yet
		f.postcards = true
		c.postcard(f, v, identity)
		return
	}
	f.stacks = true
	f.packets++
	f.bytes += c.bytes(v)
	var sights []sight
	for i, before := range c.Packets[v.Packet][:v.Index] {
		if (c.MaxHops == 0 || i < c.MaxHops) && c.Switches[before.Node()].INT {
			sights = append(sights, c.sight(before))
		}
	}
	c.observe(f, append(c.behindLimit(sights, v), c.sight(v)), c.FirstTTL)
}

// takeCopy takes the report of a sink about a packet that a switch made. A follow-up has a record that its packet
// lacks. A copy has the way that it took, and is no packet of its flow.
func (c *collector) takeCopy(r *Report) {
	f := c.flow(r.Flow)
	f.reports++
	visits := c.Copies[r.Packet]
	if len(visits) < 2 { // nothing but its end: a follow-up
		return
	}
	f.probes++
	var sights []sight
	for _, before := range c.Packets[r.CopyOf][:visits[0].Hop.Hop] {
		sights = append(sights, c.sight(before))
	}
	for i, v := range visits {
		if v.Drop != nil { // the sink has taken it out
			break
		}
		s := c.sight(v)
		if i == 0 { // nobody has looked at the queue
			s.has &^= telemetry.HasQueue
		}
		sights = append(sights, s)
	}
	list, by := elements(sights, false)
	p := c.path(list)
	p.packets++
	for i, s := range by {
		p.meters[i].add(s)
	}
}

// bytes returns the length of the IP packet of a visit, without what INT had added to it.
func (c *collector) bytes(v *Visit) uint64 {
	const ethernet = 14
	if c.IsSink(v) {
		return uint64(v.Hop.Length - ethernet) // the sink has taken INT out again
	}
	length, written := 0, v.Index
	if v.Hop != nil {
		length, written = v.Hop.Length, v.Index+1
	} else {
		length = v.Drop.Length
	}
	if written > 0 && c.Overhead != nil {
		if c.MaxHops > 0 {
			written = min(written, c.MaxHops)
		}
		length -= c.Overhead(c.Flows[v.Flow], written)
	}
	return uint64(length - ethernet)
}

// observe notes that a packet took a path and what it met there. It returns the path.
func (c *collector) observe(f *flow, sights []sight, gaps bool) *path {
	list, by := elements(sights, gaps)
	p := c.path(list)
	k := f.turn(p, by[0])
	f.taken[p]++
	p.packets++
	k.packets++
	residence, complete := uint64(0), true
	for i, s := range by {
		if s == nil || s.has&telemetry.HasLatency == 0 {
			complete = false
		}
		if s != nil {
			p.meters[i].add(s)
			k.meters[i].add(s)
			residence += s.latency
		}
	}
	if !complete {
		return p
	}
	p.residence.add(residence)
	f.residence.add(residence)
	first, last := by[0], by[len(by)-1]
	if !c.Wide || first.has&telemetry.HasIngressTime == 0 || last.has&telemetry.HasEgressTime == 0 {
		return p
	}
	const longest = 1 << 40 // ns, 18 minutes
	if d := int64(last.egress - first.ingress); d < int64(residence) || d >= longest {
		p.clockErrors++
	} else {
		p.endToEnd.add(uint64(d))
		f.endToEnd.add(uint64(d))
	}
	return p
}

// path returns the path along a list of elements.
func (c *collector) path(list []element) *path {
	p := &path{elements: list, meters: make([]meter, len(list))}
	name := route(p.hops(nil))
	if known := c.paths[name]; known != nil {
		return known
	}
	c.paths[name] = p
	return p
}
