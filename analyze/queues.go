package analyze

import (
	"cmp"
	"slices"

	"github.com/waybill-int/waybill/analyze/queue"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// addQueues adds the queues of s.
func (s *Shard) addQueues(to queue.Sums) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range s.queues.Queues {
		to.Add(&s.queues.Queues[i])
	}
}

// mergedQueues returns a copy of every queue, those of different shards added up.
func (c *Collector) mergedQueues() queue.Sums {
	merged := queue.Sums{}
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
		a := q.Answer(c.Names())
		a.Unit = told.unitOf(q.Node).String()
		a.Sample = sampleOf(&q.Key, at, q.ByEvent).Answer()
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
			Node: q.Node, Queue: q.Queue, Unit: c.queueUnit(q.Node, q.Unit).String(), Sum: q.Depth.Sum,
			Buckets: q.Depth.Filled(nil),
		}
		if q.HasPort {
			h.Port = &q.Port
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

// sampleOf returns of which packets the figures of a queue tell. byEvent says that some of them are there since the
// queue was long.
func sampleOf(q *queue.Key, at map[topology.PortKey]*portSample, byEvent bool) reporting.Sample {
	a := reporting.Sample{Complete: -1}
	if port := at[topology.PortKey{Node: q.Node, Port: q.Port, HasPort: q.HasPort}]; port != nil {
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

// noteQueue counts what h tells of its queue. at remembers the place of the queue, as most packets of a path come to
// the same one.
func (s *Shard) noteQueue(at *pathHop, h *telemetry.Hop) {
	if at.queuePlace == 0 || at.queueID != h.QueueID {
		at.queueID, at.queuePlace = h.QueueID, s.queues.Place(&at.HopKey, h.QueueID, s.lastNs)
	}
	s.queues.AddAt(at.queuePlace, h, s.lastNs)
}
