package analyze

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A Scanner finds events by looking at what the tables have counted since its last look, once a second. So most events
// cost a report nothing, and begin and end as exactly as that. For bursts and clocks shards set some packets aside,
// which it takes ten times a second.
type Scanner struct {
	collector *Collector
	log       *eventlog.Log
	lastNs    int64
	beforeNs  int64 // the scan before that at lastNs

	paths, pathsBefore map[pathPlace]uint64 // packets at this scan, and at the one before
	links              map[linkKey]*linkWatch
	departures         []departure        // the latest
	back               map[linkKey]outage // links that were known to be down and carry packets again
	// ports whose link is down, by what they dropped: the latest scan that says so
	cuts      map[dropEnd]int64
	drops     map[dropPlace]uint64 // at the last scan
	storms    map[eventlog.Key]dropStorm
	exporters [][]exporterCount // by their place in the collector, and by account

	active map[uint32]uint64 // node: packets since the last scan
	// that the last scan found, and wait for this one to see what the old link carries after it
	changes map[changeKey]*change

	findings map[eventlog.Key]foundNow // of this scan
	headers  map[checksumKey]*headerHistory
	broken   map[brokenKey]uint64 // datagrams at the last scan

	faults faults // what the last scan found on paths, see take

	bursts    *burst.Search
	kept      *burst.Log     // may be nil
	samples   []burst.Sample // memory that goes round
	unsampled uint64         // packets at long queues for which there was no room

	transits transitList                 // memory that goes round
	slow     map[eventlog.Key]*slowPlace // by the key of their event
	twins    map[uint32]int              // nodes whose id several devices have: in how many scans in a row
	// Hops of all paths that carried something, at this scan and at the one before.
	hops, hopsBefore int
}

const (
	// ScanNs is how often a Scanner looks at the tables, in nanoseconds.
	ScanNs = int64(time.Second)
	// TickNs is how often Scan should be called: queues are looked at each time.
	TickNs = ScanNs / 10
)

const (
	// A drop storm is so many drops a second at one place, for one reason.
	stormDrops = 20
	// quietNs is how long nothing happens before an event is over.
	quietNs = 3 * int64(time.Second)
	// maxLinks bounds the links that are remembered between scans. All else is as bounded as the tables.
	maxLinks = 1 << 16
)

// A linkKey is a link as two hops next to each other show it.
type linkKey struct {
	from, to         uint32
	fromPort, toPort uint32
	has              telemetry.Fields // the egress port of from, the ingress port of to
}

func linkOf(a, b *station) (k linkKey, ok bool) {
	if a.has&telemetry.HasNode == 0 || b.has&telemetry.HasNode == 0 {
		return k, false
	}
	if a.node == b.node && b.has&telemetry.HasDrop != 0 {
		return k, false // a drop at the node that came last is the same visit
	}
	k = linkKey{from: a.node, to: b.node, has: a.has&telemetry.HasEgressPort | b.has&telemetry.HasIngressPort}
	if k.has&telemetry.HasEgressPort != 0 {
		k.fromPort = a.out
	}
	if k.has&telemetry.HasIngressPort != 0 {
		k.toPort = b.in
	}
	return k, true
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
	dropKey
}

// An exporterCount is what the account of an exporter said at the last scan.
type exporterCount struct {
	ledger.Total
	told         uint64 // of Lost: those that an event tells of
	restartsTold uint64 // of Restarted, the same
}

// NewScanner returns a Scanner that looks at c and writes to log.
func NewScanner(c *Collector, log *eventlog.Log) *Scanner {
	if c.Timing == nil {
		c.Timing = NewTiming()
	}
	s := &Scanner{
		collector: c, log: log, paths: map[pathPlace]uint64{}, pathsBefore: map[pathPlace]uint64{},
		links: map[linkKey]*linkWatch{}, back: map[linkKey]outage{}, cuts: map[dropEnd]int64{},
		drops: map[dropPlace]uint64{}, storms: map[eventlog.Key]dropStorm{},
		changes: map[changeKey]*change{}, active: map[uint32]uint64{},
		bursts: burst.NewSearch(burst.ConfigFor(16 << 20)),
		slow:   map[eventlog.Key]*slowPlace{}, twins: map[uint32]int{}, findings: map[eventlog.Key]foundNow{},
		headers: map[checksumKey]*headerHistory{}, broken: map[brokenKey]uint64{}, faults: newFaults(),
	}
	// What was lost or broken before a restart is no news.
	for _, e := range c.Exporters {
		var counts []exporterCount
		for _, n := range e.Totals(nil) {
			counts = append(counts, exporterCount{n, n.Lost, n.Restarted})
		}
		s.exporters = append(s.exporters, counts)
	}
	for _, x := range c.ExporterList() {
		for reason, n := range brokenBy(&x) {
			s.broken[brokenKeyOf(&x, reason)] = n
		}
	}
	return s
}

// Scan looks at queues, and at the tables if it is time. It locks one shard after the other, for short whiles.
func (s *Scanner) Scan(nowNs int64) {
	s.scanQueues(nowNs)
	s.scanTiming(nowNs)
	if s.lastNs == 0 {
		s.beforeNs, s.lastNs = nowNs, nowNs
	}
	if nowNs-s.lastNs < ScanNs {
		return
	}
	clear(s.active)
	s.pathsBefore, s.paths = s.paths, s.pathsBefore
	clear(s.paths)
	clear(s.storms)
	s.hopsBefore, s.hops = s.hops, 0
	s.faults.begin()
	s.scanNodeIDs(nowNs)
	for _, shard := range s.collector.Shards {
		s.scanPaths(shard, nowNs)
		s.scanDrops(shard, nowNs)
	}
	s.noteStorms(nowNs)
	s.scanLinks(nowNs)
	s.noteChanges(nowNs)
	clear(s.changes)
	for _, shard := range s.collector.Shards {
		s.takeChanges(shard)
	}
	s.scanExporters(nowNs)
	s.scanFindings(nowNs)
	s.noteRates(nowNs)
	s.scanChecksums()
	s.scanFaults(nowNs)
	for _, kind := range []telemetry.EventKind{
		telemetry.EventLoop, telemetry.EventDropStorm, telemetry.EventPathChange, telemetry.EventReportLoss,
		telemetry.EventHopLimit, telemetry.EventMTUExceeded, telemetry.EventHopWithoutINT, telemetry.EventMalformed,
		telemetry.EventUnexpectedNode, telemetry.EventPathNotAllowed, telemetry.EventWaypointMissed,
		telemetry.EventImplausible,
		telemetry.EventDuplicateNode,
	} {
		s.log.EndQuiet(kind, nowNs-quietNs)
	}
	s.log.EndRestored(nowNs)
	s.beforeNs, s.lastNs = s.lastNs, nowNs
}

// scanPaths adds up what links and nodes carried, and finds loops.
func (s *Scanner) scanPaths(shard *Shard, nowNs int64) {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	shard.scanNs = nowNs
	s.faults.takeHoles(&shard.holes)
	for i := range shard.paths.paths {
		p := &shard.paths.paths[i]
		if !p.used {
			continue
		}
		key := pathPlace{shard, i, p.generation}
		packets := p.packets + p.incomplete
		n := packets - s.pathsBefore[key]
		s.paths[key] = packets
		p.skip = skipOf(n, s.hopsBefore)
		s.departed(shard, p, nowNs)
		if n == 0 {
			p.sinceScan.left = 0
			continue
		}
		s.hops += len(p.hops)
		told := n // packets of which the nodes so far, or some behind them, told
		for h := range p.hops {
			if p.hops[h].has&telemetry.HasNode != 0 {
				s.active[p.hops[h].node] += told
			}
			if h > 0 && !p.uncertain && told > 0 {
				s.carried(&p.hops[h-1], &p.hops[h], told, p.sinceScan.flows)
			}
			told -= min(uint64(p.hops[h].part.last), told)
		}
		s.faults.take(shard, i, p, n)
		s.loop(p, n, nowNs)
	}
}

func (s *Scanner) carried(a, b *pathHop, n uint64, flows uint32) {
	k, ok := linkOf(&a.station, &b.station)
	if !ok {
		return
	}
	l := s.links[k]
	if l == nil {
		if len(s.links) >= maxLinks {
			s.faults.leftOut++
			return
		}
		l = &linkWatch{}
		s.links[k] = l
	}
	l.packets += n
	l.flows += uint64(flows)
}

// loop notes a path on which packets came to a node twice.
func (s *Scanner) loop(p *path, n uint64, nowNs int64) {
	for i := range p.hops {
		if p.hops[i].has&telemetry.HasNode == 0 || s.twins[p.hops[i].node] > 0 { // two devices, one behind the other
			continue
		}
		for j := range i {
			if p.hops[j].has&telemetry.HasNode == 0 || p.hops[j].node != p.hops[i].node {
				continue
			}
			// A drop at the node that came last is the same visit, not a second one.
			if j == i-1 && p.hops[i].has&telemetry.HasDrop != 0 {
				continue
			}
			first := &p.hops[j]
			s.log.Note(eventlog.Key{Kind: telemetry.EventLoop, Node: first.node}, s.lastNs, nowNs, n,
				func(e *telemetry.Event) {
					e.Severity = telemetry.Critical
					s.at(e, &first.station)
					e.Path = pathID(p.hash)
					e.Text = fmt.Sprintf("packets come to %s twice, after %d hops", s.name(first.node), i-j)
					e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "hops", Value: float64(len(p.hops))})
				})
			return
		}
	}
}

// A dropStorm is what was dropped at one place for one reason since the last scan.
type dropStorm struct {
	drops   uint64
	key     dropKey
	flow    telemetry.FlowKey
	hasFlow bool
}

// scanDrops adds up what was dropped.
func (s *Scanner) scanDrops(shard *Shard, nowNs int64) {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	for key, d := range shard.drops.drops {
		place := dropPlace{shard, key}
		n := d.packets - s.drops[place]
		if n == 0 {
			continue
		}
		s.drops[place] = d.packets
		if key.has&telemetry.HasNode != 0 {
			s.active[key.node] += n
		}
		s.cut(&key, nowNs)
		event := eventlog.Key{Kind: telemetry.EventDropStorm, Node: key.node, Port: key.out, Reason: key.reason}
		total := s.storms[event]
		s.storms[event] = dropStorm{total.drops + n, key, d.flow, d.hasFlow}
	}
}

// noteStorms notes where many packets were dropped.
func (s *Scanner) noteStorms(nowNs int64) {
	for event, found := range s.storms {
		rate := float64(found.drops) * 1e9 / float64(nowNs-s.lastNs)
		if rate < stormDrops && !s.log.Ongoing(event) {
			continue
		}
		s.log.Note(event, s.lastNs, nowNs, found.drops, func(e *telemetry.Event) {
			key := &found.key
			e.Severity = max(telemetry.Warning, dropreason.Of(key.table, key.reason).Severity)
			place := key.station
			place.has &^= telemetry.HasIngressPort // packets from all ports
			s.at(e, &place)
			reason := key.reason
			e.Reason, e.ReasonName = &reason, key.table.Name(key.reason)
			if found.hasFlow {
				flow := telemetry.EndpointsOf(&found.flow)
				e.Flow = &flow
			}
			e.Text = fmt.Sprintf("many packets dropped at %s: %s", s.name(key.node), e.ReasonName)
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "drops", Value: rate, Unit: "1/s"})
		})
	}
}

// takeChanges takes the path changes of a shard, and adds those of the same kind up.
func (s *Scanner) takeChanges(shard *Shard) {
	shard.mu.Lock()
	changes := shard.changes.changes
	shard.changes.changes = map[changeKey]*change{}
	shard.mu.Unlock()
	for k, c := range changes {
		if sum := s.changes[k]; sum != nil {
			sum.merge(c)
		} else {
			s.changes[k] = c
		}
	}
}

// noteChanges notes the path changes that were found by the scan before this one.
func (s *Scanner) noteChanges(nowNs int64) {
	for k, c := range s.changes {
		s.log.Note(eventlog.Key{
			Kind: telemetry.EventPathChange, Node: k.node, Port: k.port, ToNode: k.toNode,
			ToPort: k.newPort,
		},
			c.first, c.last, c.flows, func(e *telemetry.Event) {
				others := uint64(0)
				for link, l := range s.links {
					if link.from == k.node && link.fromPort == k.port && l.last == nowNs {
						others++
					}
				}
				why := "the old link carries nothing now: a failure"
				if others > 0 {
					why = "the old link still carries others: a reroute"
				}
				e.Severity = telemetry.Info
				old := station{node: k.node, out: k.port, has: telemetry.HasNode | telemetry.HasEgressPort}
				s.at(e, &old)
				if k.toNode != 0 {
					s.to(e, &station{node: k.toNode, has: telemetry.HasNode})
				}
				flow := telemetry.EndpointsOf(&c.flow)
				e.Flow, e.Path = &flow, pathID(c.path)
				e.Text = fmt.Sprintf("flows leave %s by port %d and no longer by port %d; %s", s.name(k.node),
					k.newPort, k.port, why)
				if k.newPort == k.port { // it does not tell its ports
					e.Text = fmt.Sprintf("flows take another way behind %s; %s", s.name(k.node), why)
				}
				e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "new_port", Value: float64(k.newPort)})
			})
	}
}

// scanExporters finds lost reports and restarts.
func (s *Scanner) scanExporters(nowNs int64) {
	for i, e := range s.collector.Exporters {
		for account, total := range e.Totals(nil) {
			if account == len(s.exporters[i]) {
				s.exporters[i] = append(s.exporters[i], exporterCount{})
			}
			before := s.exporters[i][account]
			now := exporterCount{Total: total}
			// what is missing since a moment ago may only be late
			now.told = max(before.told, min(before.Lost, total.Lost))
			now.restartsTold = max(before.restartsTold, min(before.Restarted, total.Restarted))
			s.exporters[i][account] = now
			s.exporter(now.Key, before, now, nowNs)
			s.faults.takeExporter(before, now)
		}
	}
	for _, x := range s.collector.ExporterList() {
		s.brokenOf(&x, nowNs)
	}
}

// exporter notes what happened to the reports of an exporter since the last scan.
func (s *Scanner) exporter(key telemetry.ExporterKey, before, now exporterCount, nowNs int64) {
	about := func(text string, severity telemetry.Severity) func(*telemetry.Event) {
		return func(e *telemetry.Event) {
			e.Severity, e.Source, e.Text = severity, key.Source.String(), text
			if key.HasNode {
				s.at(e, &station{node: key.Node, has: telemetry.HasNode})
				e.Text = s.name(key.Node) + ": " + text
			}
		}
	}
	if now.told > before.told {
		s.log.Note(eventlog.Key{Kind: telemetry.EventReportLoss, Exporter: key}, s.beforeNs, s.lastNs,
			now.told-before.told,
			about("reports were lost on the way here", telemetry.Warning))
	}
	if now.restartsTold > before.restartsTold {
		restart := eventlog.Key{Kind: telemetry.EventNodeRestart, Exporter: key}
		s.log.Note(restart, s.lastNs, s.lastNs, now.restartsTold-before.restartsTold,
			about("the sequence numbers of its reports began anew", telemetry.Info))
		s.log.End(restart, s.lastNs)
	}
}

func (s *Scanner) name(node uint32) string {
	if name := s.collector.Names[node]; name != "" {
		return name
	}
	return fmt.Sprint("node ", node)
}

// at makes a station the subject of an event.
func (s *Scanner) at(e *telemetry.Event, at *station) {
	a := at.answer(s.collector.Names)
	e.Node, e.Name, e.Port = a.Node, a.Name, a.EgressPort
}

// to makes a station the other end of the subject.
func (s *Scanner) to(e *telemetry.Event, to *station) {
	a := to.answer(s.collector.Names)
	e.ToNode, e.ToName, e.ToPort = a.Node, a.Name, a.IngressPort
}
