package clock

import (
	"math"
	"slices"
)

// A point is a bound on the difference of two clocks.
type point struct {
	slot int64 // of its arrival
	at   int64 // by the clock of a
	diff int64 // clock of b minus clock of a, at most or at least
}

// Directions of a pair.
const (
	atMost  = 0 // packets from a to b: their points lie above the difference
	atLeast = 1 // packets from b to a: their points lie below it
)

// history is the bounds of one direction, the tightest of each slot, by slot. The last ones may be of the open window.
type history struct {
	points [slots * (windows + 1)]point
	n      int
}

func (h *history) all() []point { return h.points[:h.n] }

// from returns the points from a slot on.
func (h *history) from(slot int64) []point {
	i := h.n
	for i > 0 && h.points[i-1].slot >= slot {
		i--
	}
	return h.points[i:h.n]
}

// keep forgets what is not between two slots, both included.
func (h *history) keep(first, last int64) {
	n := 0
	for _, p := range h.all() {
		if p.slot >= first && p.slot <= last {
			h.points[n] = p
			n++
		}
	}
	h.n = n
}

// add keeps p if it is the tightest of its slot. drift is how much the difference grows in a nanosecond, as far as
// known: a bound of later in the slot is not looser for that. Points come by slot, except that Merge brings those of
// the past; of these, the oldest go when there is no room.
func (h *history) add(p point, direction int, drift float64) {
	i := h.n
	for i > 0 && h.points[i-1].slot > p.slot {
		i--
	}
	if i > 0 && h.points[i-1].slot == p.slot {
		old := &h.points[i-1]
		looser := float64(p.diff-old.diff) - drift*float64(p.at-old.at)
		if direction == atLeast {
			looser = -looser
		}
		if looser < 0 {
			*old = p
		}
		return
	}
	if h.n == len(h.points) {
		if i == 0 {
			return
		}
		copy(h.points[:], h.points[1:i])
		h.points[i-1] = p
		return
	}
	copy(h.points[i+1:h.n+1], h.points[i:h.n])
	h.points[i] = p
	h.n++
}

// drop forgets p, and reports whether it was there.
func (h *history) drop(p *point) bool {
	i := slices.Index(h.all(), *p)
	if i >= 0 {
		h.n = copy(h.points[i:h.n], h.points[i+1:h.n]) + i
	}
	return i >= 0
}

// A pair is what is known of the clocks of two neighbours, a < b.
type pair struct {
	used         bool
	a, b         uint32
	planted      bool // the next two are valid
	nodeA, nodeB int32
	wrapNs       uint64
	resolutionNs int64

	// Clock a of the quickest report is behind its arrival by lagNs. It tells late reports, and the turn of a clock
	// that wraps.
	anchored bool // lagNs is that of the latest window
	placed   bool // there are a lagNs and a baseNs
	lagNs    int64
	// Differences of clocks that wrap are those nearest to baseNs.
	baseNs int64

	history [2]history
	fit     fit // of the last window; what b is ahead of a
	state   state

	before     fit   // the last that was valid, to measure a step by
	beforeEnds int64 // the end of its window, by the clock here

	latest [2]int64 // when the latest sample of each direction came
	told   [2]int64 // the same of those up to before

	steps  uint64
	stepNs int64 // the last one
	bentNs int64 // see Link

	idle int // windows without a sample

	// Of the open window.
	quickest        int64 // smallest lag
	inside, outside uint32
	doubts          uint32 // samples that contradict fit
	witness         point  // the last of them
	witnessOf       int    // its direction

	spared bool // the only sample that contradicted the fit in the last window was left out
	shaken bool // a sample of the last window contradicted the fit, or a clock jumped in it
	// clearNs is up to when no clock had jumped then: the sample before the first that contradicted.
	clearNs int64
}

// state says what fit is worth.
type state uint8

const (
	learning state = iota // no window is over yet
	oneWay                // packets were seen one way only
	torn                  // no line fits between the bounds of the last window
	good
)

// take notes a sample. It is false for one that is too late, or too early, for its moment to be sure.
func (p *pair) take(s *Sample, slot, lateNs int64) bool {
	if p.placed && p.wrapNs != s.WrapNs { // other stamps than before: a node was configured anew
		*p = pair{used: true, a: p.a, b: p.b}
	}
	direction, reading, diff := atMost, s.EgressNs, int64(s.IngressNs-s.EgressNs)
	if s.From > s.To {
		direction, reading, diff = atLeast, s.IngressNs, -diff
	}
	if !p.anchored {
		p.anchor(reading, diff, s)
	}
	at := p.position(reading, s.ArrivalNs)
	lag := s.ArrivalNs - at
	if p.strays(lag, lateNs) {
		p.outside++
		return false
	}
	if p.inside == 0 || lag < p.quickest {
		p.quickest = lag
	}
	p.inside++
	p.resolutionNs = max(p.resolutionNs, s.resolution())
	point := point{slot: slot, at: at, diff: p.near(diff)}
	p.history[direction].add(point, direction, p.fit.drift)
	before := p.latest[direction]
	p.latest[direction] = max(before, s.ArrivalNs)
	if p.state == good && p.fit.contradicts(&point, direction) {
		if p.doubts == 0 {
			p.clearNs = before
		}
		p.doubts++
		p.witness, p.witnessOf = point, direction
	}
	return true
}

// strays reports whether a lag is too far from that of the quickest report for its moment to be sure.
func (p *pair) strays(lagNs, lateNs int64) bool {
	off := lagNs - p.lagNs
	return off > lateNs || off < -lateNs
}

// anchor takes the lag of a sample for that of the pair.
func (p *pair) anchor(reading uint64, diff int64, s *Sample) {
	if !p.placed {
		p.placed, p.wrapNs = true, s.WrapNs
		p.lagNs = s.ArrivalNs - int64(reading)
		p.baseNs = Wrapped(diff, s.WrapNs)
	}
	p.anchored = true
	p.lagNs = s.ArrivalNs - p.position(reading, s.ArrivalNs)
}

// position returns the moment at which clock a showed reading, on a scale that does not wrap. atNs is the time here,
// within half a turn of the clock.
func (p *pair) position(reading uint64, atNs int64) int64 {
	if p.wrapNs == 0 {
		return int64(reading)
	}
	expected := atNs - p.lagNs
	return expected + Wrapped(int64(reading)-expected, p.wrapNs)
}

// near returns what is congruent to diff and nearest to baseNs.
func (p *pair) near(diff int64) int64 { return p.baseNs + Wrapped(diff-p.baseNs, p.wrapNs) }

// close ends the window whose last slot is last, which ended at endNs by the clock here. It is true if a clock jumped
// by config.StepNs or more since the window before. One sample alone is no proof: reports of two packets that look
// alike may have been taken for those of one. It is left out, and a jump told if another one shows it in the next
// window.
func (p *pair) close(last, endNs int64, config *Config, scratch *scratch) (step Step, ok bool) {
	switch {
	case p.outside > p.inside:
		p.anchored = false // time itself jumped, here or at a
	case p.inside > 0:
		p.lagNs = p.quickest
	}
	fresh := p.inside > 0
	if p.shaken = p.doubts > 0; !p.shaken {
		p.clearNs = math.MaxInt64
	}
	alone := p.doubts == 1 && !p.spared
	p.inside, p.outside, p.doubts = 0, 0, 0
	for d := range p.history {
		p.history[d].keep(last-slots*windows+1, last)
	}
	p.idle++
	if !fresh { // the line is good for as long as there are bounds
		if p.state == good && (p.history[atMost].n == 0 || p.history[atLeast].n == 0) {
			p.state = oneWay
			p.fit.valid = false
		}
		return step, false
	}
	p.idle = 0
	first := last - slots + 1 // slot of this window
	p.spared = alone && p.history[p.witnessOf].drop(&p.witness)
	if p.refit(first, scratch) {
		p.bentNs = endNs
	}
	if p.state != good {
		return step, false
	}
	jump, margin := p.jump(endNs, config.WindowNs)
	jumped := p.before.valid && math.Abs(float64(jump)) > margin+float64(config.StepNs)
	if jumped {
		p.steps++
		p.shaken = true
		p.stepNs = jump
		// When it was is not known, and since then the clock has run at its new rate.
		margin += math.Abs(p.fit.drift-p.before.drift) * float64(endNs-p.beforeEnds)
		// Packets to the clock that went forward do not show it, and no others may have come for a while.
		shows := atMost
		if jump > 0 {
			shows = atLeast
		}
		step = Step{
			A: p.a, B: p.b, AfterNs: min(p.beforeEnds, p.told[shows]), BeforeNs: endNs, StepNs: jump,
			UncertaintyNs: ceilNs(margin),
		}
		p.clearNs = min(p.clearNs, step.AfterNs)
	}
	if p.spared && !jumped { // or it did, which the next window will show
		return step, false
	}
	p.before, p.beforeEnds, p.told = p.fit, endNs, p.latest
	p.baseNs = p.fit.offset
	return step, jumped
}

// jump returns how far the line of this window, which ended at endNs by the clock here, is from where the one before
// leads to, and how far the two can be apart while both are right.
func (p *pair) jump(endNs, windowNs int64) (ns int64, margin float64) {
	// Clock a itself may have jumped: it cannot have gone on by much more than the clock here.
	elapsed := min(max(p.fit.at-p.before.at, 0), max(endNs-p.beforeEnds, 0)+windowNs)
	at := p.before.at + elapsed
	return Wrapped(p.fit.offset-p.before.offsetAt(at), p.wrapNs), p.fit.uncertainty + p.before.uncertaintyAt(at)
}

// refit fits a line to as much of the history as is straight. first is the first slot of the newest window; if no line
// fits between the bounds of that window alone, nothing of the history is true any more. bent says that not all of it
// fits.
func (p *pair) refit(first int64, scratch *scratch) (bent bool) {
	oldest := first
	for d := range p.history {
		if h := &p.history[d]; h.n > 0 {
			oldest = min(oldest, h.points[0].slot)
		}
	}
	for {
		state := p.fit.between(p.history[atMost].from(oldest), p.history[atLeast].from(oldest), first, p.resolutionNs,
			scratch)
		if p.state = state; state != torn {
			break
		}
		bent = true
		if oldest == first {
			oldest = math.MaxInt64
			break
		}
		oldest += (first - oldest + 1) / 2 // a clock that was set, or that wandered: the older half goes
	}
	for d := range p.history {
		p.history[d].keep(oldest, math.MaxInt64)
	}
	return bent
}
