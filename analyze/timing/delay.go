package timing

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// delayTurnNs is how long delays are gathered before older ones are forgotten: an answer is of the last one to two
// turns. So what was found while clocks were hardly known does not stay.
const delayTurnNs = int64(60e9)

// A delaySum is the delays of one turn, by two clocks, without their difference.
type delaySum struct {
	histogram.Histogram
	UncertaintyNs uint64 // the largest
	Clamped       uint64 // delays that would have been negative, within the uncertainty
}

func (s *delaySum) add(d *clock.Delay) {
	s.Add(d.DelayNs, histogram.Index(d.DelayNs))
	s.UncertaintyNs = max(s.UncertaintyNs, d.UncertaintyNs)
	if d.Clamped {
		s.Clamped++
	}
}

// merge adds the delays of o.
func (s *delaySum) merge(o *delaySum) {
	s.Merge(&o.Histogram)
	s.UncertaintyNs = max(s.UncertaintyNs, o.UncertaintyNs)
	s.Clamped += o.Clamped
}

// A delayStat is the delays of a link or a path. Those of the open window of the clocks wait until it is over, and then
// until packets went both ways: that a clock jumped may be seen only by a packet that goes the other way, and until
// then the jump looks like a delay.
type delayStat struct {
	from, to    uint32   // nodes
	open        delaySum // of this window
	between     *between // nil within one node, and until a packet came
	now, before delaySum // of this turn and the last
	bestNs      uint64   // the least uncertainty of a window of this turn; 0: there was none
	unknown     uint64   // packets of this turn whose delay is not known
	why         string   // of the latest of them, empty once one is known again

	quickest         clock.Reading // of this window
	trip, tripBefore roundTrip     // of this turn and the last

	ungiven *delaySum // what Intervals did not take yet; nil if nobody does
}

// A between is what only delays between two nodes have. It is apart, as most paths of postcards are within one node.
type between struct {
	late    delaySum        // of the last soonNs of this window
	waiting []waitingDelays // of windows that are over, the oldest first
}

// A waitingDelays waits until packets of both directions have come behind endNs.
type waitingDelays struct {
	delaySum
	endNs int64
}

const (
	// soonNs is how long before the end of a window its late delays begin. They wait by themselves: of a jump right
	// behind the window it is known by the packets before it that all others are right.
	soonNs = int64(100e6)
	// maxWaiting is two parts of a window.
	maxWaiting = 2
)

// add takes a delay of the open window. late says that it is of its last soonNs.
func (s *delayStat) add(d *clock.Delay, late bool) {
	if !d.OK {
		s.unknown++
		s.why = d.Why
		return
	}
	if s.from != s.to && s.between == nil {
		s.between = &between{}
	}
	if late && s.from != s.to {
		s.between.late.add(d)
	} else {
		s.open.add(d)
	}
	if d.Known && (!s.quickest.Known || d.ByLineNs < s.quickest.ByLineNs) {
		s.quickest = d.Reading
	}
}

// A roundTrip is the time of the quickest packets of both directions of a link together.
type roundTrip struct {
	ns, uncertaintyNs uint64
	known             bool
}

// add keeps the round trip of which is known that it was quickest.
func (t *roundTrip) add(o roundTrip) {
	if o.known && (!t.known || o.ns+o.uncertaintyNs < t.ns+t.uncertaintyNs) {
		*t = o
	}
}

// roundTrips takes the round trips of a window that is over, of links whose clocks did not jump in it.
func (t *Timing) roundTrips() {
	for k, s := range t.links {
		reverse, _ := k.Reverse()
		back := t.links[reverse]
		if back == nil || !s.quickest.Known {
			continue
		}
		if _, why := t.clocks.Shaken(k.From, k.To); why != "" {
			continue
		}
		var trip roundTrip
		trip.ns, trip.uncertaintyNs, trip.known = clock.RoundTrip(&s.quickest, &back.quickest)
		s.trip.add(trip)
	}
	for _, s := range t.links {
		s.quickest = clock.Reading{}
	}
}

// muchWorse is how many times the uncertainty of one delay may be that of another for both to be told together.
const muchWorse = 4

// settle ends the window at endNs, whose late delays came since lateNs. Packets of both directions have come up to
// toldNs. why says why delays of the window are not to be trusted; empty if they are.
func (s *delayStat) settle(lateNs, endNs, toldNs int64, why string) {
	b := s.between
	if b == nil {
		s.settlePart(&s.open, lateNs, why)
		return
	}
	for len(b.waiting) > 0 && (toldNs >= b.waiting[0].endNs || why != "") {
		if w := &b.waiting[0]; toldNs >= w.endNs {
			s.take(&w.delaySum)
		} else {
			s.unknown += w.Count
		}
		b.waiting = slices.Delete(b.waiting, 0, 1)
	}
	s.settlePart(&s.open, lateNs, why)
	s.settlePart(&b.late, endNs, why)
}

// settlePart takes the delays of a part of the window that is over, which ended at endNs, or lets them wait.
func (s *delayStat) settlePart(part *delaySum, endNs int64, why string) {
	if part.Count == 0 {
		return
	}
	s.why = why
	switch {
	case why != "":
		s.unknown += part.Count
	case s.between == nil: // one clock
		s.take(part)
	case len(s.between.waiting) < maxWaiting:
		s.between.waiting = append(s.between.waiting, waitingDelays{*part, endNs})
	default:
		last := &s.between.waiting[maxWaiting-1]
		last.merge(part)
		last.endNs = endNs
	}
	*part = delaySum{}
}

// take adds delays of windows that are over. Few that are hardly known must not make all uncertain: delays of before
// are forgotten when they are known much better, and left out while they are known much worse.
func (s *delayStat) take(settled *delaySum) {
	if settled.Count == 0 {
		return
	}
	around := max(settled.UncertaintyNs, 1)
	if s.bestNs > 0 && around > muchWorse*s.bestNs {
		s.unknown += settled.Count
		return
	}
	if muchWorse*around < s.now.UncertaintyNs {
		s.now = delaySum{}
	}
	if muchWorse*around < s.before.UncertaintyNs {
		s.before = delaySum{}
	}
	if s.bestNs == 0 || around < s.bestNs {
		s.bestNs = around
	}
	s.now.merge(settled)
	if s.ungiven != nil {
		s.ungiven.merge(settled)
	}
}

// turn forgets what is old. It is false if nothing is left.
func (s *delayStat) turn() bool {
	left := s.now.Count+s.open.Count+s.unknown > 0
	if b := s.between; b != nil {
		left = left || b.late.Count > 0 || len(b.waiting) > 0
	}
	s.before, s.now, s.unknown, s.bestNs = s.now, delaySum{}, 0, 0
	s.tripBefore, s.trip = s.trip, roundTrip{}
	return left
}

// answer returns the delays of both turns.
func (s *delayStat) answer() *telemetry.Delay {
	sum := s.before
	sum.merge(&s.now)
	a := &telemetry.Delay{NS: sum.Distribution(), Clamped: sum.Clamped, Unknown: s.why}
	switch {
	case a.NS != nil:
		a.UncertaintyNs = &sum.UncertaintyNs
	case s.why == "":
		a.Unknown = delayWaits
	}
	trip := s.tripBefore
	if trip.add(s.trip); trip.known {
		half := trip.ns / 2
		a.RoundTripNs, a.HalfRoundTripNs, a.RoundTripUncertaintyNs = &trip.ns, &half, &trip.uncertaintyNs
	}
	return a
}

// KeepDelays begins to put aside the delays of links for DelaysSince.
func (t *Timing) KeepDelays() {
	if t == nil {
		return
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.given = true
}

// DelaysSince returns the delays of links that became known since they were given last, and notes them as given if they
// are.
func (t *Timing) DelaysSince(give bool) map[topology.LinkKey]delaySum {
	if t == nil {
		return nil
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	taken := map[topology.LinkKey]delaySum{}
	for k, s := range t.links {
		if s.ungiven != nil && s.ungiven.Count > 0 {
			taken[k] = *s.ungiven
			if give {
				*s.ungiven = delaySum{}
			}
		}
	}
	return taken
}
