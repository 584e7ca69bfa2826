// Package scan finds events by looking at what was counted of flows since the last look, once a second: loops, lost
// links, blackholes, attacks. What it looks at are values, which owners of flows give it; it knows no table.
package scan

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/checksum"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Scanner finds events by looking at what owners have counted since its last look, once a second. So most events cost
// a report nothing, and begin and end as exactly as that. For bursts and clocks owners set some packets aside, which it
// takes ten times a second.
type Scanner struct {
	// Delivered returns up to when, nanoseconds since 1970, all that arrived was handed to the owners; nowNs is now.
	// Set it before Scan; nil: up to now. The search for bursts waits for receivers that are behind.
	Delivered func(nowNs int64) int64

	scan
	detectors []detector

	hops, hopsBefore int // of all paths that carried something since the last scan, and before it

	bursts    *burst.Search
	kept      *burst.Log       // may be nil
	samples   []burst.Sample   // memory that goes round
	unsampled uint64           // packets at long queues for which there was no room
	away      map[uint32]int64 // how far the clocks of nodes are off, of those that are far off

	attacks *attackDetector // nil: nobody asks for them

	transits timing.Packets // memory that goes round
	slow     timing.SlowPlaces
}

// A scan is what detectors have in common.
type scan struct {
	source   *Source
	log      *eventlog.Log
	nowNs    int64
	lastNs   int64  // the scan before
	beforeNs int64  // the scan before that
	leftOut  uint64 // links, groups and flows for which there was no room in this scan
}

// A detector finds events of some kinds. In each scan all of them begin, observe one owner after the other, and finish,
// in the order of their list: a detector may ask those before it what they found.
type detector interface {
	begin()               // a scan, and forget what is of the scan before
	observe(*Observation) // of an owner
	finish()              // the scan, and note what was found
}

// A Source is what a Scanner looks at.
type Source struct {
	Owners    []Owner
	Exporters []*ledger.Exporters // of all reports that owners got
	Timing    *timing.Timing
	Losses    *loss.Estimates
	Known
}

// Known is what is known of the network besides, as it is now.
type Known interface {
	Names() map[uint32]string
	Inventory() *telemetry.Inventory
	Sampling() map[uint32]telemetry.SampleRate  // of nodes, by the configuration
	QueueUnits() map[uint32]telemetry.QueueUnit // the same
	// SampleRates returns at which rates nodes choose packets, by the configuration or by what they report.
	SampleRates() func(node uint32) telemetry.SampleRate
	ExporterList() []telemetry.Exporter
}

const (
	// ScanNs is how often a Scanner looks at the tables, in nanoseconds.
	ScanNs = int64(time.Second)
	// TickNs is how often Scan should be called: queues are looked at each time.
	TickNs = ScanNs / 10
)

// QuietNs is how long nothing happens before an event is over.
const QuietNs = 3 * int64(time.Second)

// quietPathNs is the same of what paths show: postcards wait for each other for half a second, up to the next tick.
const quietPathNs = QuietNs + 6*TickNs

// quietOf are the kinds of events that end when nothing happens for so long. Who finds the others ends them.
var quietOf = map[telemetry.EventKind]int64{
	telemetry.EventLoop: quietPathNs, telemetry.EventPathChange: quietPathNs, telemetry.EventNewFlow: quietPathNs,
	telemetry.EventDropStorm:  QuietNs,
	telemetry.EventReportLoss: QuietNs, telemetry.EventHopLimit: QuietNs, telemetry.EventMTUExceeded: QuietNs,
	telemetry.EventHopWithoutINT: QuietNs, telemetry.EventMalformed: QuietNs,
	telemetry.EventUnexpectedNode: QuietNs, telemetry.EventPathNotAllowed: QuietNs,
	telemetry.EventWaypointMissed: QuietNs, telemetry.EventImplausible: QuietNs,
	telemetry.EventDuplicateNode: QuietNs, telemetry.EventContradiction: QuietNs,
	telemetry.EventECMPImbalance: QuietNs, telemetry.EventGrayFailure: loss.QuietNs,
	telemetry.EventBlackhole: QuietNs + ScanNs, // a silent one is noted a scan later
}

// New returns a Scanner that looks at source and writes to log.
func New(source Source, log *eventlog.Log) *Scanner {
	s := &Scanner{
		scan: scan{source: &source, log: log}, bursts: burst.NewSearch(burst.ConfigFor(16 << 20)),
		slow: timing.SlowPlaces{}, away: map[uint32]int64{},
	}
	exporters := newExporterDetector(&s.scan)
	twins := &twinDetector{scan: &s.scan, exporters: exporters, scans: map[uint32]int{}}
	storms := &stormDetector{
		scan: &s.scan, storms: map[eventlog.Key]drop.Storm{}, before: map[eventlog.Key]drop.Storm{},
	}
	links := newLinkDetector(&s.scan)
	gray := newGrayDetector(&s.scan, links, exporters)
	streams := newStreamDetector(&s.scan, gray)
	s.detectors = []detector{
		twins,
		storms,
		newLoopDetector(&s.scan, twins),
		links,
		&changeDetector{scan: &s.scan, links: links},
		exporters,
		&findingDetector{&s.scan, links, exporters, map[eventlog.Key]*finding.Sum{}},
		&checksumDetector{scan: &s.scan, headers: checksum.Histories{}},
		&newFlowDetector{scan: &s.scan},
		newBlackholeDetector(&s.scan, storms),
		gray,
		streams,
		newSilenceDetector(&s.scan, exporters, links),
		newLossDetector(&s.scan, links, gray, streams),
		newGroupDetector(&s.scan, links, storms),
	}
	return s
}

// Scan looks at queues, and at all that was counted if it is time.
func (s *Scanner) Scan(nowNs int64) {
	if s.attacks != nil {
		s.attacks.look(nowNs)
	}
	s.scanQueues(nowNs)
	s.scanTiming(nowNs)
	if s.lastNs == 0 {
		s.beforeNs, s.lastNs = nowNs, nowNs
	}
	if nowNs-s.lastNs < ScanNs {
		return
	}
	s.nowNs, s.leftOut = nowNs, 0
	s.hopsBefore, s.hops = s.hops, 0
	for _, d := range s.detectors {
		d.begin()
	}
	for _, owner := range s.source.Owners {
		s.observe(owner)
	}
	for _, d := range s.detectors {
		d.finish()
	}
	for kind, quiet := range quietOf {
		s.log.EndQuiet(kind, nowNs-quiet)
	}
	s.log.EndRestored(nowNs)
	s.log.AddUnwatched(s.leftOut)
	s.keepOpenBursts(nowNs)
	s.beforeNs, s.lastNs = s.lastNs, nowNs
}

// observe shows the detectors what an owner counted.
func (s *Scanner) observe(owner Owner) {
	o := owner.Observe(s.nowNs, s.hopsBefore)
	for i := range o.Paths {
		s.hops += len(o.Paths[i].Hops)
	}
	s.leftOut += o.LeftOut
	for _, d := range s.detectors {
		d.observe(o)
	}
}

// hit adds to the extent of an event that goes on.
func (s *scan) hit(key eventlog.Key, more *telemetry.Extent) {
	s.log.Amend(key, func(e *telemetry.Event) { e.Extent = e.Extent.Plus(more) })
}

func (s *scan) name(node uint32) string {
	if name := s.source.Names()[node]; name != "" {
		return name
	}
	return fmt.Sprint("node ", node)
}

// portText returns the name of the node at an element, and the port by which packets left it.
func (s *scan) portText(at *topology.HopKey) string {
	text := s.place(at.Node, at.Has)
	if at.Has&telemetry.HasEgressPort != 0 {
		text += " " + s.portName(at.Node, at.Out)
	}
	return text
}

// portName returns the name of a port, or its number.
func (s *scan) portName(node, port uint32) string {
	if name := s.source.Inventory().Port(&node, &port).Name; name != "" {
		return name
	}
	return fmt.Sprint("port ", port)
}

// at makes an element the subject of an event.
func (s *scan) at(e *telemetry.Event, at *topology.HopKey) {
	a := at.Answer(s.source.Names())
	e.Node, e.Name, e.Port = a.Node, a.Name, a.EgressPort
	e.PortName = s.source.Inventory().Port(e.Node, e.Port).Name
}

// to makes an element the other end of the subject.
func (s *scan) to(e *telemetry.Event, to *topology.HopKey) {
	a := to.Answer(s.source.Names())
	e.ToNode, e.ToName, e.ToPort = a.Node, a.Name, a.IngressPort
	e.ToPortName = s.source.Inventory().Port(e.ToNode, e.ToPort).Name
}

// betweenEnds makes a link the subject of an event.
func (s *scan) betweenEnds(e *telemetry.Event, k topology.LinkKey) {
	s.at(e, &topology.HopKey{Node: k.From, Out: k.FromPort, Has: telemetry.HasNode | k.Has&telemetry.HasEgressPort})
	s.to(e, &topology.HopKey{Node: k.To, In: k.ToPort, Has: telemetry.HasNode | k.Has&telemetry.HasIngressPort})
}
