package analyze

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A queueStat sums up queue occupancies.
type queueStat struct {
	sum   uint64
	count uint32
	max   uint32
	last  uint32
	id    uint8
}

func (q *queueStat) add(h *telemetry.Hop) {
	q.sum += uint64(h.QueueOccupancy)
	q.count++
	q.max = max(q.max, h.QueueOccupancy)
	q.last = h.QueueOccupancy
	q.id = h.QueueID
}

func (q *queueStat) answer(unit telemetry.QueueUnit) *telemetry.Queue {
	if q.count == 0 {
		return nil
	}
	last := q.last
	return &telemetry.Queue{
		ID: q.id, Mean: float64(q.sum) / float64(q.count), Max: q.max, Last: &last,
		Unit: unit.String(),
	}
}

// merge adds what o counted, whose last value may be a later one.
func (q *queueStat) merge(o *queueStat, later bool) {
	if o.count > 0 && (later || q.count == 0) {
		q.last, q.id = o.last, o.id
	}
	q.sum += o.sum
	q.count += o.count
	q.max = max(q.max, o.max)
}

type pathHop struct {
	topology.HopKey
	latency histogram.Histogram
	queue   queueStat

	queuePlace  uint32 // of the queue that the latest packet was in, see queue.Table
	queueID     uint8
	part        loss.Part
	parts       uint64 // packets of which this hop told, and others did not; besides path.packets
	partsSeen   uint64 // of these, at the last scan
	full        uint32 // packets lost from streams since the last scan, while this hop's queue was long
	utilization topology.Use
}

// A path is a route that packets took, with what all flows together met on it.
type path struct {
	hash        uint64
	generation  uint16 // changes when the place is given to another path
	used        bool
	touched     bool // since the eviction hand last passed
	uncertain   bool
	postcards   bool // tell of its packets
	hops        []pathHop
	residence   histogram.Histogram
	endToEnd    histogram.Histogram
	clockErrors uint64
	packets     uint64
	// of the packets, those whose number has none of these bits are looked at closely; see transitList
	skip       uint64
	incomplete uint64 // packets of which some postcards are missing, besides packets
	// of these, at the last scan
	incompleteSeen uint64
	scanned        uint64 // packets and incomplete at the last scan
	flows          int
	first, last    int64
	sinceScan      pathWindow
	sample         reporting.Sample // of a copy for Intervals
}

// dropped reports whether the path ends where packets were dropped.
func (p *path) dropped() bool { return p.hops[len(p.hops)-1].Has&telemetry.HasDrop != 0 }

// is reports whether the path leads along route.
func (p *path) is(route []topology.HopKey) bool {
	if len(p.hops) != len(route) {
		return false
	}
	for i := range route {
		if p.hops[i].HopKey != route[i] {
			return false
		}
	}
	return true
}

// partOf reports whether the elements of p are, in their order, some of those along route.
func (p *path) partOf(route []topology.HopKey) bool {
	at := 0
	for i := range p.hops {
		if p.hops[i].Missing > 0 {
			continue
		}
		for at < len(route) && route[at] != p.hops[i].HopKey {
			at++
		}
		if at == len(route) {
			return false
		}
		at++
	}
	return len(p.hops) < len(route) || slices.ContainsFunc(p.hops, func(h pathHop) bool { return h.Missing > 0 })
}

// agrees reports whether packets of p and along route may have taken one way, of which some postcards are missing:
// nothing that one of them tells contradicts the other.
func (p *path) agrees(route []topology.HopKey) bool {
	shift, anchored := 0, false // places along p that the same node is behind that along route
	for range 2 {               // the first time finds one
		at := 0
		for i := range p.hops {
			h, to := &p.hops[i].HopKey, 0
			for j := range route {
				r := &route[j]
				same := h.Node == r.Node
				switch {
				case h.Has&r.Has&telemetry.HasNode == 0: // one of them is not known
				case !anchored:
					shift, anchored = at-to, same
				case same != (at == to+shift) || same && *h != *r:
					return false
				}
				to += max(int(r.Missing), 1)
			}
			at += max(int(h.Missing), 1)
		}
	}
	return true
}

// route returns the elements of p.
func (p *path) route() []topology.HopKey {
	route := make([]topology.HopKey, len(p.hops))
	for i := range p.hops {
		route[i] = p.hops[i].HopKey
	}
	return route
}

// pathTable keeps a bounded number of paths; when it is full, one that was not used lately gives way.
type pathTable struct {
	max     int
	paths   []path
	byHash  map[uint64]uint32
	hand    int
	evicted uint64
	gaveWay func(place int, p *path) // may be nil
}

func newPathTable(limit int) pathTable {
	return pathTable{max: limit, byHash: map[uint64]uint32{}}
}

// get returns the place of the path along route, which it adds if it is new.
func (t *pathTable) get(route []topology.HopKey, nowNs int64) uint32 {
	hash := topology.HashRoute(route)
	if i, ok := t.byHash[hash]; ok {
		return i
	}
	var i int
	if len(t.paths) < t.max {
		t.paths = append(t.paths, path{})
		i = len(t.paths) - 1
	} else {
		for t.paths[t.hand].touched {
			t.paths[t.hand].touched = false
			t.hand = (t.hand + 1) % len(t.paths)
		}
		i = t.hand
		t.hand = (t.hand + 1) % len(t.paths)
		delete(t.byHash, t.paths[i].hash)
		if t.gaveWay != nil {
			t.gaveWay(i, &t.paths[i])
		}
		t.evicted++
	}
	p := &t.paths[i]
	hops := p.hops
	if cap(hops) < len(route) {
		hops = make([]pathHop, len(route))
	}
	hops = hops[:len(route)]
	for j := range route {
		hops[j] = pathHop{HopKey: route[j]}
	}
	*p = path{hash: hash, generation: p.generation + 1, used: true, hops: hops, first: nowNs}
	t.byHash[hash] = uint32(i)
	return uint32(i)
}

// merge adds what o, the same path in another shard, counted.
func (p *path) merge(o *path) {
	for i := range p.hops {
		p.hops[i].latency.Merge(&o.hops[i].latency)
		p.hops[i].queue.merge(&o.hops[i].queue, o.last > p.last)
		p.hops[i].utilization.MergeUse(&o.hops[i].utilization)
		p.hops[i].parts += o.hops[i].parts
	}
	p.residence.Merge(&o.residence)
	p.endToEnd.Merge(&o.endToEnd)
	p.clockErrors += o.clockErrors
	p.packets += o.packets
	p.incomplete += o.incomplete
	p.flows += o.flows
	p.first, p.last = min(p.first, o.first), max(p.last, o.last)
	p.uncertain = p.uncertain || o.uncertain
	p.postcards = p.postcards || o.postcards
}

func (p *path) answer(told *samples) telemetry.Path {
	a := telemetry.Path{
		ID: topology.PathID(p.hash), Flows: p.flows, Packets: p.packets, Incomplete: p.incomplete,
		Uncertain:   p.uncertain,
		ClockErrors: p.clockErrors,
		First:       time.Unix(0, p.first).UTC(), Last: time.Unix(0, p.last).UTC(),
		Residence: p.residence.Distribution(), EndToEnd: p.endToEnd.Distribution(),
		Hops: make([]telemetry.PathHop, len(p.hops)), Sample: told.ofPath(p).Answer(), Unknown: told.unknown(p),
	}
	for i := range p.hops {
		h := &p.hops[i]
		a.Hops[i] = h.HopKey.Answer(told.names)
		a.Hops[i].LatencyNs = h.latency.Distribution()
		a.Hops[i].Queue = h.queue.answer(told.unitOf(h.Node))
		a.Hops[i].Sample = told.hopAnswer(p, i)
	}
	return a
}
