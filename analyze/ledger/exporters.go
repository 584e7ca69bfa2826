package ledger

import (
	"net/netip"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// Exporters accounts for every datagram of the exporters that one receiver reads: what arrived, what the sequence
// numbers say was lost, what could not be read and why. Its number of entries is bounded: datagrams of exporters beyond
// it are counted with those of their source that have no readable header, and if that has no entry either, in Overflow.
type Exporters struct {
	mu         sync.Mutex // held by the receiver for a batch, by readers for a snapshot
	socket     uint32     // its number, see New
	max        int
	accounts   []*exporter
	entries    map[telemetry.ExporterKey]*exporter // an account may have two keys, see entry
	young      map[netip.Addr]int                  // by source: accounts with one datagram
	candidates map[telemetry.ExporterKey]bool
	overflow   uint64 // datagrams
	unplaced   uint64 // reports in them
	received   uint64 // datagrams, those of overflow too
	reports    uint64 // in them
	repeated   uint64 // of these, reports of datagrams that came again
	ledger     rows

	forgotten         int    // accounts, which keep their places
	forgottenReceived uint64 // datagrams of theirs

	samples   int    // of datagrams that break rules
	unsampled uint64 // such datagrams for which there was no place

	// Exporters that were met last, each in the place that its node id says: most datagrams need no look into the map.
	recent [recentExporters]struct {
		key telemetry.ExporterKey
		*exporter
	}
}

const recentExporters = 64

type exporter struct {
	sequence
	number             uint32 // of the account, from 1 on
	forgotten          bool   // there is nothing else in it
	key                telemetry.ExporterKey
	first, last, gap   int64 // when the first and the latest datagram came, and the latest behind missing ones
	received, reports  uint64
	damaged, malformed uint64
	repeated           uint64 // of reports, those of datagrams that came again
	hasSequence        bool
	counting           telemetry.Counting
	recordsLost        int64               // where records are counted; it falls when some come late
	nodeless           bool                // takes the reports of the source that do not name a node
	contents           *[windowSize]uint32 // hashes of the first datagrams, see isCopy
	dialect            string
	bad                *badCounts // nil if all could be read
	samples            sampled

	disposition Disposition // of the reports
	rowNumber   int         // of the ledger, the latest: as many were there before it
	closed      counts      // when the interval was closed
	closedBad   *badCounts  // nil: nothing
	origin      counts      // when the state was restored
}

// badCounts counts datagrams by the rule that they broke.
type badCounts struct{ damaged, malformed [wire.NumErrors]uint64 }

// NewExporters returns an empty account for at most limit exporters.
func NewExporters(limit int) *Exporters {
	return &Exporters{
		max: limit, entries: map[telemetry.ExporterKey]*exporter{}, young: map[netip.Addr]int{},
		candidates: map[telemetry.ExporterKey]bool{}, ledger: rows{max: rowsFor(limit)},
	}
}

// Observe accounts for a batch of datagrams that arrived at nowNs (nanoseconds since 1970), in order. It sets Account
// of each, and Repeated of those that came again: their reports are for no table. What it returns is for
// Batch.Attribute.
func (e *Exporters) Observe(headers []telemetry.Header, nowNs int64) telemetry.Origin {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.turn(nowNs)
	e.received += uint64(len(headers))
	repeated := 0
	for i := range headers {
		h := &headers[i]
		e.reports += uint64(h.Reports)
		key := telemetry.ExporterKey{
			Collector: h.Collector, Source: h.Source, Node: h.NodeID, HWID: h.HWID, Version: h.Version,
			Domain: h.Domain, HasNode: h.HasNodeID, Header: h.Dialect != "",
		}
		if !key.Header {
			key = telemetry.ExporterKey{Collector: h.Collector, Source: h.Source}
		}
		recent := &e.recent[key.Node%recentExporters]
		x := recent.exporter
		if x == nil || key != recent.key {
			if x = e.entry(key, h, nowNs); x == nil {
				h.Account = 0
				if h.Repeated { // these are in no table, and the others are
					repeated++
					e.repeated += uint64(h.Reports)
				}
				e.overflow++
				e.unplaced += uint64(h.Reports)
				continue
			}
			if x.key.Header == key.Header { // else there may be room for it later
				recent.key, recent.exporter = key, x
			}
		}
		h.Account = x.number
		x.last = nowNs
		x.received++
		if x.received <= 2 && x.key.Header {
			e.aged(x)
		}
		x.reports += uint64(h.Reports)
		if h.Outcome != telemetry.Decoded {
			x.broke(h)
			e.sample(x, h)
		}
		if h.HasSequence && x.key.Header {
			x.hasSequence = true
			if ahead := (h.Sequence - x.current.highest) & x.mask(); ahead > 1 && ahead <= x.mask()/2 {
				x.gap = nowNs
			}
			if x.observe(h.Sequence) && (x.orderly() || x.isCopy(h)) {
				h.Repeated = true
				repeated++
				e.repeated += uint64(h.Reports)
				x.repeated += uint64(h.Reports)
			}
			if (x.contents != nil || x.Unique < windowSize) && !x.stuck() {
				x.noteContent(h)
			}
		} else if h.Repeated {
			repeated++
			e.repeated += uint64(h.Reports)
			x.repeated += uint64(h.Reports)
		}
		if h.Counting != telemetry.CountsDatagrams || x.counting != telemetry.CountsDatagrams {
			x.observeRecords(h, nowNs)
		}
	}
	return telemetry.Origin{
		Socket: e.socket, Turn: e.ledger.turn, Accounts: uint32(len(e.accounts)),
		Repeated: repeated,
	}
}

// observeRecords accounts for what a datagram says of what its number counts, and of records that are missing.
func (x *exporter) observeRecords(h *telemetry.Header, nowNs int64) {
	if !x.key.Header {
		return // of several exporters
	}
	x.counting = h.Counting
	x.recordsLost += h.RecordsMissing
	if h.RecordsMissing > 0 {
		x.gap = nowNs
	}
	if h.RecordsRestarted {
		x.Restarted++
	}
}

// isCopy reports whether a datagram whose number came before is the one that came then. It is what tells duplicates
// among the first datagrams of an exporter, of which nobody knows yet whether their numbers count.
func (x *exporter) isCopy(h *telemetry.Header) bool {
	content := contentOf(h)
	return content != 0 && x.contents != nil && !x.stuck() && x.contents[h.Sequence%windowSize] == content
}

// noteContent remembers a datagram for isCopy, until the numbers tell enough.
func (x *exporter) noteContent(h *telemetry.Header) {
	if x.Unique >= windowSize {
		x.contents = nil
		return
	}
	if x.contents == nil {
		x.contents = &[windowSize]uint32{}
	}
	x.contents[h.Sequence%windowSize] = contentOf(h)
}

// contentOf returns what tells a datagram from others; 0: nothing does.
func contentOf(h *telemetry.Header) uint32 {
	if len(h.Datagram) == 0 {
		return h.Content
	}
	return telemetry.ContentOf(h.Datagram)
}

// broke counts a datagram that broke a rule.
func (x *exporter) broke(h *telemetry.Header) {
	if x.bad == nil {
		x.bad = &badCounts{}
	}
	if h.Outcome == telemetry.Damaged {
		x.damaged++
		x.bad.damaged[h.Reason]++
	} else {
		x.malformed++
		x.bad.malformed[h.Reason]++
	}
}

// entry returns the account of key, a new one if there is room, or nil.
//
// A switch that sends version 0.5 counts all its reports together, but some of them name it and others do not (TR 0.5
// §3.2); so do some programs that send 1.0. So those without a node belong to the first node of that source and
// hardware id, and the other way round. A second node of the same source has an account of its own.
func (e *Exporters) entry(key telemetry.ExporterKey, h *telemetry.Header, nowNs int64) *exporter {
	if x := e.entries[key]; x != nil {
		return x
	}
	nodeless := key
	partlyNamed := key.Header && (h.PartlyNamed || key.Version == telemetry.Version05)
	if partlyNamed {
		nodeless.Node, nodeless.HasNode = 0, false
		if x := e.entries[nodeless]; x != nil && !x.key.HasNode {
			x.key = key
			e.entries[key] = x
			return x
		}
	}
	if key.Header && !e.admits(key) {
		return e.entry(telemetry.ExporterKey{Collector: h.Collector, Source: h.Source}, h, nowNs)
	}
	if e.full(e.max) {
		return nil
	}
	x := &exporter{
		key: key, first: nowNs, dialect: h.Dialect,
		sequence: sequence{bits: uint8(h.Version.SequenceBits())},
	}
	x.nodeless = partlyNamed && e.entries[nodeless] == nil
	e.place(x)
	return x
}

const (
	// maxNew is how many exporters of a source may have sent one datagram only. What noise names is never heard of
	// again: beyond that number an exporter has an account from its second datagram on.
	maxNew        = 32
	maxCandidates = 4096 // exporters that were heard of once, to be told from those that never were
)

// admits reports whether there is room for the exporter with that key. The last eighth is for sources without one.
func (e *Exporters) admits(key telemetry.ExporterKey) bool {
	if e.full(e.max - e.max/8) {
		return false
	}
	if e.young[key.Source] < maxNew || e.candidates[key] {
		delete(e.candidates, key)
		return true
	}
	if len(e.candidates) >= maxCandidates {
		clear(e.candidates)
	}
	e.candidates[key] = true
	return false
}

// aged counts x among those with one datagram, or no longer. What was restored is counted as it goes on.
func (e *Exporters) aged(x *exporter) {
	if x.received == 1 {
		e.young[x.key.Source]++
	} else if n := e.young[x.key.Source]; n > 1 {
		e.young[x.key.Source] = n - 1
	} else {
		delete(e.young, x.key.Source)
	}
}

// place lists an account.
func (e *Exporters) place(x *exporter) {
	e.accounts = append(e.accounts, x)
	x.number = uint32(len(e.accounts))
	e.entries[x.key] = x
	if x.nodeless {
		key := x.key
		key.Node, key.HasNode = 0, false
		e.entries[key] = x
	}
}

// Snapshot appends the state of all exporters to list.
func (e *Exporters) Snapshot(list []telemetry.Exporter) []telemetry.Exporter {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.accounts {
		if !x.forgotten {
			list = append(list, x.answer())
		}
	}
	return list
}

func (x *exporter) answer() telemetry.Exporter {
	n := x.counts().corrected()
	a := telemetry.Exporter{
		Collector: x.key.Collector, Source: x.key.Source, Dialect: x.dialect,
		First: time.Unix(0, x.first).UTC(), Last: time.Unix(0, x.last).UTC(),
		Received: x.received, Reports: x.reports,
		Reordered: n.reordered, Duplicate: n.duplicate, Restarted: n.restarted,
		Malformed: map[string]uint64{}, Damaged: map[string]uint64{}, Samples: x.samples.answer(),
	}
	a.Node, a.HWID, a.Version = x.key.Describe()
	if x.bad != nil {
		a.Malformed, a.Damaged = reasons(&x.bad.malformed), reasons(&x.bad.damaged)
	}
	if a.LossKnown = x.lossKnown(); a.LossKnown == lossIsKnown {
		lost := x.lost()
		a.Lost = &lost
	} else {
		a.Duplicate = 0 // where numbers do not count, nothing tells of duplicates either
	}
	if x.countsRecords() {
		lost := x.lostRecords()
		a.RecordsLost = &lost
	}
	return a
}

// A Total is what the account of an exporter says.
type Total struct {
	Key               telemetry.ExporterKey
	Received, Reports uint64 // datagrams, and reports in them
	Lost              uint64 // as far as LossKnown: datagrams, or records
	Restarted         uint64
	LossKnown         bool
	LostRecords       bool  // Lost are records, and not datagrams
	LastNs            int64 // when the latest datagram came
	GapNs             int64 // when the latest came behind missing ones
}

// Totals appends the total of every account to list. The place of an account does not change; that of one that was
// forgotten is empty.
func (e *Exporters) Totals(list []Total) []Total {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, x := range e.accounts {
		n := Total{
			Key: x.key, Received: x.received, Reports: x.reports, Restarted: x.counts().corrected().restarted,
			LossKnown: x.lossKnown() == lossIsKnown, LastNs: x.last, GapNs: x.gap,
		}
		switch {
		case n.LossKnown:
			n.Lost = x.lost()
		case x.countsRecords():
			n.Lost, n.LossKnown, n.LostRecords = x.lostRecords(), true, true
		}
		list = append(list, n)
	}
	return list
}

// ReportsOf returns how many reports there may have been in so many of what is lost. A lost datagram had as many as
// others of the exporter have, and a record is one.
func (n *Total) ReportsOf(lost uint64) uint64 {
	if n.LostRecords {
		return lost
	}
	return lost * max((n.Reports+n.Received-1)/max(n.Received, 1), 1)
}

// Counters are totals of Exporters.
type Counters struct {
	Exporters       int
	Overflow        uint64 // datagrams of exporters that found no place
	SamplesOverflow uint64 // datagrams that break rules, for which there was no place
	IntervalsEarly  uint64 // intervals of one exporter each, that were dropped before their time
}

// Counters returns totals.
func (e *Exporters) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	return Counters{len(e.accounts) - e.forgotten, e.overflow, e.unsampled, e.ledger.early}
}

const lossIsKnown = "yes"

// lossKnown returns lossIsKnown, or why the loss is not known.
func (x *exporter) lossKnown() string {
	switch {
	case x.countsRecords():
		return "no: its sequence numbers count records: see records_lost"
	case x.counting == telemetry.CountsUnsettled:
		return "no: it is not known yet what its sequence numbers count"
	case x.counting == telemetry.CountsChanged:
		return "no: what its sequence numbers count has changed"
	case !x.hasSequence:
		return "no: its reports carry no sequence numbers that count"
	case x.wild():
		return "no: its sequence numbers follow no order"
	case x.stuck():
		return "no: its sequence number never changes"
	}
	return lossIsKnown
}

// countsRecords reports whether the sequence numbers are known to count records.
func (x *exporter) countsRecords() bool { return x.counting == telemetry.CountsRecords }

// lostRecords returns how many records are missing, where they are counted.
func (x *exporter) lostRecords() uint64 { return uint64(max(x.recordsLost, 0)) }

func reasons(counts *[wire.NumErrors]uint64) map[string]uint64 {
	m := map[string]uint64{}
	for reason, n := range counts {
		if n > 0 {
			m[wire.Error(reason).Error()] = n
		}
	}
	return m
}
