package clock

import "math"

// Merge adds what another collector has gathered, with windows of the same length: one that saw the packets from a to b
// and one that saw those from b to a know the offset only together. The bounds of open windows count at once. o does
// not change. Pairs for which there is no room, or whose stamps are of another width here, are counted as Overflow.
func (c *Estimator) Merge(o *Estimator) {
	c.counters.Samples += o.counters.Samples
	c.counters.Unusable += o.counters.Unusable
	c.counters.Late += o.counters.Late
	c.counters.Overflow += o.counters.Overflow
	if !c.open && o.open {
		c.openAt(o.startNs)
	}
	for i := range o.pairs {
		from := &o.pairs[i]
		if !from.used {
			continue
		}
		p := c.pairFor(&Sample{From: from.a, To: from.b})
		switch {
		case p == nil || p.placed && from.placed && p.wrapNs != from.wrapNs:
			c.counters.Overflow++
		case !p.placed:
			*p = *from
			p.planted = false
		default:
			p.merge(from, &c.scratch)
		}
	}
	c.plant()
}

// merge adds the bounds of o and fits the line anew.
func (p *pair) merge(o *pair, scratch *scratch) {
	turns := int64(0) // o may count the turns of a clock that wraps from elsewhere
	if p.wrapNs != 0 {
		away := p.lagNs - o.lagNs
		turns = away - Wrapped(away, p.wrapNs)
	}
	last := int64(math.MinInt64)
	for d := range p.history {
		for _, point := range o.history[d].all() {
			point.at -= turns
			point.diff = p.near(point.diff)
			p.history[d].add(point, d, p.fit.drift)
		}
		p.latest[d] = max(p.latest[d], o.latest[d])
		if h := &p.history[d]; h.n > 0 {
			last = max(last, h.points[h.n-1].slot)
		}
	}
	if o.inside > 0 && (p.inside == 0 || o.quickest+turns < p.quickest) {
		p.quickest = o.quickest + turns
	}
	p.inside += o.inside
	p.outside += o.outside
	p.resolutionNs = max(p.resolutionNs, o.resolutionNs)
	p.steps = max(p.steps, o.steps) // both have seen the same
	p.bentNs = max(p.bentNs, o.bentNs)
	if p.stepNs == 0 {
		p.stepNs = o.stepNs
	}
	if p.state != learning || o.state != learning {
		p.refit(last-slots+1, scratch)
	}
	if p.fit.valid {
		p.before, p.beforeEnds, p.told = p.fit, max(p.beforeEnds, o.beforeEnds), p.latest
		p.baseNs = p.fit.offset
	}
}
