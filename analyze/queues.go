package analyze

import (
	"cmp"
	"math/bits"
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A queueKey names a queue of a node. One whose port no report tells is not that of port 0.
type queueKey struct {
	node, port uint32
	queue      uint8
	hasPort    bool
}

// queueStats is how long a queue was when packets came to it, in unit.
type queueStats struct {
	queueKey
	depth           depthHistogram
	congestion      congestionStat // where nodes tell it (INT 2016 and 0.5)
	lastDepth       uint32
	unit            telemetry.QueueUnit // as the latest report has it, without the configuration
	byEvent         bool                // some packets are here since the queue was long
	high            uint32              // since Intervals looked last
	firstNs, lastNs int64
}

// A depthHistogram counts lengths of queues in eight equal buckets for each power of two. It is coarser than histogram
// and costs a report less: an index of shifts, and an array that never changes its shape.
type depthHistogram struct {
	histogram.Summary
	buckets [depthBuckets]uint32
}

const depthBuckets = 240

// depthBucket returns the bucket of v. Values below 16 have one each.
func depthBucket(v uint32) int {
	e := max(bits.Len32(v)-4, 0)
	return e<<3 + int(v>>e)
}

// depthsOf returns the least and the largest value of a bucket.
func depthsOf(bucket int) (low, high uint64) {
	e := max(bucket>>3-1, 0)
	return uint64(bucket-e<<3) << e, (uint64(bucket-e<<3)+1)<<e - 1
}

func (h *depthHistogram) add(v uint32) {
	h.Summary.Observe(uint64(v))
	n := &h.buckets[depthBucket(v)]
	if *n == 1<<32-1 { // old values fade rather than new ones being lost
		for i := range h.buckets {
			h.buckets[i] /= 2
		}
	}
	*n++
}

func (h *depthHistogram) merge(o *depthHistogram) {
	h.Summary.Merge(&o.Summary)
	for i, n := range o.buckets {
		h.buckets[i] += min(n, 1<<32-1-h.buckets[i])
	}
}

func (h *depthHistogram) distribution() *telemetry.Distribution {
	var memory [depthBuckets]telemetry.Bucket
	return telemetry.DistributionOf(h.filled(memory[:0]), h.Count, h.Sum, h.Min, h.Max)
}

// filled appends the buckets that are not empty to list.
func (h *depthHistogram) filled(list []telemetry.Bucket) []telemetry.Bucket {
	for i, n := range h.buckets {
		if n > 0 {
			low, high := depthsOf(i)
			list = append(list, telemetry.Bucket{Low: low, High: high, Count: uint64(n)})
		}
	}
	return list
}

// A congestionStat sums up a congestion status, whose unit only the device knows.
type congestionStat struct {
	sum, count uint64
	max, last  uint32
}

func (c *congestionStat) add(v uint32) {
	c.sum += uint64(v)
	c.count++
	c.max, c.last = max(c.max, v), v
}

// merge adds what o counted, whose last value may be a later one.
func (c *congestionStat) merge(o *congestionStat, later bool) {
	if o.count == 0 {
		return
	}
	if later || c.count == 0 {
		c.last = o.last
	}
	c.sum += o.sum
	c.count += o.count
	c.max = max(c.max, o.max)
}

// queueTable has the queues of a shard. It does not grow beyond max; what does not fit is counted in overflow.
type queueTable struct {
	max      int
	queues   []queueStats
	places   map[queueKey]uint32 // in queues, counted from 1
	overflow uint64
}

func newQueueTable(limit int) queueTable {
	return queueTable{max: limit, places: map[queueKey]uint32{}}
}

// add counts what h tells of its queue. at remembers the place of the queue, as most packets of a path come to the same
// one.
func (t *queueTable) add(at *pathHop, h *telemetry.Hop, nowNs int64) {
	if at.queuePlace == 0 || at.queueID != h.QueueID {
		at.queueID, at.queuePlace = h.QueueID, t.place(&at.HopKey, h.QueueID, nowNs)
	}
	t.addAt(at.queuePlace, h, nowNs)
}

// addReport counts what a report about a queue tells of it, whatever path its packet is on.
func (t *queueTable) addReport(h *telemetry.Hop, nowNs int64) {
	if h.Has&telemetry.HasNode != 0 && h.Has&(telemetry.HasQueue|telemetry.HasCongestion) != 0 {
		at := topology.HopKeyOf(h)
		place := t.place(&at, h.QueueID, nowNs)
		t.addAt(place, h, nowNs)
		if place > 0 {
			t.queues[place-1].byEvent = true
		}
	}
}

// addAt counts what h tells of the queue at a place.
func (t *queueTable) addAt(place uint32, h *telemetry.Hop, nowNs int64) {
	if place == 0 {
		t.overflow++
		return
	}
	q := &t.queues[place-1]
	q.lastNs = nowNs
	if h.Has&telemetry.HasQueue != 0 {
		q.depth.add(h.QueueOccupancy)
		q.lastDepth, q.unit = h.QueueOccupancy, h.Has.QueueUnit()
		q.high = max(q.high, h.QueueOccupancy)
	}
	if h.Has&telemetry.HasCongestion != 0 {
		q.congestion.add(h.Congestion)
	}
}

// place returns the place of a queue, which it adds if there is room; else 0.
func (t *queueTable) place(at *topology.HopKey, queue uint8, nowNs int64) uint32 {
	key := queueKey{node: at.Node, port: at.Out, queue: queue, hasPort: at.Has&telemetry.HasEgressPort != 0}
	place := t.places[key]
	if place == 0 && len(t.queues) < t.max && at.Has&telemetry.HasNode != 0 {
		t.queues = append(t.queues, queueStats{queueKey: key, firstNs: nowNs})
		place = uint32(len(t.queues))
		t.places[key] = place
	}
	return place
}

// merge adds what o, the same queue in another shard, counted.
func (q *queueStats) merge(o *queueStats) {
	q.depth.merge(&o.depth)
	q.byEvent = q.byEvent || o.byEvent
	q.congestion.merge(&o.congestion, o.lastNs > q.lastNs)
	if o.lastNs > q.lastNs {
		q.lastNs, q.lastDepth, q.unit = o.lastNs, o.lastDepth, o.unit
	}
	q.firstNs = min(q.firstNs, o.firstNs)
}

// queueSums are copies of queues, those of several shards added up.
type queueSums map[queueKey]*queueStats

// add adds a queue, which stays who has it.
func (m queueSums) add(q *queueStats) {
	if sum := m[q.queueKey]; sum != nil {
		sum.merge(q)
		return
	}
	copied := *q
	m[q.queueKey] = &copied
}

// addQueues adds the queues of s.
func (s *Shard) addQueues(to queueSums) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.queues.queues {
		to.add(&s.queues.queues[i])
	}
}

// mergedQueues returns a copy of every queue, those of different shards added up.
func (c *Collector) mergedQueues() queueSums {
	merged := queueSums{}
	for _, s := range c.Owners {
		s.addQueues(merged)
	}
	return merged
}

// Queues returns every queue that reports tell of, by node, port and id.
func (c *Collector) Queues() []telemetry.QueueDepth {
	merged := c.mergedQueues()
	list, told := make([]telemetry.QueueDepth, 0, len(merged)), c.samples()
	at := map[topology.PortKey]*portSample{} // of the ports that paths lead through
	for _, p := range c.mergedPaths() {
		for i := range p.hops {
			if h := &p.hops[i]; h.queue.count > 0 {
				portSampleAt(at, &h.HopKey).add(told.ofHop(p, i), p.packets+h.parts, p.missingAt(i))
			}
		}
	}
	for _, q := range merged {
		a := q.answer(c.Names())
		a.Unit = told.unitOf(q.node).String()
		a.Sample = q.sample(at, q.byEvent).Answer()
		list = append(list, a)
	}
	slices.SortFunc(list, func(a, b telemetry.QueueDepth) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(topology.PortOf(a.Port), topology.PortOf(b.Port)),
			cmp.Compare(a.Queue, b.Queue))
	})
	return list
}

// QueueHistograms returns how deep every queue was, by node, port and id, with all that was counted since the process
// began: queues never give way to others.
func (c *Collector) QueueHistograms() []telemetry.QueueHistogram {
	merged := c.mergedQueues()
	list := make([]telemetry.QueueHistogram, 0, len(merged))
	for _, q := range merged {
		h := telemetry.QueueHistogram{
			Node: q.node, Queue: q.queue, Unit: c.queueUnit(q.node, q.unit).String(), Sum: q.depth.Sum,
			Buckets: q.depth.filled(nil),
		}
		if q.hasPort {
			h.Port = &q.port
		}
		list = append(list, h)
	}
	slices.SortFunc(list, func(a, b telemetry.QueueHistogram) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(topology.PortOf(a.Port), topology.PortOf(b.Port)),
			cmp.Compare(a.Queue, b.Queue))
	})
	return list
}

// A portSample is of which packets the figures of a port tell, over all paths.
type portSample struct {
	telemetry.SampleSum
	packets uint64
	missing int64 // packets of which only others told
}

// portSampleAt returns that of the egress port of a hop, which it adds if it is new.
func portSampleAt(at map[topology.PortKey]*portSample, h *topology.HopKey) *portSample {
	key := h.Egress()
	if at[key] == nil {
		at[key] = &portSample{}
	}
	return at[key]
}

func (s *portSample) add(n reporting.Sample, packets uint64, missing int64) {
	n.AddTo(&s.SampleSum, packets)
	s.packets += packets
	s.missing += missing
}

// sample returns of which packets the figures of a queue tell. byEvent says that some of them are there since the queue
// was long.
func (q *queueKey) sample(at map[topology.PortKey]*portSample, byEvent bool) reporting.Sample {
	a := reporting.Sample{Complete: -1}
	if port := at[topology.PortKey{Node: q.node, Port: q.port, HasPort: q.hasPort}]; port != nil {
		a = reporting.Sample{
			Rate: port.Rate(port.packets), Complete: port.Complete(port.packets, port.missing),
		}
	}
	if byEvent {
		a.Rate = telemetry.SampleOnEvent
	}
	return a
}

// queueUnit returns what the queues of a node are counted in of which reports tell a unit.
func (c *Collector) queueUnit(node uint32, told telemetry.QueueUnit) telemetry.QueueUnit {
	if unit, ok := c.Configured().QueueUnits[node]; ok {
		return unit
	}
	return told
}

func (q *queueStats) answer(names map[uint32]string) telemetry.QueueDepth {
	a := telemetry.QueueDepth{
		Node: q.node, Name: names[q.node], Queue: q.queue, Depth: q.depth.distribution(),
		First: time.Unix(0, q.firstNs).UTC(), Last: time.Unix(0, q.lastNs).UTC(),
	}
	if q.hasPort {
		port := q.port
		a.Port = &port
	}
	if q.depth.Count > 0 {
		last := q.lastDepth
		a.LastDepth = &last
	}
	if c := &q.congestion; c.count > 0 {
		a.Congestion = &telemetry.Congestion{
			Count: c.count, Mean: float64(c.sum) / float64(c.count), Max: c.max,
			Last: c.last,
		}
	}
	return a
}
