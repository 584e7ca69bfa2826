package analyze

import (
	"net/netip"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// Exporters accounts for every datagram of the exporters that one receiver reads: what arrived, what the sequence
// numbers say was lost, what could not be read and why. Its number of entries is bounded; datagrams of exporters beyond
// it are counted together in Overflow.
type Exporters struct {
	mu       sync.Mutex // held by the receiver for a batch, by readers for a snapshot
	max      int
	entries  map[exporterKey]*exporter
	overflow uint64

	samples   int    // of datagrams that break rules
	unsampled uint64 // such datagrams for which there was no place

	// Exporters that were met last, each in the place that its node id says: most datagrams need no look into the map.
	recent [recentExporters]struct {
		key exporterKey
		*exporter
	}
}

const recentExporters = 64

type exporterKey struct {
	source  netip.Addr
	node    uint32
	hwID    uint8
	version telemetry.Version
	hasNode bool
	header  bool // the datagram had a readable header; without it only the source is known
}

type exporter struct {
	sequence
	first, last        int64
	received, reports  uint64
	hasSequence        bool
	dialect            string
	malformed, damaged [wire.NumErrors]uint64
	samples            sampled
}

// NewExporters returns an empty account for at most limit exporters.
func NewExporters(limit int) *Exporters {
	return &Exporters{max: limit, entries: map[exporterKey]*exporter{}}
}

// Observe accounts for a batch of datagrams that arrived at nowNs (nanoseconds since 1970), in order.
func (e *Exporters) Observe(headers []telemetry.Header, nowNs int64) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for i := range headers {
		h := &headers[i]
		key := exporterKey{source: h.Source, node: h.NodeID, hwID: h.HWID, version: h.Version, hasNode: h.HasNodeID, header: h.Dialect != ""}
		if !key.header {
			key = exporterKey{source: h.Source}
		}
		recent := &e.recent[key.node%recentExporters]
		x := recent.exporter
		if x == nil || key != recent.key {
			if x = e.entry(key, h, nowNs); x == nil {
				e.overflow++
				continue
			}
			recent.key, recent.exporter = key, x
		}
		x.last = nowNs
		x.received++
		x.reports += uint64(h.Reports)
		switch h.Outcome {
		case telemetry.Malformed:
			x.malformed[h.Reason]++
			e.sample(x, h)
		case telemetry.Damaged:
			x.damaged[h.Reason]++
			e.sample(x, h)
		}
		if h.HasSequence {
			x.hasSequence = true
			x.observe(h.Sequence)
		}
	}
}

func (e *Exporters) entry(key exporterKey, h *telemetry.Header, nowNs int64) *exporter {
	if x := e.entries[key]; x != nil {
		return x
	}
	if len(e.entries) >= e.max {
		return nil
	}
	x := &exporter{first: nowNs, dialect: h.Dialect, sequence: sequence{bits: uint8(h.Version.SequenceBits())}}
	e.entries[key] = x
	return x
}

// Overflow returns the number of datagrams of exporters that found no place.
func (e *Exporters) Overflow() uint64 {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.overflow
}

// Snapshot appends the state of all exporters to list.
func (e *Exporters) Snapshot(list []telemetry.Exporter) []telemetry.Exporter {
	e.mu.Lock()
	defer e.mu.Unlock()
	for key, x := range e.entries {
		a := telemetry.Exporter{
			Source: key.source, Version: key.version.String(), Dialect: x.dialect,
			First: time.Unix(0, x.first).UTC(), Last: time.Unix(0, x.last).UTC(),
			Received: x.received, Reports: x.reports,
			Reordered: x.Reordered, Duplicate: x.Duplicate, Restarted: x.Restarted,
			Malformed: reasons(&x.malformed), Damaged: reasons(&x.damaged), Samples: x.samples.answer(),
		}
		if key.hasNode {
			node := key.node
			a.Node = &node
		}
		if key.header {
			hw := key.hwID
			a.HWID = &hw
		} else {
			a.Version = ""
		}
		switch {
		case !x.hasSequence:
			a.LossKnown = "no: its reports carry no sequence numbers that count"
		case x.stuck():
			// Every report is a duplicate of the first, which says nothing about duplicates either.
			a.LossKnown, a.Duplicate = "no: its sequence number never changes", 0
		default:
			lost := x.Lost
			a.Lost, a.LossKnown = &lost, "yes"
		}
		list = append(list, a)
	}
	return list
}

func reasons(counts *[wire.NumErrors]uint64) map[string]uint64 {
	m := map[string]uint64{}
	for reason, n := range counts {
		if n > 0 {
			m[wire.Error(reason).Error()] = n
		}
	}
	return m
}
