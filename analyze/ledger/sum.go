package ledger

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A lossSpan adds up the intervals of a query, or all time.
type lossSpan struct {
	Query
	startNs, endNs int64 // of the intervals that were added up
	stores         bool  // there is a store
}

func (s *lossSpan) all() bool { return s.SinceNs == 0 && s.UntilNs == 0 }

// has reports whether an interval belongs to the span, and notes that.
func (s *lossSpan) has(startNs, endNs int64) bool {
	if endNs <= s.SinceNs || s.UntilNs != 0 && startNs >= s.UntilNs {
		return false
	}
	s.startNs, s.endNs = min(s.startNs, startNs), max(s.endNs, endNs)
	return true
}

// socket returns what a socket was offered. dropped is what the kernel dropped since the process began.
func (s *lossSpan) socket(e *Exporters, drops dropReading, dropped uint64, known bool) telemetry.SocketLoss {
	a := telemetry.SocketLoss{
		Exporters: len(e.accounts) - e.forgotten, Unplaced: e.overflow, UnplacedReports: e.unplaced,
		Forgotten: e.forgottenReceived,
	}
	var sum uint64
	sumKnown := known
	for _, r := range e.ledger.sockets {
		if !s.has(r.start, r.end) {
			continue
		}
		a.Received += r.received
		sum += r.drops
		if s.Intervals {
			interval := telemetry.SocketInterval{
				Start: time.Unix(0, r.start).UTC(), End: time.Unix(0, r.end).UTC(),
				Received: r.received,
			}
			if r.hasDrops {
				n := r.drops
				interval.KernelDrops = &n
			}
			a.Intervals = append(a.Intervals, interval)
		}
	}
	if open := &e.ledger; s.has(open.opensNs, open.closesNs) {
		a.Received += e.received - open.closed
		sum += dropped - drops.last
	}
	if s.all() {
		a.Received, sum = e.received, drops.before+dropped
	}
	if sumKnown {
		a.KernelDrops = &sum
	}
	return a
}

// exporters returns the ledgers of the exporters of e.
func (s *lossSpan) exporters(e *Exporters) []telemetry.Loss {
	sums := make(map[*exporter]*stretch, len(e.accounts))
	of := func(x *exporter) *stretch {
		if sums[x] == nil {
			sums[x] = &stretch{known: true, records: true}
		}
		return sums[x]
	}
	for i := range e.ledger.list {
		r := &e.ledger.list[i]
		if s.has(r.start, r.end) {
			of(r.x).add(&r.counts, r.known, r.records, r.reasons, r.turn != noTurn)
			if s.Intervals {
				one := stretch{known: true, records: true}
				one.add(&r.counts, r.known, r.records, r.reasons, r.turn != noTurn)
				of(r.x).intervals = append(of(r.x).intervals, telemetry.LossInterval{
					Start: time.Unix(0, r.start).UTC(), End: time.Unix(0, r.end).UTC(), LossCount: one.answer(s, false),
				})
			}
		}
	}
	open := s.has(e.ledger.opensNs, e.ledger.closesNs)
	list := make([]telemetry.Loss, 0, len(e.accounts))
	for _, x := range e.accounts {
		if x.forgotten {
			continue
		}
		if now := x.counts(); open && now != x.closed {
			more, known, reasons := now.minus(x.closed), x.lossKnown() == lossIsKnown, x.bad.since(x.closedBad)
			records := x.countsRecords()
			of(x).add(&more, known, records, reasons, true)
			if s.Intervals {
				one := stretch{known: true, records: true}
				one.add(&more, known, records, reasons, true)
				of(x).intervals = append(of(x).intervals, telemetry.LossInterval{
					Start: time.Unix(0, e.ledger.opensNs).UTC(), End: time.Unix(0, e.ledger.closesNs).UTC(), Open: true,
					LossCount: one.answer(s, false),
				})
			}
		}
		sum := sums[x]
		if s.all() {
			whole := &stretch{
				counts: x.counts(), here: x.counts().minus(x.origin), isHere: true,
				known: x.lossKnown() == lossIsKnown, records: x.countsRecords(), reasons: x.bad.since(nil),
			}
			if sum != nil {
				whole.intervals = sum.intervals
			}
			sum = whole
		}
		if sum == nil {
			continue
		}
		a := telemetry.Loss{
			Collector: x.key.Collector, Source: x.key.Source,
			LossCount: sum.answer(s, s.all()), LossKnown: x.lossKnown(),
			Intervals: sum.intervals,
		}
		if !sum.known && a.LossKnown == lossIsKnown {
			a.LossKnown = "no: its sequence numbers did not count in some of these intervals"
		}
		if !sum.records && x.countsRecords() {
			a.LossKnown = "no: it was not known what its sequence numbers count in some of these intervals"
		}
		a.Node, a.HWID, a.Version = x.key.Describe()
		list = append(list, a)
	}
	return list
}

// A stretch is a sum of intervals of an exporter.
type stretch struct {
	counts
	here      counts // of these, what this process counted
	isHere    bool   // it counted in some of them
	known     bool
	records   bool // numbers count records in all of them
	reasons   []reasonCount
	intervals []telemetry.LossInterval
}

// add adds an interval; here: this process counted in it.
func (s *stretch) add(c *counts, known, records bool, reasons []reasonCount, here bool) {
	s.counts = s.plus(*c)
	if here {
		s.here, s.isHere = s.here.plus(*c), true
	}
	s.known, s.records = s.known && known, s.records && records
	s.reasons = append(s.reasons, reasons...)
}

// answer spells the sum out. In that of all time, what came late is corrected, since it arrived, and what was found out
// later. Intervals stay as they were when they were closed.
func (s *stretch) answer(span *lossSpan, corrected bool) telemetry.LossCount {
	n := s.counts
	if corrected {
		n = n.corrected()
	}
	a := telemetry.LossCount{
		Received: n.received, Decoded: n.received - n.damaged - n.malformed, Reports: n.reports, Repeated: n.repeated,
		Restarted: n.restarted,
		Damaged:   map[string]uint64{}, Malformed: map[string]uint64{},
	}
	if s.isHere {
		a.Fate = s.here.dispositionOf(span.stores, corrected)
	}
	for _, r := range s.reasons {
		if r.damaged {
			a.Damaged[r.reason.Error()] += r.n
		} else {
			a.Malformed[r.reason.Error()] += r.n
		}
	}
	if s.records {
		lost := s.recordsLost
		a.RecordsLost = &lost
	}
	if !s.known {
		return a
	}
	arrived := n.unique
	if !corrected {
		arrived -= n.late
		if r := n.revised; r != (revision{}) {
			a.Revised = &telemetry.LossRevision{Sent: r.sent, Arrived: r.arrived, Away: r.away, Restarted: r.restarted}
		}
	}
	lost := n.sent - arrived
	sent, away, late, duplicate, reordered := n.sent, n.away, n.late, n.duplicate, n.reordered
	a.Sent, a.Arrived, a.Lost, a.Away, a.Late, a.Duplicate, a.Reordered = &sent, &arrived, &lost, &away, &late,
		&duplicate, &reordered
	return a
}

// dispositionOf spells out what became of the reports; allTime: of all of them, so that it is known how many are where.
func (c *counts) dispositionOf(stores, allTime bool) *telemetry.ReportFate {
	f := &c.disposition
	inTables := c.repeated + f.Flowless + f.Rejected + f.Admitted
	a := &telemetry.ReportFate{
		Reports: c.reports, Repeated: c.repeated, Waiting: c.reports - min(inTables, c.reports), Flowless: f.Flowless,
		KeptOut: f.Rejected,
		InFlows: f.Admitted, Unfollowed: f.Untracked, Evicted: f.Evicted,
	}
	if allTime {
		held := f.Admitted - f.Untracked - f.Evicted - f.Flushed
		a.Held = &held
	}
	if stores {
		queued, stored, dropped := f.Flushed-f.Stored-f.Dropped, f.Stored, f.Dropped
		a.Stored, a.StoreDropped = &stored, &dropped
		if allTime {
			a.Queued = &queued
		}
	}
	return a
}
