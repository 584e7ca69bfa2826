package analyze

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// A State is what outlives a restart: the accounts of exporters with their sequences, the ledger, and the events. It is
// written as JSON; StateVersion changes when a reader of before would misread it.
type State struct {
	SavedAt time.Time           `json:"saved_at"`
	Sockets []socketState       `json:"sockets"`
	Gaps    []telemetry.LossGap `json:"gaps"`
	Events  eventState          `json:"events"`
}

// StateVersion is the version of State.
const StateVersion = 1

type socketState struct {
	Listen    string          `json:"listen"`
	Received  uint64          `json:"received"`
	Unplaced  [2]uint64       `json:"unplaced"` // datagrams, reports
	Drops     [2]uint64       `json:"drops"`    // now, and when the interval was closed
	Counted   bool            `json:"counted"`  // the system counts them
	Early     uint64          `json:"early"`
	OpensNs   int64           `json:"opens"`
	Closed    uint64          `json:"closed"`
	Intervals [][5]uint64     `json:"intervals"` // start, end, received, drops, whether they are known
	Exporters []exporterState `json:"exporters"`
	Rows      []rowState      `json:"rows"`
}

type exporterState struct {
	Source   netip.Addr        `json:"source"`
	Version  telemetry.Version `json:"version"`
	Node     *uint32           `json:"node"`
	HWID     uint8             `json:"hw_id"`
	Header   bool              `json:"header"`
	Nodeless bool              `json:"nodeless"`
	Dialect  string            `json:"dialect"`
	First    int64             `json:"first"`
	Last     int64             `json:"last"`
	Counts   countState        `json:"counts"`
	Closed   countState        `json:"closed"`
	Bad      []reasonState     `json:"bad"`
	Unclosed []reasonState     `json:"unclosed"` // of these, in the interval that was open
	Sequence *sequenceState    `json:"sequence"` // nil: its numbers do not count
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

// countState are counts: received, reports, damaged, malformed, sent, unique, late, away, duplicate, reordered, restarted, and
// as two's complements what was revised: sent, arrived, away, restarted; repeated.
type countState [16]uint64

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
	Counts   countState    `json:"c"`
	Reasons  []reasonState `json:"r,omitempty"`
}

func (c counts) state() countState {
	return countState{
		c.received, c.reports, c.damaged, c.malformed, c.sent, c.unique, c.late, c.away, c.duplicate, c.reordered, c.restarted,
		uint64(c.revised.sent), uint64(c.revised.arrived), uint64(c.revised.away), uint64(c.revised.restarted), c.repeated,
	}
}

func (s *countState) counts() counts {
	return counts{
		received: s[0], reports: s[1], damaged: s[2], malformed: s[3],
		sent: s[4], unique: s[5], late: s[6], away: s[7], duplicate: s[8], reordered: s[9], restarted: s[10],
		revised:  revision{int64(s[11]), int64(s[12]), int64(s[13]), int64(s[14])},
		repeated: s[15],
	}
}

func reasonStates(list []reasonCount) []reasonState {
	states := make([]reasonState, len(list))
	for i, r := range list {
		states[i] = reasonState{r.reason.Error(), r.damaged, r.n}
	}
	return states
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

// State returns what is to outlive a restart, as it is at nowNs. The locks are taken one after the other.
func (l *Ledger) State(log *EventLog, nowNs int64) *State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := &State{SavedAt: time.Unix(0, nowNs).UTC(), Gaps: slices.Clone(l.gaps), Events: log.state()}
	for i, e := range l.collector.Exporters {
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
	s := socketState{Received: e.received, Unplaced: [2]uint64{e.overflow, e.unplaced}, Early: l.early, OpensNs: l.opensNs, Closed: l.closed}
	for _, r := range l.sockets {
		known := uint64(0)
		if r.hasDrops {
			known = 1
		}
		s.Intervals = append(s.Intervals, [5]uint64{uint64(r.start), uint64(r.end), r.received, r.drops, known})
	}
	numbers := make(map[*exporter]int, len(e.accounts))
	for i, x := range e.accounts {
		numbers[x] = i
		s.Exporters = append(s.Exporters, x.state())
	}
	for i := range l.rows {
		r := &l.rows[i]
		if r.received == 0 {
			continue // it tells of the tables and the store, and these of this process only
		}
		s.Rows = append(s.Rows, rowState{numbers[r.x], r.start, r.end, r.known, r.counts.state(), reasonStates(r.reasons)})
	}
	return s
}

func (x *exporter) state() exporterState {
	s := exporterState{
		Source: x.key.source, Version: x.key.version, HWID: x.key.hwID, Header: x.key.header, Nodeless: x.nodeless, Dialect: x.dialect,
		First: x.first, Last: x.last, Counts: x.counts().state(), Closed: x.closed.state(),
		Bad: reasonStates(x.bad.since(nil)), Unclosed: reasonStates(x.bad.since(x.closedBad)),
	}
	s.Node, _, _ = x.key.answer()
	if x.hasSequence {
		s.Sequence = &sequenceState{x.moved, x.current.state(), x.before.state(), x.hasRun, x.astray}
	}
	return s
}

func (r *run) state() runState {
	return runState{r.highest, r.restarted, r.away, r.gap, r.span, r.sent, r.arrived, r.window}
}

func (s *runState) run() run {
	return run{highest: s.Highest, restarted: s.Restarted, away: s.Away, gap: s.Gap, span: s.Span, sent: s.Sent, arrived: s.Arrived, window: s.Window}
}

// Restore puts a State back at nowNs, before anything is received: accounts go on where they were, what they counted in the
// interval that was open is closed with it, and the time in between is a gap. socketOf returns the number of the socket
// that the kernel gives the datagrams of a source to, of those of a listen address; false if it is no longer listened on.
// It returns how many accounts found no place.
func (l *Ledger) Restore(s *State, log *EventLog, nowNs int64, socketOf func(listen string, source netip.Addr) (int, bool)) (left int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gaps = append(slices.Clone(s.Gaps), telemetry.LossGap{From: s.SavedAt, To: time.Unix(0, nowNs).UTC()})
	l.gaps = l.gaps[max(0, len(l.gaps)-maxGaps):]
	for i := range s.Sockets {
		left += l.restoreSocket(&s.Sockets[i], s.SavedAt.UnixNano(), socketOf)
	}
	for _, e := range l.collector.Exporters {
		slices.SortStableFunc(e.ledger.rows, func(a, b ledgerRow) int { return cmp.Compare(a.end, b.end) })
		slices.SortStableFunc(e.ledger.sockets, func(a, b socketRow) int { return cmp.Compare(a.end, b.end) })
		e.ledger.closed = e.received
	}
	log.restore(&s.Events, nowNs)
	return left
}

// restoreSocket puts the accounts of a socket to the sockets that have their sources now. What is of the socket itself goes to
// the first of them.
func (l *Ledger) restoreSocket(s *socketState, savedNs int64, socketOf func(string, netip.Addr) (int, bool)) (left int) {
	accounts := make([]*exporter, len(s.Exporters)) // nil: no place
	home := make([]*Exporters, len(s.Exporters))
	for i := range s.Exporters {
		number, ok := socketOf(s.Listen, s.Exporters[i].Source)
		if !ok || len(l.collector.Exporters[number].accounts) >= l.collector.Exporters[number].max {
			left++
			continue
		}
		home[i] = l.collector.Exporters[number]
		accounts[i] = s.Exporters[i].exporter()
		home[i].place(accounts[i])
	}
	for i := range s.Rows {
		r := &s.Rows[i]
		if r.Exporter < 0 || r.Exporter >= len(accounts) || accounts[r.Exporter] == nil {
			continue
		}
		home[r.Exporter].ledger.add(ledgerRow{
			x: accounts[r.Exporter], start: r.Start, end: r.End, counts: r.Counts.counts(), known: r.Known, reasons: reasonCounts(r.Reasons),
		})
	}
	for i, x := range accounts {
		if now := s.Exporters[i].Counts.counts(); x != nil && now.received != s.Exporters[i].Closed.counts().received {
			home[i].ledger.add(ledgerRow{
				x: x, start: s.OpensNs, end: savedNs, counts: now.minus(s.Exporters[i].Closed.counts()),
				known: x.lossKnown() == lossIsKnown, reasons: reasonCounts(s.Exporters[i].Unclosed),
			})
		}
	}
	number, ok := socketOf(s.Listen, netip.Addr{})
	if !ok {
		return left
	}
	e := l.collector.Exporters[number]
	e.received += s.Received
	e.overflow += s.Unplaced[0]
	e.unplaced += s.Unplaced[1]
	e.ledger.early += s.Early
	l.drops[number].before += s.Drops[0]
	for _, r := range s.Intervals {
		e.ledger.sockets = append(e.ledger.sockets, socketRow{int64(r[0]), int64(r[1]), r[2], r[3], r[4] != 0})
	}
	if s.OpensNs != 0 {
		e.ledger.sockets = append(e.ledger.sockets, socketRow{s.OpensNs, savedNs, s.Received - s.Closed, s.Drops[0] - s.Drops[1], s.Counted})
	}
	return left
}

// exporter returns the account, with a sequence that goes on.
func (s *exporterState) exporter() *exporter {
	n := s.Counts.counts()
	x := &exporter{
		key:   exporterKey{source: s.Source, hwID: s.HWID, version: s.Version, header: s.Header},
		first: s.First, last: s.Last, dialect: s.Dialect, nodeless: s.Nodeless,
		received: n.received, reports: n.reports, repeated: n.repeated, damaged: n.damaged, malformed: n.malformed,
		closed: n, origin: n,
		sequence: sequence{
			bits: uint8(s.Version.SequenceBits()),
			Sent: n.sent, Unique: n.unique, Late: n.late, Away: n.away, Duplicate: n.duplicate, Reordered: n.reordered, Restarted: n.restarted,
			revised: n.revised,
		},
	}
	if s.Node != nil {
		x.key.node, x.key.hasNode = *s.Node, true
	}
	if q := s.Sequence; q != nil {
		x.hasSequence, x.started, x.resumed = true, true, true
		x.moved, x.current, x.before, x.ended, x.astray = q.Moved, q.Current.run(), q.Before.run(), q.Before.Highest, q.Astray
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

type eventState struct {
	Open     []openState       `json:"open"`
	Over     []telemetry.Event `json:"over"` // the oldest first
	Ended    uint64            `json:"ended"`
	Overflow uint64            `json:"overflow"`
}

type openState struct {
	Event telemetry.Event `json:"event"`
	Last  int64           `json:"last"`
	Key   eventKeyState   `json:"key"`
}

// An eventKeyState is an eventKey; the test fails if a field is missing.
type eventKeyState struct {
	Kind    telemetry.EventKind `json:"kind"`
	Node    uint32              `json:"node"`
	Port    uint32              `json:"port"`
	Queue   uint8               `json:"queue"`
	Reason  uint8               `json:"reason"`
	ToNode  uint32              `json:"to_node"`
	ToPort  uint32              `json:"to_port"`
	Rule    int32               `json:"rule,omitempty"`
	Unnamed bool                `json:"unnamed,omitempty"`
	Source  netip.Addr          `json:"source"`
	XNode   uint32              `json:"x_node"`
	HWID    uint8               `json:"hw_id"`
	Version telemetry.Version   `json:"version"`
	HasNode bool                `json:"has_node"`
	Header  bool                `json:"header"`
}

func (k *eventKey) state() eventKeyState {
	x := &k.exporter
	return eventKeyState{
		k.kind, k.node, k.port, k.queue, k.reason, k.toNode, k.toPort, k.rule, k.unnamed,
		x.source, x.node, x.hwID, x.version, x.hasNode, x.header,
	}
}

func (s *eventKeyState) key() eventKey {
	return eventKey{
		kind: s.Kind, node: s.Node, port: s.Port, queue: s.Queue, reason: s.Reason, toNode: s.ToNode, toPort: s.ToPort, rule: s.Rule, unnamed: s.Unnamed,
		exporter: exporterKey{source: s.Source, node: s.XNode, hwID: s.HWID, version: s.Version, hasNode: s.HasNode, header: s.Header},
	}
}

func (l *EventLog) state() eventState {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := eventState{Ended: l.ended, Overflow: l.overflow, Over: l.endedSince(0)}
	for key, e := range l.open {
		s.Open = append(s.Open, openState{e.Event, e.last, key.state()})
	}
	return s
}

// restore puts events back. What goes on has graceNs to be noted again, else it was over when it was noted last.
func (l *EventLog) restore(s *eventState, nowNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.overflow = s.Overflow
	l.ended = s.Ended - min(s.Ended, uint64(len(s.Over)))
	for i := range s.Over {
		if s.Over[i].Kind < telemetry.NumEventKinds {
			l.keep(s.Over[i])
		}
	}
	l.restored = map[eventKey]bool{}
	l.graceNs = nowNs + graceNs
	for i := range s.Open {
		if len(l.open) >= l.max {
			l.overflow++
			continue
		}
		o := &s.Open[i]
		key := o.Key.key()
		if key.kind >= telemetry.NumEventKinds {
			continue
		}
		l.open[key] = &openEvent{o.Event, o.Last}
		l.kinds[key.kind]++
		l.restored[key] = true
	}
}

// graceNs is how long an event that was restored may take to be noted again: the tables begin anew.
const graceNs = 10 * int64(time.Second)

// endForgotten ends the restored events that nobody noted within graceNs. A lost link is not noted any more, as nobody knows
// that there was one; its event ends when the link is seen again.
func (l *EventLog) endForgotten(nowNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.restored) == 0 || nowNs < l.graceNs {
		return
	}
	for key := range maps.Keys(l.restored) {
		if e := l.open[key]; e != nil && key.kind != telemetry.EventLinkLost {
			l.close(key, e, e.last)
		}
	}
	l.restored = nil
}
