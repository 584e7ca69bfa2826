package clock

import "math"

// A Delay is how long a packet took from one node to another, without the difference of their clocks. It was at most
// DelayNs + UncertaintyNs, and at least the larger of DelayNs - UncertaintyNs and 0.
type Delay struct {
	DelayNs       uint64
	UncertaintyNs uint64
	// Clamped says that the best estimate was negative, within the uncertainty. DelayNs is 0 then.
	Clamped bool
	OK      bool   // false: nothing is known, DelayNs and UncertaintyNs are 0
	Why     string // not OK

	// Of two neighbours, by the line between their bounds: the delay, which is below 0 if Clamped, and with what it is
	// compared with one of the other direction.
	Reading
}

// A Reading is the delay of a packet between two neighbours, by the line that stands for the difference of their
// clocks. Delays of one direction are too long by as much as those of the other are too short.
type Reading struct {
	ByLineNs int64
	AtNs     int64   // by the clock of the node with the smaller id
	Drift    float64 // how far the drift of the line may be off, ns in a nanosecond
	StepNs   int64   // in which the stamps count
	Known    bool    // false if the nodes are no neighbours
}

// RoundTrip returns how long two packets needed together, one in each direction, and how far that may be off: what the
// clocks differ cancels out, but for what they drift apart from the one packet to the other. It is false if that cannot
// be.
func RoundTrip(there, back *Reading) (ns, uncertaintyNs uint64, ok bool) {
	if !there.Known || !back.Known {
		return 0, 0, false
	}
	apart := math.Abs(float64(there.AtNs - back.AtNs))
	around := ceilNs(apart*max(there.Drift, back.Drift)) + there.StepNs + back.StepNs
	sum := there.ByLineNs + back.ByLineNs
	return uint64(max(sum, 0)), uint64(around), sum+around >= 0
}

// Correct returns the delay of a sample. Its nodes need not be neighbours: end to end, the delay has all that is
// between. It keeps nothing of s and does not allocate. A delay longer than LateNs is taken for a clock that was set.
func (c *Estimator) Correct(s *Sample) Delay {
	if s.From == s.To {
		return c.delay(s, 0, 0, 0, s.WrapNs)
	}
	if !s.usable(c.config.LateNs) {
		return Delay{Why: whyNoStamps}
	}
	var legs [maxChain]leg
	way, why := c.way(s.From, s.To, &legs)
	if way == nil {
		return Delay{Why: why}
	}
	reading, offset, drift, uncertainty, wrap := s.EgressNs, int64(0), 0.0, 0.0, s.WrapNs
	var one Reading
	for _, leg := range way {
		p := leg.pair
		if c.doubted(p) {
			return Delay{Why: whyDoubted}
		}
		ahead, at := leg.ahead(reading, s.ArrivalNs)
		if p.strays(s.ArrivalNs-at, c.config.LateNs) {
			return Delay{Why: whyStray}
		}
		offset += ahead
		reading += uint64(ahead) // what the next clock shows at that moment
		drift += math.Abs(p.fit.drift)
		uncertainty += p.fit.uncertaintyAt(at)
		wrap = LesserWrap(wrap, p.wrapNs)
		one = Reading{AtNs: at, Drift: p.driftUncertainty(), StepNs: s.resolution(), Known: len(way) == 1}
	}
	d := c.delay(s, offset, drift, uncertainty, wrap)
	if d.OK && one.Known {
		one.ByLineNs = Wrapped(int64(s.IngressNs-s.EgressNs)-offset, wrap)
		d.Reading = one
	}
	return d
}

// delay takes the difference of the clocks away.
func (c *Estimator) delay(s *Sample, offset int64, drift, uncertainty float64, wrap uint64) Delay {
	delay := Wrapped(int64(s.IngressNs-s.EgressNs)-offset, wrap)
	// The clocks drift apart while the packet is on its way.
	around := ceilNs(uncertainty+drift*math.Abs(float64(delay))) + s.resolution()
	switch {
	case delay > c.config.LateNs:
		return Delay{Why: whyStray} // no packet is on its way for so long
	case delay >= 0:
		return Delay{DelayNs: uint64(delay), UncertaintyNs: uint64(around), OK: true}
	case delay+around >= 0:
		return Delay{UncertaintyNs: uint64(delay + around), Clamped: true, OK: true}
	}
	return Delay{Why: whyFuture}
}

// ahead returns by how much the clock at the end of a leg is ahead when the one at its begin shows reading, and when
// that is by clock a of the pair. atNs is the time here, within half a turn of the clocks.
func (l *leg) ahead(reading uint64, atNs int64) (ns, at int64) {
	at = l.pair.momentOf(reading, l.from, atNs)
	if ns = l.pair.fit.offsetAt(at); l.from != l.pair.a {
		ns = -ns
	}
	return ns, at
}

// momentOf returns the time of clock a at which a node of the pair read its clock.
func (p *pair) momentOf(reading uint64, node uint32, atNs int64) int64 {
	if node == p.a {
		return p.position(reading, atNs)
	}
	near := p.position(reading-uint64(p.fit.offset), atNs)
	return p.position(reading-uint64(p.fit.offsetAt(near)), atNs)
}
