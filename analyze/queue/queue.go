// Package queue keeps how long queues were when packets came to them.
package queue

import (
	"math/bits"
	"time"

	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Key names a queue of a node. One whose port no report tells is not that of port 0.
type Key struct {
	Node, Port uint32
	Queue      uint8
	HasPort    bool
}

// Stats are how long a queue was when packets came to it, in Unit.
type Stats struct {
	Key
	Depth           Depths
	congestion      congestionStat // where nodes tell it (INT 2016 and 0.5)
	lastDepth       uint32
	Unit            telemetry.QueueUnit // as the latest report has it, without the configuration
	ByEvent         bool                // some packets are here since the queue was long
	High            uint32              // since who gives intervals took it last
	firstNs, lastNs int64
}

// Depths count lengths of queues in eight equal buckets for each power of two. They are coarser than a histogram and
// cost a report less: an index of shifts, and an array that never changes its shape.
type Depths struct {
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

func (h *Depths) add(v uint32) {
	h.Summary.Observe(uint64(v))
	n := &h.buckets[depthBucket(v)]
	if *n == 1<<32-1 { // old values fade rather than new ones being lost
		for i := range h.buckets {
			h.buckets[i] /= 2
		}
	}
	*n++
}

func (h *Depths) merge(o *Depths) {
	h.Summary.Merge(&o.Summary)
	for i, n := range o.buckets {
		h.buckets[i] += min(n, 1<<32-1-h.buckets[i])
	}
}

// Distribution sums up what was counted.
func (h *Depths) Distribution() *telemetry.Distribution {
	var memory [depthBuckets]telemetry.Bucket
	return telemetry.DistributionOf(h.Filled(memory[:0]), h.Count, h.Sum, h.Min, h.Max)
}

// Filled appends the buckets that are not empty to list.
func (h *Depths) Filled(list []telemetry.Bucket) []telemetry.Bucket {
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

// A Table has the queues of a shard, of which it forgets none. What does not fit is counted in Overflow.
type Table struct {
	max      int
	Queues   []Stats
	places   map[Key]uint32 // in Queues, counted from 1
	Overflow uint64
}

// New returns a table for at most so many queues.
func New(limit int) Table { return Table{max: limit, places: map[Key]uint32{}} }

// AddReport counts what a report about a queue tells of it, whatever path its packet is on.
func (t *Table) AddReport(h *telemetry.Hop, nowNs int64) {
	if h.Has&telemetry.HasNode != 0 && h.Has&(telemetry.HasQueue|telemetry.HasCongestion) != 0 {
		at := topology.HopKeyOf(h)
		place := t.Place(&at, h.QueueID, nowNs)
		t.AddAt(place, h, nowNs)
		if place > 0 {
			t.Queues[place-1].ByEvent = true
		}
	}
}

// AddAt counts what h tells of the queue at a place.
func (t *Table) AddAt(place uint32, h *telemetry.Hop, nowNs int64) {
	if place == 0 {
		t.Overflow++
		return
	}
	q := &t.Queues[place-1]
	q.lastNs = nowNs
	if h.Has&telemetry.HasQueue != 0 {
		q.Depth.add(h.QueueOccupancy)
		q.lastDepth, q.Unit = h.QueueOccupancy, h.Has.QueueUnit()
		q.High = max(q.High, h.QueueOccupancy)
	}
	if h.Has&telemetry.HasCongestion != 0 {
		q.congestion.add(h.Congestion)
	}
}

// Place returns the place of a queue, which it adds if there is room; else 0.
func (t *Table) Place(at *topology.HopKey, queue uint8, nowNs int64) uint32 {
	key := Key{Node: at.Node, Port: at.Out, Queue: queue, HasPort: at.Has&telemetry.HasEgressPort != 0}
	place := t.places[key]
	if place == 0 && len(t.Queues) < t.max && at.Has&telemetry.HasNode != 0 {
		t.Queues = append(t.Queues, Stats{Key: key, firstNs: nowNs})
		place = uint32(len(t.Queues))
		t.places[key] = place
	}
	return place
}

// merge adds what o, the same queue in another shard, counted.
func (q *Stats) merge(o *Stats) {
	q.Depth.merge(&o.Depth)
	q.ByEvent = q.ByEvent || o.ByEvent
	q.congestion.merge(&o.congestion, o.lastNs > q.lastNs)
	if o.lastNs > q.lastNs {
		q.lastNs, q.lastDepth, q.Unit = o.lastNs, o.lastDepth, o.Unit
	}
	q.firstNs = min(q.firstNs, o.firstNs)
}

// Sums are copies of queues, those of several shards added up.
type Sums map[Key]*Stats

// Add adds a queue, which stays who has it.
func (m Sums) Add(q *Stats) {
	if sum := m[q.Key]; sum != nil {
		sum.merge(q)
		return
	}
	copied := *q
	m[q.Key] = &copied
}

// Answer returns what is known of the queue, without its unit, with the names of nodes.
func (q *Stats) Answer(names map[uint32]string) telemetry.QueueDepth {
	a := telemetry.QueueDepth{
		Node: q.Node, Name: names[q.Node], Queue: q.Queue, Depth: q.Depth.Distribution(),
		First: time.Unix(0, q.firstNs).UTC(), Last: time.Unix(0, q.lastNs).UTC(),
	}
	if q.HasPort {
		port := q.Port
		a.Port = &port
	}
	if q.Depth.Count > 0 {
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
