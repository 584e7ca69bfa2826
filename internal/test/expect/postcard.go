package expect

import "slices"

// maxPostcards is how many postcards of one packet a collector keeps.
const maxPostcards = 16

// A postcardKey is what all postcards of a packet have in common.
type postcardKey struct {
	flow     *flow
	identity uint64
}

// A packet waits for postcards of further switches.
type packet struct {
	key    postcardKey
	bytes  uint64
	sights []sight
	done   bool
}

// mayBe reports whether a packet may be the one that a switch tells of: none was dropped before it came somewhere.
func (p *packet) mayBe(s *sight) bool {
	if s.dropped() {
		return slices.ContainsFunc(p.sights, func(o sight) bool { return o.ttl >= s.ttl })
	}
	return slices.ContainsFunc(p.sights, func(o sight) bool { return !o.dropped() || o.ttl <= s.ttl })
}

// told reports whether a switch told of a packet before, with the same TTL.
func (p *packet) told(s *sight) bool {
	return slices.ContainsFunc(p.sights, func(o sight) bool { return o.node == s.node && o.ttl == s.ttl })
}

// postcard takes the report of one switch. One that speaks twice with the same TTL speaks of two packets that look
// alike: the first is over then, if no switch before it told of it. With another TTL it is one packet that came back.
func (c *collector) postcard(f *flow, v *Visit, identity uint64) {
	key, s := postcardKey{f, identity}, c.sight(v)
	var p *packet
	for _, o := range slices.Backward(c.waiting[key]) {
		if o.done || !o.mayBe(&s) {
			continue
		}
		if p = o; !o.told(&s) {
			break
		}
	}
	if p != nil && p.told(&s) {
		f.rule = RuleSpokeTwice
		if slices.ContainsFunc(p.sights, func(o sight) bool { return o.ttl > s.ttl }) {
			f.late(&s)
			return
		}
		c.finish(p)
		p = nil
	}
	if p == nil {
		p = &packet{key: key, bytes: c.bytes(v)}
		c.waiting[key] = append(c.waiting[key], p)
		c.queue = append(c.queue, p)
	}
	switch {
	case len(p.sights) < maxPostcards:
		p.sights = append(p.sights, s)
	case s.dropped(): // the end of a loop
		p.sights[len(p.sights)-1] = s
	}
}

// late takes the report of a switch about a packet that was finished when the next one began: it is of its hop, and of
// no other packet.
func (f *flow) late(s *sight) {
	if len(f.kept) == 0 {
		return
	}
	k := f.kept[0]
	for i := len(k.path.elements) - 1; i >= 0; i-- {
		if k.path.elements[i].node == s.node && k.path.elements[i].missing == 0 {
			if k.meters[i].latency.count < f.packets {
				k.path.meters[i].add(s)
				k.meters[i].add(s)
			}
			return
		}
	}
}

// finish makes a path of what came of a packet: in the order of the TTL, and a drop last.
func (c *collector) finish(p *packet) {
	if p.done {
		return
	}
	p.done = true
	f := p.key.flow
	f.packets++
	f.bytes += p.bytes
	slices.SortStableFunc(p.sights, func(a, b sight) int {
		switch {
		case a.dropped() && !b.dropped():
			return 1
		case b.dropped() && !a.dropped():
			return -1
		}
		return b.ttl - a.ttl
	})
	if len(f.kept) > 0 {
		k := f.kept[0]
		if places, ok := k.path.fit(p.sights); ok {
			k.path.incomplete++
			for i, at := range places {
				k.path.meters[at].add(&p.sights[i])
				k.meters[at].add(&p.sights[i])
			}
			return
		}
	}
	if path := c.observe(f, p.sights, true); !sinks(p.sights) {
		path.uncertain = true
	}
}

// sinks reports whether the TTL sinks along a path, as it does for one packet: a switch that drops it tells of the TTL
// that it came with. Otherwise the drop is of another packet, which looks alike and had come less far.
func sinks(sights []sight) bool {
	for i := 1; i < len(sights); i++ {
		if at, before := sights[i].ttl, sights[i-1].ttl; at > before || at == before && !sights[i].dropped() {
			return false
		}
	}
	return true
}
