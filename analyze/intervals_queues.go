package analyze

import (
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// givenQueue is what of a queue was given so far; it stands for the queue in the same place of the table.
type givenQueue struct{ count, sum uint64 }

// A queueCount is what packets said of a queue since it was given last.
type queueCount struct {
	queueKey
	unit         telemetry.QueueUnit // as the latest report has it, without the configuration
	byEvent      bool                // some packets are in its count since the queue was long
	samples, sum uint64
	high         uint32
}

// queuesSince returns what packets said of queues since they were given last, and notes it as given if it is. It looks
// at the table of queues: a hop of a path may lead through several queues of a port.
func (s *Shard) queuesSince(give bool) (list []queueCount) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.intervals
	for place := range s.queues.queues {
		q := &s.queues.queues[place]
		if place == len(p.queues) {
			p.queues = append(p.queues, givenQueue{})
		}
		given := &p.queues[place]
		if q.depth.Count == given.count {
			continue
		}
		list = append(list, queueCount{
			queueKey: q.queueKey, unit: q.unit, byEvent: q.byEvent, samples: q.depth.Count - given.count,
			sum: q.depth.Sum - given.sum, high: q.high,
		})
		if give {
			*given = givenQueue{q.depth.Count, q.depth.Sum}
			q.high = 0 // it begins anew with each look
		}
	}
	return list
}

// queuesSince returns what packets said of queues since the last look, and notes it as given if it is. Which packets
// tell of them is known of ports.
func (v *Intervals) queuesSince(startNs int64, ports map[topology.PortKey]*portSample, give bool,
) []telemetry.QueueInterval {
	sums := map[queueKey]*telemetry.QueueInterval{}
	for _, s := range v.collector.Owners {
		for _, q := range s.queuesSince(give) {
			sum := sums[q.queueKey]
			if sum == nil {
				at := topology.HopKey{Node: q.node, Out: q.port, Has: telemetry.HasNode}
				if q.hasPort {
					at.Has |= telemetry.HasEgressPort
				}
				sum = &telemetry.QueueInterval{
					StartNs: startNs, Place: placeOf(&at), Queue: q.queue,
					Unit: v.collector.queueUnit(q.node, q.unit).String(),
				}
				sums[q.queueKey] = sum
			}
			q.sample(ports, q.byEvent).AddTo(&sum.Sample, q.samples)
			sum.Samples += q.samples
			sum.Sum += q.sum
			sum.Max = max(sum.Max, q.high)
		}
	}
	list := make([]telemetry.QueueInterval, 0, len(sums))
	for _, q := range sums {
		list = append(list, *q)
	}
	return list
}
