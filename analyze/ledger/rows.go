package ledger

import (
	"time"

	"github.com/waybill-int/waybill/wire"
)

const (
	// IntervalNs is the length of an interval of the ledger, in nanoseconds.
	IntervalNs = 10 * int64(time.Second)
	// keptNs is for how long intervals are kept.
	keptNs        = int64(time.Hour)
	keptIntervals = int(keptNs / IntervalNs)
)

// counts are what an account has counted at a moment, or the difference of two moments.
type counts struct {
	received, reports, damaged, malformed                     uint64
	sent, unique, late, away, duplicate, reordered, restarted uint64
	revised                                                   revision
	repeated                                                  uint64
	recordsLost                                               int64
	disposition                                               Disposition // of the reports
}

func (x *exporter) counts() counts {
	return counts{
		received: x.received, reports: x.reports, damaged: x.damaged, malformed: x.malformed,
		sent: x.Sent, unique: x.Unique, late: x.Late, away: x.Away, duplicate: x.Duplicate, reordered: x.Reordered,
		restarted: x.Restarted,
		revised:   x.revised, repeated: x.repeated, recordsLost: x.recordsLost,
		disposition: x.disposition,
	}
}

func (c counts) minus(b counts) counts {
	return counts{
		received: c.received - b.received, reports: c.reports - b.reports, damaged: c.damaged - b.damaged,
		malformed: c.malformed - b.malformed,
		sent:      c.sent - b.sent, unique: c.unique - b.unique, late: c.late - b.late, away: c.away - b.away,
		duplicate: c.duplicate - b.duplicate, reordered: c.reordered - b.reordered,
		restarted: c.restarted - b.restarted,
		revised:   c.revised.minus(b.revised), repeated: c.repeated - b.repeated,
		recordsLost: c.recordsLost - b.recordsLost,
		disposition: c.disposition.minus(b.disposition),
	}
}

func (c counts) plus(b counts) counts {
	return counts{
		received: c.received + b.received, reports: c.reports + b.reports, damaged: c.damaged + b.damaged,
		malformed: c.malformed + b.malformed,
		sent:      c.sent + b.sent, unique: c.unique + b.unique, late: c.late + b.late, away: c.away + b.away,
		duplicate: c.duplicate + b.duplicate, reordered: c.reordered + b.reordered,
		restarted: c.restarted + b.restarted,
		revised:   c.revised.plus(b.revised), repeated: c.repeated + b.repeated,
		recordsLost: c.recordsLost + b.recordsLost,
		disposition: c.disposition.plus(b.disposition),
	}
}

// corrected returns the sums of all time, with what is known better by now than when intervals were closed.
func (c counts) corrected() counts {
	c.sent += uint64(c.revised.sent)
	c.unique += uint64(c.revised.arrived)
	c.duplicate -= uint64(c.revised.arrived)
	c.away += uint64(c.revised.away)
	c.restarted += uint64(c.revised.restarted)
	return c
}

// A row is what an account counted in an interval that is closed. Intervals in which nothing happened have none.
type row struct {
	x          *exporter
	turn       uint32 // number of the interval; 0: it is of before this process
	start, end int64  // nanoseconds since 1970
	counts
	known   bool // the sequence numbers count
	records bool // they count records
	reasons []reasonCount
}

// A reasonCount counts datagrams that broke a rule.
type reasonCount struct {
	reason  wire.Error
	damaged bool // not malformed
	n       uint64
}

// A socketRow is what a socket was offered in an interval that is closed.
type socketRow struct {
	start, end int64
	received   uint64
	drops      uint64
	hasDrops   bool // they were read; the system counts them
}

// rows holds the intervals of a socket and its exporters, the oldest first.
type rows struct {
	opensNs, closesNs int64  // the interval that is open; 0: none yet
	turn              uint32 // its number, from 1 on
	beganNs           int64  // the first one of this process
	max               int
	list              []row
	gone              int // rows that were there before them
	sockets           []socketRow
	closed            uint64 // datagrams received when the interval was closed
	early             uint64 // rows that gave way before their hour was over
}

// rowsFor returns how many rows there may be for so many exporters: an hour of one, at most 65536 (10 MB).
func rowsFor(exporters int) int {
	return max(min(16*exporters, 1<<16), keptIntervals)
}

// turn closes the interval that is open if its time is over at nowNs. The caller holds the lock.
func (e *Exporters) turn(nowNs int64) {
	l := &e.ledger
	if nowNs < l.closesNs && nowNs >= l.opensNs-IntervalNs { // else the clock was set back
		return
	}
	if l.closesNs != 0 {
		e.closeInterval(min(max(nowNs, l.opensNs), l.closesNs))
	} else {
		l.beganNs = nowNs
	}
	l.turn++
	l.opensNs = nowNs
	if l.closesNs == nowNs-nowNs%IntervalNs {
		l.opensNs = l.closesNs // one follows the other
	}
	l.closesNs = nowNs - nowNs%IntervalNs + IntervalNs
}

// closeInterval adds a row for each exporter of which something came, or something happened to what had come.
func (e *Exporters) closeInterval(endNs int64) {
	l := &e.ledger
	l.trim(endNs - keptNs)
	l.sockets = append(l.sockets, socketRow{start: l.opensNs, end: endNs, received: e.received - l.closed})
	l.closed = e.received
	for _, x := range e.accounts {
		if x.forgotten {
			continue
		}
		now := x.counts()
		if now != x.closed {
			x.rowNumber = l.add(row{
				x: x, turn: l.turn, start: l.opensNs, end: endNs, counts: now.minus(x.closed),
				known:   x.lossKnown() == lossIsKnown,
				records: x.countsRecords(),
				reasons: x.bad.since(x.closedBad),
			})
			x.closed = now
			if x.bad != nil {
				if x.closedBad == nil {
					x.closedBad = &badCounts{}
				}
				*x.closedBad = *x.bad
			}
		}
		x.sequence.close()
	}
}

// settle takes note of what became of reports: those that arrived in an interval that is closed are told of there.
func (e *Exporters) settle(f *AccountDisposition) {
	if f.account == 0 {
		return // of exporters that found no place
	}
	x := e.accounts[f.account-1]
	if x.forgotten {
		return
	}
	x.disposition = x.disposition.plus(f.Disposition)
	if f.turn == e.ledger.turn || f.turn == whenever {
		return
	}
	x.closed.disposition = x.closed.disposition.plus(f.Disposition)
	if row := e.ledger.find(x, f.turn); f.turn != noTurn && row != nil {
		row.disposition = row.disposition.plus(f.Disposition)
	}
}

// sinceNs returns since when all intervals are there.
func (l *rows) sinceNs() int64 {
	switch {
	case l.early > 0 && len(l.list) > 0:
		return l.list[0].start
	case len(l.sockets) > 0:
		return l.sockets[0].start
	}
	return l.opensNs
}

// add puts a row behind the others and returns its number; if there are too many the oldest gives way.
func (l *rows) add(r row) int {
	if len(l.list) >= l.max {
		l.forget(len(l.list)/8 + 1)
	}
	l.list = append(l.list, r)
	return l.gone + len(l.list) - 1
}

// find returns the row of x in an interval that is closed; nil if there is none any more.
func (l *rows) find(x *exporter, turn uint32) *row {
	for i := min(x.rowNumber-l.gone, len(l.list)-1); i >= 0 && l.list[i].turn >= turn; i-- { // nearly always the first
		if r := &l.list[i]; r.x == x && r.turn == turn {
			return r
		}
	}
	return nil
}

// forget drops the n oldest rows before their time.
func (l *rows) forget(n int) {
	l.early += uint64(n)
	l.drop(n)
}

// drop drops the n oldest rows.
func (l *rows) drop(n int) {
	l.gone += n
	l.list = without(l.list, n)
}

// trim drops what ended before sinceNs.
func (l *rows) trim(sinceNs int64) {
	n := 0
	for n < len(l.list) && l.list[n].end <= sinceNs {
		n++
	}
	if n > len(l.list)/8 || n > 1024 { // not for each row
		l.drop(n)
	}
	n = 0
	for n < len(l.sockets) && (l.sockets[n].end <= sinceNs || len(l.sockets)-n >= 2*keptIntervals) {
		n++
	}
	l.sockets = without(l.sockets, n)
}

// without removes the first n and keeps the memory.
func without[T any](list []T, n int) []T {
	if n == 0 {
		return list
	}
	kept := copy(list, list[n:])
	clear(list[kept:])
	return list[:kept]
}

// since returns what b counts beyond before.
func (b *badCounts) since(before *badCounts) (list []reasonCount) {
	if b == nil {
		return nil
	}
	if before == nil {
		before = &badCounts{}
	}
	for reason := range b.damaged {
		if n := b.damaged[reason] - before.damaged[reason]; n > 0 {
			list = append(list, reasonCount{wire.Error(reason), true, n})
		}
		if n := b.malformed[reason] - before.malformed[reason]; n > 0 {
			list = append(list, reasonCount{wire.Error(reason), false, n})
		}
	}
	return list
}
