package ledger

import (
	"cmp"
	"net/netip"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// Restore puts a State back at nowNs, before anything is received: accounts go on where they were, what they counted in
// the interval that was open is closed with it, and the time in between, if there is any, is a gap. socketOf returns
// the number of the socket that the kernel gives the datagrams of a source to, of those of a listen address; false if
// it is no longer listened on. It returns how many accounts found no place.
func (l *Ledger) Restore(s *State, nowNs int64,
	socketOf func(listen string, source netip.Addr) (int, bool),
) (left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps = slices.Clone(s.Gaps)
	if nowNs > s.SavedAt.UnixNano() {
		l.gaps = append(l.gaps, telemetry.LossGap{From: s.SavedAt, To: time.Unix(0, nowNs).UTC()})
	}
	l.gaps = l.gaps[max(0, len(l.gaps)-maxGaps):]
	for i := range s.Sockets {
		left += l.restoreSocket(&s.Sockets[i], s.SavedAt.UnixNano(), socketOf)
	}
	for _, e := range l.exporters {
		slices.SortStableFunc(e.ledger.list, func(a, b row) int { return cmp.Compare(a.end, b.end) })
		slices.SortStableFunc(e.ledger.sockets, func(a, b socketRow) int { return cmp.Compare(a.end, b.end) })
		e.ledger.closed = e.received
	}
	return left
}

// restoreSocket puts the accounts of a socket to the sockets that have their sources now. What is of the socket itself
// goes to the first of them.
func (l *Ledger) restoreSocket(s *socketState, savedNs int64,
	socketOf func(string, netip.Addr) (int, bool),
) (left int) {
	accounts := make([]*exporter, len(s.Exporters)) // nil: no place
	home := make([]*Exporters, len(s.Exporters))
	for i := range s.Exporters {
		number, ok := socketOf(s.Listen, s.Exporters[i].Source)
		if !ok || len(l.exporters[number].accounts) >= l.exporters[number].max {
			left++
			continue
		}
		home[i] = l.exporters[number]
		accounts[i] = s.Exporters[i].exporter()
		home[i].place(accounts[i])
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Exporter < 0 || r.Exporter >= len(accounts) || accounts[r.Exporter] == nil {
			continue
		}
		home[r.Exporter].ledger.add(row{
			x: accounts[r.Exporter], start: r.Start, end: r.End, counts: r.Counts.counts(), known: r.Known,
			records: r.Records,
			reasons: reasonCounts(r.Reasons),
		})
	}
	for i, x := range accounts {
		if now := s.Exporters[i].Counts.counts(); x != nil && now.received != s.Exporters[i].Closed.counts().received {
			home[i].ledger.add(row{
				x: x, start: s.OpensNs, end: savedNs, counts: now.minus(s.Exporters[i].Closed.counts()),
				known: x.lossKnown() == lossIsKnown, records: x.countsRecords(),
				reasons: reasonCounts(s.Exporters[i].Unclosed),
			})
		}
	}
	number, ok := socketOf(s.Listen, netip.Addr{})
	if !ok {
		return left
	}
	e := l.exporters[number]
	e.received += s.Received
	e.overflow += s.Unplaced[0]
	e.unplaced += s.Unplaced[1]
	e.forgottenReceived += s.Forgotten
	e.ledger.early += s.Early
	l.drops[number].before += s.Drops[0]
	for _, r := range s.Intervals {
		e.ledger.sockets = append(e.ledger.sockets, socketRow{int64(r[0]), int64(r[1]), r[2], r[3], r[4] != 0})
	}
	if s.OpensNs != 0 {
		e.ledger.sockets = append(e.ledger.sockets,
			socketRow{s.OpensNs, savedNs, s.Received - s.Closed, s.Drops[0] - s.Drops[1], s.Counted})
	}
	return left
}

// exporter returns the account, with a sequence that goes on.
func (s *exporterState) exporter() *exporter {
	n := s.Counts.counts()
	x := &exporter{
		key: telemetry.ExporterKey{
			Collector: s.Collector, Source: s.Source, HWID: s.HWID, Domain: s.Domain,
			Version: s.Version, Header: s.Header,
		},
		first: s.First, last: s.Last, dialect: s.Dialect, nodeless: s.Nodeless,
		counting: s.Counting, recordsLost: n.recordsLost,
		received: n.received, reports: n.reports, repeated: n.repeated, damaged: n.damaged, malformed: n.malformed,
		closed: n, origin: n,
		sequence: sequence{
			bits: uint8(s.Version.SequenceBits()),
			Sent: n.sent, Unique: n.unique, Late: n.late, Away: n.away, Duplicate: n.duplicate, Reordered: n.reordered,
			Restarted: n.restarted,
			revised:   n.revised,
		},
	}
	if s.Node != nil {
		x.key.Node, x.key.HasNode = *s.Node, true
	}
	if q := s.Sequence; q != nil {
		x.hasSequence, x.started, x.resumed = true, true, true
		x.moved, x.current, x.before, x.ended, x.astray = q.Moved, q.Current.run(), q.Before.run(), q.Before.Highest,
			q.Astray
		x.hasRun = q.HasRun && x.current.sent > 0 // a state of before does not say what to take back
	}
	if len(s.Bad) > 0 {
		x.bad, x.closedBad = &badCounts{}, &badCounts{}
		for _, r := range reasonCounts(s.Bad) {
			if r.damaged {
				x.bad.damaged[r.reason] += r.n
			} else {
				x.bad.malformed[r.reason] += r.n
			}
		}
		*x.closedBad = *x.bad
	}
	return x
}

func (s *runState) run() run {
	return run{
		highest: s.Highest, restarted: s.Restarted, away: s.Away, gap: s.Gap, span: s.Span, sent: s.Sent,
		arrived: s.Arrived, window: s.Window,
	}
}

func (s *countState) counts() counts {
	return counts{
		received: s[0], reports: s[1], damaged: s[2], malformed: s[3],
		sent: s[4], unique: s[5], late: s[6], away: s[7], duplicate: s[8], reordered: s[9], restarted: s[10],
		revised:  revision{int64(s[11]), int64(s[12]), int64(s[13]), int64(s[14])},
		repeated: s[15], recordsLost: int64(s[16]),
	}
}

// reasonCounts is the opposite of reasonStates; a reason that this version does not know is counted without one.
func reasonCounts(states []reasonState) []reasonCount {
	list := make([]reasonCount, len(states))
	for i, s := range states {
		list[i] = reasonCount{damaged: s.Damaged, n: s.N}
		for e := range wire.NumErrors {
			if wire.Error(e).Error() == s.Reason {
				list[i].reason = wire.Error(e)
			}
		}
	}
	return list
}
