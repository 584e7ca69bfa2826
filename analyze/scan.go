package analyze

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/checksum"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Scanner finds events by looking at what the tables have counted since its last look, once a second. So most events
// cost a report nothing, and begin and end as exactly as that. For bursts and clocks shards set some packets aside,
// which it takes ten times a second.
type Scanner struct {
	// Delivered returns up to when, nanoseconds since 1970, all that arrived was handed to the shards; nowNs is now.
	// Set it before Scan; nil: up to now. The search for bursts waits for receivers that are behind.
	Delivered func(nowNs int64) int64

	scan
	detectors []detector
	seen      observation // memory that goes round

	paths, pathsBefore map[pathPlace]uint64 // packets at this scan, and at the one before
	hops, hopsBefore   int                  // of all paths that carried something, the same
	drops              map[dropPlace]uint64 // at the last scan

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
	collector *Collector
	log       *eventlog.Log
	nowNs     int64
	lastNs    int64  // the scan before
	beforeNs  int64  // the scan before that
	leftOut   uint64 // links, groups and flows for which there was no room in this scan
}

// A detector finds events of some kinds. In each scan all of them begin, observe one shard after the other, and finish,
// in the order of their list: a detector may ask those before it what they found.
type detector interface {
	begin()               // a scan, and forget what is of the scan before
	observe(*observation) // of a shard, which is locked
	finish()              // the scan, and note what was found
}

// An observation is what a shard counted since the last scan.
type observation struct {
	*Shard
	paths []carriedPath
	left  []*path // that flows left for others
	drops []drop.Packets
}

// A carriedPath is a path that carried packets.
type carriedPath struct {
	*path
	place int
	n     uint64
}

const (
	// ScanNs is how often a Scanner looks at the tables, in nanoseconds.
	ScanNs = int64(time.Second)
	// TickNs is how often Scan should be called: queues are looked at each time.
	TickNs = ScanNs / 10
)

// quietNs is how long nothing happens before an event is over.
const quietNs = 3 * int64(time.Second)

// quietOf are the kinds of events that end when nothing happens for so long. Who finds the others ends them.
var quietOf = map[telemetry.EventKind]int64{
	telemetry.EventLoop: quietNs, telemetry.EventDropStorm: quietNs, telemetry.EventPathChange: quietNs,
	telemetry.EventReportLoss: quietNs, telemetry.EventHopLimit: quietNs, telemetry.EventMTUExceeded: quietNs,
	telemetry.EventHopWithoutINT: quietNs, telemetry.EventMalformed: quietNs,
	telemetry.EventUnexpectedNode: quietNs, telemetry.EventPathNotAllowed: quietNs,
	telemetry.EventWaypointMissed: quietNs, telemetry.EventImplausible: quietNs,
	telemetry.EventDuplicateNode: quietNs, telemetry.EventContradiction: quietNs, telemetry.EventNewFlow: quietNs,
	telemetry.EventECMPImbalance: quietNs, telemetry.EventGrayFailure: loss.QuietNs,
	telemetry.EventBlackhole: quietNs + ScanNs, // a silent one is noted a scan later
}

// A pathPlace is a path in the table of a shard, until it gives way to another.
type pathPlace struct {
	shard      *Shard
	place      int
	generation uint16
}

// A dropPlace is a row in the table of drops of a shard.
type dropPlace struct {
	shard *Shard
	drop.Key
}

// NewScanner returns a Scanner that looks at c and writes to log.
func NewScanner(c *Collector, log *eventlog.Log) *Scanner {
	if c.Timing == nil {
		c.Timing = timing.New()
	}
	if c.Losses == nil {
		c.Losses = &loss.Estimates{}
	}
	s := &Scanner{
		scan:  scan{collector: c, log: log},
		paths: map[pathPlace]uint64{}, pathsBefore: map[pathPlace]uint64{}, drops: map[dropPlace]uint64{},
		bursts: burst.NewSearch(burst.ConfigFor(16 << 20)), slow: timing.SlowPlaces{},
		away: map[uint32]int64{},
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

// Scan looks at queues, and at the tables if it is time. It locks one shard after the other, for short whiles.
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
	s.pathsBefore, s.paths = s.paths, s.pathsBefore
	clear(s.paths)
	s.hopsBefore, s.hops = s.hops, 0
	for _, d := range s.detectors {
		d.begin()
	}
	for _, shard := range s.collector.Shards {
		s.observe(shard)
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

// observe shows a shard to the detectors, and lets it count anew.
func (s *Scanner) observe(shard *Shard) {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.scanNs, shard.hits = s.nowNs, 0
	o := &s.seen
	*o = observation{shard, o.paths[:0], o.left[:0], o.drops[:0]}
	for i := range shard.paths.paths {
		p := &shard.paths.paths[i]
		if !p.used {
			continue
		}
		key := pathPlace{shard, i, p.generation}
		packets := p.packets + p.incomplete
		n := packets - s.pathsBefore[key]
		s.paths[key] = packets
		p.skip = timing.Skip(n, s.hopsBefore)
		if p.sinceScan.left > 0 {
			o.left = append(o.left, p)
		}
		if n > 0 {
			s.hops += len(p.hops)
			o.paths = append(o.paths, carriedPath{p, i, n})
		}
	}
	for key, d := range shard.drops.Drops {
		place := dropPlace{shard, key}
		if n := d.Packets - s.drops[place]; n > 0 {
			s.drops[place] = d.Packets
			o.drops = append(o.drops, shard.drops.SinceScan(&key, n))
		}
	}
	for _, d := range s.detectors {
		d.observe(o)
	}
	for _, p := range o.left {
		p.sinceScan.left = 0
	}
	for i := range o.paths {
		o.paths[i].sinceScan = pathWindow{}
	}
}

// hit adds to the extent of an event that goes on.
func (s *scan) hit(key eventlog.Key, more *telemetry.Extent) {
	s.log.Amend(key, func(e *telemetry.Event) { e.Extent = e.Extent.Plus(more) })
}

func (s *scan) name(node uint32) string {
	if name := s.collector.Names()[node]; name != "" {
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
	if name := s.collector.Inventory().Port(&node, &port).Name; name != "" {
		return name
	}
	return fmt.Sprint("port ", port)
}

// at makes an element the subject of an event.
func (s *scan) at(e *telemetry.Event, at *topology.HopKey) {
	a := at.Answer(s.collector.Names())
	e.Node, e.Name, e.Port = a.Node, a.Name, a.EgressPort
	e.PortName = s.collector.Inventory().Port(e.Node, e.Port).Name
}

// to makes an element the other end of the subject.
func (s *scan) to(e *telemetry.Event, to *topology.HopKey) {
	a := to.Answer(s.collector.Names())
	e.ToNode, e.ToName, e.ToPort = a.Node, a.Name, a.IngressPort
	e.ToPortName = s.collector.Inventory().Port(e.ToNode, e.ToPort).Name
}

// betweenEnds makes a link the subject of an event.
func (s *scan) betweenEnds(e *telemetry.Event, k topology.LinkKey) {
	s.at(e, &topology.HopKey{Node: k.From, Out: k.FromPort, Has: telemetry.HasNode | k.Has&telemetry.HasEgressPort})
	s.to(e, &topology.HopKey{Node: k.To, In: k.ToPort, Has: telemetry.HasNode | k.Has&telemetry.HasIngressPort})
}
