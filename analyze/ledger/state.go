package ledger

import (
	"net/netip"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A State is the part of a Ledger that outlives a restart: the accounts of exporters with their sequences, the
// intervals and the gaps.
type State struct {
	SavedAt time.Time           `json:"saved_at"`
	Sockets []socketState       `json:"sockets"`
	Gaps    []telemetry.LossGap `json:"gaps"`
}

type socketState struct {
	Listen    string          `json:"listen"`
	Received  uint64          `json:"received"`
	Unplaced  [2]uint64       `json:"unplaced"` // datagrams, reports
	Forgotten uint64          `json:"forgotten,omitempty"`
	Drops     [2]uint64       `json:"drops"`   // now, and when the interval was closed
	Counted   bool            `json:"counted"` // the system counts them
	Early     uint64          `json:"early"`
	OpensNs   int64           `json:"opens"`
	Closed    uint64          `json:"closed"`
	Intervals [][5]uint64     `json:"intervals"` // start, end, received, drops, whether they are known
	Exporters []exporterState `json:"exporters"`
	Rows      []rowState      `json:"rows"`
}

type exporterState struct {
	Collector string             `json:"collector,omitempty"`
	Source    netip.Addr         `json:"source"`
	Version   telemetry.Version  `json:"version"`
	Node      *uint32            `json:"node"`
	HWID      uint8              `json:"hw_id"`
	Domain    uint32             `json:"domain,omitempty"`
	Header    bool               `json:"header"`
	Nodeless  bool               `json:"nodeless"`
	Dialect   string             `json:"dialect"`
	First     int64              `json:"first"`
	Last      int64              `json:"last"`
	Counting  telemetry.Counting `json:"counting,omitempty"`
	Counts    countState         `json:"counts"`
	Closed    countState         `json:"closed"`
	Bad       []reasonState      `json:"bad"`
	Unclosed  []reasonState      `json:"unclosed"` // of these, in the interval that was open
	Sequence  *sequenceState     `json:"sequence"` // nil: its numbers do not count
}

type sequenceState struct {
	Moved   bool     `json:"moved"`
	Current runState `json:"current"`
	Before  runState `json:"before"`
	HasRun  bool     `json:"has_run"`
	Astray  uint64   `json:"astray"`
}

type runState struct {
	Highest   uint32              `json:"highest"`
	Restarted bool                `json:"restarted"`
	Away      bool                `json:"away"`
	Gap       uint64              `json:"gap"`
	Span      uint64              `json:"span"`
	Sent      uint64              `json:"sent"`
	Arrived   uint64              `json:"arrived"`
	Window    [windowWords]uint64 `json:"window"`
}

// countState are counts: received, reports, damaged, malformed, sent, unique, late, away, duplicate, reordered,
// restarted, and as two's complements what was revised: sent, arrived, away, restarted; repeated, and
// lost records as a two's complement. Those that a state of before does not have are 0.
type countState [17]uint64

type reasonState struct {
	Reason  string `json:"reason"`
	Damaged bool   `json:"damaged"`
	N       uint64 `json:"n"`
}

type rowState struct {
	Exporter int           `json:"x"`
	Start    int64         `json:"s"`
	End      int64         `json:"e"`
	Known    bool          `json:"k"`
	Records  bool          `json:"n,omitempty"`
	Counts   countState    `json:"c"`
	Reasons  []reasonState `json:"r,omitempty"`
}

func (c counts) state() countState {
	return countState{
		c.received, c.reports, c.damaged, c.malformed, c.sent, c.unique, c.late, c.away, c.duplicate, c.reordered,
		c.restarted,
		uint64(c.revised.sent), uint64(c.revised.arrived), uint64(c.revised.away), uint64(c.revised.restarted),
		c.repeated, uint64(c.recordsLost),
	}
}

func reasonStates(list []reasonCount) []reasonState {
	states := make([]reasonState, len(list))
	for i, r := range list {
		states[i] = reasonState{r.reason.Error(), r.damaged, r.n}
	}
	return states
}

// State returns what is to outlive a restart, as it is at nowNs. The locks are taken one after the other.
func (l *Ledger) State(nowNs int64) State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{SavedAt: time.Unix(0, nowNs).UTC(), Gaps: slices.Clone(l.gaps)}
	for i, e := range l.exporters {
		n, known := l.readDrops(i)
		e.mu.Lock()
		socket := e.state()
		e.mu.Unlock()
		socket.Drops, socket.Counted = [2]uint64{l.drops[i].before + n, l.drops[i].before + l.drops[i].last}, known
		if i < len(l.sockets) {
			socket.Listen = l.sockets[i].Listen
		}
		s.Sockets = append(s.Sockets, socket)
	}
	return s
}

func (e *Exporters) state() socketState {
	l := &e.ledger
	s := socketState{
		Received: e.received, Unplaced: [2]uint64{e.overflow, e.unplaced}, Early: l.early,
		OpensNs: l.opensNs, Closed: l.closed, Forgotten: e.forgottenReceived,
	}
	for _, r := range l.sockets {
		known := uint64(0)
		if r.hasDrops {
			known = 1
		}
		s.Intervals = append(s.Intervals, [5]uint64{uint64(r.start), uint64(r.end), r.received, r.drops, known})
	}
	numbers := make(map[*exporter]int, len(e.accounts))
	for _, x := range e.accounts {
		if x.forgotten {
			continue
		}
		numbers[x] = len(s.Exporters)
		s.Exporters = append(s.Exporters, x.state())
	}
	for i := range l.list {
		r := &l.list[i]
		if r.received == 0 {
			continue // it tells of the tables and the store, and these of this process only
		}
		s.Rows = append(s.Rows,
			rowState{numbers[r.x], r.start, r.end, r.known, r.records, r.counts.state(), reasonStates(r.reasons)})
	}
	return s
}

func (x *exporter) state() exporterState {
	s := exporterState{
		Collector: x.key.Collector, Source: x.key.Source, Version: x.key.Version, HWID: x.key.HWID,
		Domain: x.key.Domain,
		Header: x.key.Header, Nodeless: x.nodeless,
		Dialect: x.dialect, Counting: x.counting,
		First: x.first, Last: x.last, Counts: x.counts().state(), Closed: x.closed.state(),
		Bad: reasonStates(x.bad.since(nil)), Unclosed: reasonStates(x.bad.since(x.closedBad)),
	}
	s.Node, _, _ = x.key.Describe()
	if x.hasSequence {
		s.Sequence = &sequenceState{x.moved, x.current.state(), x.before.state(), x.hasRun, x.astray}
	}
	return s
}

func (r *run) state() runState {
	return runState{r.highest, r.restarted, r.away, r.gap, r.span, r.sent, r.arrived, r.window}
}
