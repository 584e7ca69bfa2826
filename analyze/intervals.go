package analyze

import (
	"sync/atomic"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Intervals takes the differences of the tables between two looks, for a store. It looks at hops and queues once a
// second and at all else once in ten, and holds the lock of one shard at a time, for as long as an answer of the API
// does. The sum over what it gives is what the tables counted: flows that give way to others in between are given too.
//
// It remembers what it saw last: about 200 bytes for each flow, and a copy of each path.
type Intervals struct {
	collector *Collector
	log       *eventlog.Log

	hops      map[hopPlace]*telemetry.HopInterval // of a look
	links     map[topology.LinkKey]carried        // since the last ten seconds
	paths     map[uint64]*telemetry.PathInterval
	exporters []ledger.Cursor // by their place in the collector
	events    map[string]seenEvent
	routes    map[uint64]givenRoute
	hosts     map[hostPlace]uint64
	inner     topology.Inner
	hostless  []telemetry.FlowInterval
	toldPaths map[uint64]bool // whose ends SoFar told in this interval
	bursts    *burst.Log      // nil: none are given
	newRoutes []telemetry.Route

	hopsNs, flowsNs int64 // ends of the intervals that were given last: those that are open begin there
	burstsGiven     uint64

	ungivenHosts, ungivenBursts atomic.Uint64

	kept ledger.Settlements
}

// A hopPlace is what hops of several paths are added up by.
type hopPlace struct{ topology.HopKey }

// routeAgainNs is how often the route of a path that is in use is given again.
const routeAgainNs = 24 * 3600 * int64(1e9)

// flowsAtOnce is how many records of flows are given in one piece.
const flowsAtOnce = 8192

// NewIntervals returns Intervals of what c counts, the first of which begins at nowNs. There may be one for a
// Collector, and c may not get more shards afterwards. log may be nil.
func NewIntervals(c *Collector, log *eventlog.Log, nowNs int64) *Intervals {
	v := &Intervals{
		collector: c, log: log, hops: map[hopPlace]*telemetry.HopInterval{},
		links: map[topology.LinkKey]carried{}, paths: map[uint64]*telemetry.PathInterval{},
		events: map[string]seenEvent{}, routes: map[uint64]givenRoute{}, hosts: map[hostPlace]uint64{},
		inner: topology.Inner{}, toldPaths: map[uint64]bool{}, hopsNs: nowNs, flowsNs: nowNs,
	}
	for _, s := range c.Owners {
		s.keepIntervals()
	}
	v.exporters = make([]ledger.Cursor, len(c.Exporters))
	v.noteExporters()
	c.kept = &v.kept
	c.Timing.KeepDelays()
	return v
}

// Look gives what is due at nowNs (since 1970); call it some times a second. give takes its records over. A clock that
// is set makes an interval longer or shorter, and loses nothing.
func (v *Intervals) Look(nowNs int64, give func(*telemetry.Intervals)) {
	if begin := opened(v.hopsNs, nowNs, telemetry.HopIntervalNs); begin != v.hopsNs {
		v.scanPaths(nowNs)
		give(v.takeHops(start(v.hopsNs, nowNs, telemetry.HopIntervalNs)))
		v.hopsNs = begin
	}
	if begin := opened(v.flowsNs, nowNs, telemetry.FlowIntervalNs); begin != v.flowsNs {
		v.takeTens(start(v.flowsNs, nowNs, telemetry.FlowIntervalNs), give)
		v.flowsNs = begin
	}
}

// Open is the start of the ten seconds that are open, as it is after a look.
func (v *Intervals) Open() int64 { return v.flowsNs }

// OpenSecond is the start of the second of hops and queues that is open, as it is after a look.
func (v *Intervals) OpenSecond() int64 { return v.hopsNs }

// Finish gives what was counted since the last look, also of packets that wait for postcards: call it once all shards
// have stopped.
func (v *Intervals) Finish(nowNs int64, give func(*telemetry.Intervals)) {
	for _, s := range v.collector.Owners {
		s.Finish(nowNs)
	}
	v.scanPaths(nowNs)
	give(v.takeHops(start(v.hopsNs, nowNs, telemetry.HopIntervalNs)))
	v.takeTens(start(v.flowsNs, nowNs, telemetry.FlowIntervalNs), give)
}

// opened is when the interval began that is open at nowNs, if the last one was given until lastNs. The first one of a
// process begins with it, so that its records are told from those of the process before.
func opened(lastNs, nowNs, length int64) int64 {
	begin := nowNs - nowNs%length
	if lastNs > nowNs {
		return begin // the clock was set back
	}
	return max(lastNs, begin)
}

// start is the start of the interval in which most of what is not given was counted: the one that is open, or, if that
// is a new one, the one before it.
func start(lastNs, nowNs, length int64) int64 {
	begin := opened(lastNs, nowNs, length)
	if lastNs >= begin {
		return begin
	}
	return max(lastNs, begin-length)
}

// takeTens gives what is looked at every ten seconds.
func (v *Intervals) takeTens(startNs int64, give func(*telemetry.Intervals)) {
	give(v.takePaths(startNs))
	clear(v.toldPaths)
	v.hostsOf(v.hostless, true)
	v.hostless = v.hostless[:0]
	for _, s := range v.collector.Owners {
		pieces(func(from int) int {
			c := s.flowsSince(from)
			for i := range c.flows {
				c.flows[i].StartNs = startNs
			}
			v.hostsOf(c.flows, false)
			if len(c.flows) > 0 {
				give(&telemetry.Intervals{Flows: c.flows, Settled: v.kept.OnSettle(c.reports)})
			}
			return c.next
		})
	}
	rest := &telemetry.Intervals{}
	v.takeHosts(rest, startNs)
	v.dropsSince(rest, startNs, true)
	v.exportersSince(rest, startNs, true)
	v.takeEvents(rest)
	give(rest)
}

// Ungiven is what is missing from intervals.
type Ungiven struct {
	// packets of those that gave way between two looks, for which there was no room, or that the guard kept out
	Flows, Paths uint64
	Hosts        uint64 // packets of hosts for which there was no room
	Bursts       uint64 // bursts that gave way to others between two looks
}

// Ungiven returns what is missing from the intervals.
func (v *Intervals) Ungiven() Ungiven {
	n := Ungiven{Hosts: v.ungivenHosts.Load(), Bursts: v.ungivenBursts.Load()}
	for _, s := range v.collector.Owners {
		of := s.ungiven()
		n.Flows += of.Flows
		n.Paths += of.Paths
	}
	return n
}
