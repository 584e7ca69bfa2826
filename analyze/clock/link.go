package clock

import "math"

// Reasons why a clock is not trusted, or trusted in a special way.
const (
	whyReference = "the reference of its neighbours"
	whySame      = "one clock"
	whyUnseen    = "no packets were seen between them"
	whyApart     = "no chain of links with packets in both directions joins them"
	whyWaits     = "learning: the first window is not over"
	whyOneWay    = "packets were seen in one direction only: any offset is possible"
	whySet       = "the bounds contradict each other: a clock was set, or stamps are wrong"
	whyDoubted   = "packets contradict the estimate: a clock was set, or stamps are wrong"
	whyNoStamps  = "the stamps wrap too soon to be compared"
	whyStray     = "the report is much later or earlier than others, or a clock was set"
	whyTooFar    = "too many nodes between them"
	whyFuture    = "the delay would be negative by more than the uncertainty"
)

// A Link is the clock of one node against that of another, when packets told of one of those between them last.
type Link struct {
	// OffsetNs is by how much the second clock is ahead. It supposes that the quickest packets of both directions took
	// equally long. Of clocks that wrap it is the value nearest to 0.
	OffsetNs int64
	// DriftPPB is by how much the second clock is faster, parts per 10^9. Packets of one direction are enough for it.
	DriftPPB float64
	// UncertaintyNs is by how much OffsetNs can be wrong at most, whatever the paths are. It is half of the two
	// smallest delays together, and a little for drift and resolution.
	UncertaintyNs int64
	// DriftUncertaintyPPB is by how much DriftPPB can be wrong at most; usually it is much better.
	DriftUncertaintyPPB float64
	// SpanNs is the time over which the clocks were watched for that.
	SpanNs int64
	// Steps is how often one clock jumped against the other, StepNs the last jump.
	Steps  uint64
	StepNs int64
	// AtNs is when the second clock is ahead by that much, since 1970 by the clock here.
	AtNs int64
	// BentNs is the end of the latest window, since 1970, whose packets do not fit the line of before: that one holds
	// no more, and what is told holds since then.
	BentNs int64

	Trusted bool
	Why     string // why not, or in which special way; empty for two clocks that are trusted
}

// Link returns the clock of b against that of a. If the two are no neighbours, it adds up what is known along a chain.
func (c *Estimator) Link(a, b uint32) Link {
	if a == b {
		return Link{Trusted: true, Why: whySame}
	}
	var legs [maxChain]leg
	way, why := c.way(a, b, &legs)
	if way == nil {
		k := Link{Why: why}
		if p := c.pairOf(a, b); p != nil {
			sign := 1.0
			if a != p.a {
				sign = -1
			}
			k.DriftPPB, k.SpanNs = sign*p.fit.drift*1e9, p.fit.spanNs
			k.DriftUncertaintyPPB = p.driftUncertainty() * 1e9
			k.Steps, k.StepNs = p.steps, int64(sign)*p.stepNs
		}
		return k
	}
	k := Link{Trusted: true, SpanNs: math.MaxInt64, AtNs: math.MinInt64}
	for _, leg := range way {
		k.AtNs = max(k.AtNs, leg.pair.fit.at+leg.pair.lagNs)
	}
	reading, wrap, uncertainty := way[0].reading(k.AtNs), uint64(0), 0.0
	for _, leg := range way { // of all clocks at one moment: between two of them they drift apart
		p, sign := leg.pair, int64(1)
		if leg.from != p.a {
			sign = -1
		}
		ahead, at := leg.ahead(reading, k.AtNs)
		k.OffsetNs += ahead
		reading += uint64(ahead)
		k.DriftPPB += float64(sign) * p.fit.drift * 1e9
		k.DriftUncertaintyPPB += p.driftUncertainty() * 1e9
		uncertainty += p.fit.uncertaintyAt(at)
		k.SpanNs, k.BentNs = min(k.SpanNs, p.fit.spanNs), max(k.BentNs, p.bentNs)
		k.Steps += p.steps
		k.StepNs += sign * p.stepNs
		wrap = LesserWrap(wrap, p.wrapNs)
		if c.doubted(p) {
			k.Trusted, k.Why = false, whyDoubted
		}
	}
	k.OffsetNs = Wrapped(k.OffsetNs, wrap)
	k.UncertaintyNs = ceilNs(uncertainty)
	return k
}

// driftUncertainty returns by how much the drift can be wrong.
func (p *pair) driftUncertainty() float64 {
	return max(p.fit.fastest-p.fit.drift, p.fit.drift-p.fit.slowest)
}

// LesserWrap returns the smaller turn of two clocks; 0 is that of 64 bits.
func LesserWrap(a, b uint64) uint64 {
	if a == 0 || b != 0 && b < a {
		return b
	}
	return a
}

// whyNot says why nothing is known of two clocks.
func (c *Estimator) whyNot(a, b uint32) string {
	p := c.pairOf(a, b)
	if p == nil {
		return whyUnseen
	}
	switch p.state {
	case oneWay:
		return whyOneWay
	case torn:
		return whySet
	}
	return whyWaits
}

// WhyAlone says why the clock of a node is known against that of no other.
func (c *Estimator) WhyAlone(node uint32) string {
	why := whyUnseen
	for i := range c.pairs {
		p := &c.pairs[i]
		if !p.used || p.a != node && p.b != node {
			continue
		}
		if why = c.whyNot(p.a, p.b); p.state == torn {
			break // a fault says more than traffic that is not there
		}
	}
	return why
}
