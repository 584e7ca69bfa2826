// Package ledger says what became of every datagram: by exporter and interval, what was sent, lost, received, read and
// stored.
//
// Exporters is the account of one receiver, with the sequence numbers of each exporter. A Ledger closes the intervals
// of all of them and adds up. Dispositions is the part of it that a shard of the tables holds: what became of each
// report there. State and Restore are what outlives a restart.
package ledger

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Ledger says what became of every datagram, by exporter and interval: sent, lost, received, read, stored. The
// accounts belong to the Exporters; a Ledger closes their intervals where no datagram does, asks the sockets what the
// kernel dropped, and adds up.
//
// An interval is IntervalNs long, by the time of arrival. Once it is closed it does not change: a number of it that
// arrives later counts as late in a later one. The last hour is kept, or less if there are more exporters than there is
// room for.
type Ledger struct {
	exporters []*Exporters
	sockets   []Socket
	names     func() map[uint32]string
	tables    Tables

	mu           sync.Mutex // held before the lock of Exporters
	drops        []dropReading
	gaps         []telemetry.LossGap
	dispositions []AccountDisposition // memory that is reused
}

// A Socket is the socket of the Exporters with the same index.
type Socket struct {
	Listen  string                 // as configured; what is restored finds its socket by it
	Address string                 // what it is bound to
	Drops   func() (uint64, error) // datagrams that the kernel dropped so far; nil where the system does not count them
}

// A dropReading is what a socket said about drops.
type dropReading struct {
	before uint64 // drops of the processes before this one
	last   uint64
}

// maxGaps bounds the list of times without a collector; the oldest are forgotten.
const maxGaps = 100

// Tables is what holds the reports that the exporters sent.
type Tables interface {
	// TakeDispositions appends what was found out about reports since the last call. What is reported later of a report
	// comes first: so nothing is said of reports that nobody knows of yet.
	TakeDispositions(list []AccountDisposition) []AccountDisposition
	// Stored reports whether what the tables count goes to a store.
	Stored() bool
	// TableLoss returns what became of the reports that the tables got, without Reports, Repeated and Waiting.
	TableLoss() telemetry.TableLoss
}

// New returns the ledger of exporters, which are complete; sockets has one for each of them, and may be nil. names
// returns the names of nodes as they are now; nil: they have none.
func New(exporters []*Exporters, sockets []Socket, names func() map[uint32]string, tables Tables) *Ledger {
	for i, e := range exporters {
		e.socket = uint32(i)
	}
	if names == nil {
		names = func() map[uint32]string { return nil }
	}
	return &Ledger{
		exporters: exporters, sockets: sockets, names: names, tables: tables,
		drops: make([]dropReading, len(exporters)),
	}
}

// Tick closes the intervals that are over at nowNs. Call it some times a second.
func (l *Ledger) Tick(nowNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.settle()
	for i, e := range l.exporters {
		e.mu.Lock()
		e.turn(nowNs)
		rows := e.ledger.sockets
		unread := len(rows) > 0 && !rows[len(rows)-1].hasDrops && rows[len(rows)-1].start >= e.ledger.beganNs
		e.mu.Unlock()
		if !unread {
			continue
		}
		n, ok := l.readDrops(i) // takes some milliseconds at times: without the lock that the receiver needs
		e.mu.Lock()
		if rows := e.ledger.sockets; ok && len(rows) > 0 {
			rows[len(rows)-1].drops, rows[len(rows)-1].hasDrops = n-l.drops[i].last, true
			l.drops[i].last = n
		}
		e.mu.Unlock()
	}
}

// readDrops returns what the kernel dropped at a socket since the process began.
func (l *Ledger) readDrops(i int) (uint64, bool) {
	if i >= len(l.sockets) || l.sockets[i].Drops == nil {
		return 0, false
	}
	n, err := l.sockets[i].Drops()
	return n, err == nil
}

// A Query selects what Loss tells.
type Query struct {
	// SinceNs and UntilNs select intervals that lie in between, at least with a part; 0: from the beginning, to now.
	// Without both, the answer is about all time, also that of which no intervals are kept.
	SinceNs, UntilNs int64
	Intervals        bool // lists them
	Match            func(*telemetry.Loss) bool
}

// An Answer is what a Ledger tells.
type Answer struct {
	Since, Until time.Time // what it is about; Since is zero for all time
	// IntervalsSince is since when all intervals are kept; IntervalsEarly counts those, of one exporter each, that were
	// given up before their hour was over because there was no room.
	IntervalsSince time.Time
	IntervalsEarly uint64
	Exporters      []telemetry.Loss
	Sockets        []telemetry.SocketLoss
	Tables         telemetry.TableLoss
	Gaps           []telemetry.LossGap
}

// Loss adds up, at nowNs. Exporters come by source, node and socket.
func (l *Ledger) Loss(q Query, nowNs int64) Answer {
	l.mu.Lock()
	defer l.mu.Unlock()
	a := Answer{
		Until: time.Unix(0, nowNs).UTC(), Gaps: []telemetry.LossGap{}, Exporters: []telemetry.Loss{},
		Sockets: []telemetry.SocketLoss{},
	}
	span := lossSpan{Query: q, startNs: nowNs}
	l.settle()
	span.stores = l.tables.Stored()
	a.Tables = l.tableLoss()
	names := l.names()
	for i, e := range l.exporters {
		n, known := l.readDrops(i)
		e.mu.Lock()
		e.turn(nowNs)
		socket := span.socket(e, l.drops[i], n, known)
		if i < len(l.sockets) {
			socket.Address = l.sockets[i].Address
		}
		for _, x := range span.exporters(e) {
			x.Socket = i
			if x.Node != nil {
				x.Name = names[*x.Node]
			}
			x.KernelDrops = dropsOf(&socket)
			if q.Match == nil || q.Match(&x) {
				a.Exporters = append(a.Exporters, x)
			}
		}
		a.IntervalsEarly += e.ledger.early
		if since := e.ledger.sinceNs(); a.IntervalsSince.IsZero() || since > a.IntervalsSince.UnixNano() {
			a.IntervalsSince = time.Unix(0, since).UTC()
		}
		e.mu.Unlock()
		a.Sockets = append(a.Sockets, socket)
	}
	for _, gap := range l.gaps {
		if gap.To.UnixNano() > q.SinceNs && (q.UntilNs == 0 || gap.From.UnixNano() < q.UntilNs) {
			a.Gaps = append(a.Gaps, gap)
		}
	}
	if !span.all() {
		a.Since = time.Unix(0, span.startNs).UTC()
		a.Until = time.Unix(0, max(min(span.endNs, nowNs), span.startNs)).UTC()
	}
	slices.SortStableFunc(a.Exporters, func(a, b telemetry.Loss) int {
		return cmp.Or(a.Source.Compare(b.Source), cmp.Compare(a.Collector, b.Collector),
			cmp.Compare(nodeOrder(a.Node), nodeOrder(b.Node)), cmp.Compare(a.Version, b.Version),
			cmp.Compare(a.Socket, b.Socket))
	})
	return a
}

// settle lets the accounts know what became of reports.
func (l *Ledger) settle() {
	l.dispositions = l.tables.TakeDispositions(l.dispositions[:0])
	for i := range l.dispositions {
		f := &l.dispositions[i]
		e := l.exporters[f.socket]
		e.mu.Lock()
		e.settle(f)
		e.mu.Unlock()
	}
}

// dropsOf returns what the kernel dropped of the one exporter of a socket; nil if there are others to which it may have
// happened.
func dropsOf(s *telemetry.SocketLoss) *uint64 {
	if s.KernelDrops == nil || *s.KernelDrops > 0 && (s.Exporters > 1 || s.Unplaced > 0) {
		return nil
	}
	n := *s.KernelDrops
	return &n
}

// tableLoss says what became of the reports that were received since the tables began.
func (l *Ledger) tableLoss() telemetry.TableLoss {
	t := l.tables.TableLoss() // before the exporters: a report is counted there first
	for _, e := range l.exporters {
		e.mu.Lock()
		t.Reports += e.reports
		t.Repeated += e.repeated
		e.mu.Unlock()
	}
	t.Waiting = t.Reports - min(t.Stored+t.Repeated, t.Reports)
	return t
}

// nodeOrder makes a number that may be unknown comparable.
func nodeOrder(p *uint32) int64 {
	if p == nil {
		return -1
	}
	return int64(*p)
}
