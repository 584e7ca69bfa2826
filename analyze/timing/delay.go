package timing

import (
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
	from, to    uint32    // nodes
	open        delaySum  // of this window
	waiting     *delaySum // of windows that are over, the last of which ended at waitsNs; nil: there was none
	waitsNs     int64
	now, before delaySum // of this turn and the last
	bestNs      uint64   // the least uncertainty of a window of this turn; 0: there was none
	unknown     uint64   // packets of this turn whose delay is not known
	why         string   // of the latest of them, empty once one is known again

	quickest         clock.Reading // of this window
	trip, tripBefore roundTrip     // of this turn and the last

	ungiven *delaySum // what Intervals did not take yet; nil if nobody does
}

func (s *delayStat) add(d *clock.Delay) {
	if !d.OK {
		s.unknown++
		s.why = d.Why
		return
	}
	s.open.add(d)
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

// soonNs is how long before the end of a window the latest packets of both directions may have come for all of it to be
// believed: about what packets of a busy link leave between them, or the second before each jump would be lost.
const soonNs = int64(100e6)

// settle ends the window at endNs. Packets of both directions have come up to toldNs. why says why delays of the window
// are not to be trusted; empty if they are.
func (s *delayStat) settle(endNs, toldNs int64, why string) {
	if s.open.Count > 0 {
		s.why = why
	}
	if w := s.waiting; w != nil {
		switch {
		case toldNs >= s.waitsNs-soonNs:
			s.take(w)
			*w = delaySum{}
		case why != "":
			s.unknown += w.Count
			*w = delaySum{}
		}
	}
	switch {
	case s.open.Count == 0:
		return
	case why != "":
		s.unknown += s.open.Count
	case toldNs >= endNs: // as within one node
		s.take(&s.open)
	default:
		if s.waiting == nil {
			s.waiting = &delaySum{}
		}
		s.waiting.merge(&s.open)
		s.waitsNs = endNs
	}
	s.open = delaySum{}
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
	left := s.now.Count+s.open.Count+s.unknown > 0 || s.waiting != nil && s.waiting.Count > 0
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
