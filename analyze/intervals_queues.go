package analyze

import (
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// givenQueue is what of a queue was given so far; it stands for the queue in the same place of the table.
type givenQueue struct{ count, sum uint64 }

// queuesSince returns what packets said of queues since the last look, and notes it as given if it is. It looks at the
// table of queues: a hop of a path may lead through several queues of a port. Which packets tell of them is known of
// ports.
func (v *Intervals) queuesSince(startNs int64, ports map[topology.PortKey]*portSample, give bool,
) []telemetry.QueueInterval {
	sums := map[queueKey]*telemetry.QueueInterval{}
	for i, s := range v.collector.Shards {
		p := v.shards[i]
		s.mu.Lock()
		for place := range s.queues.queues {
			q := &s.queues.queues[place]
			if place == len(p.queues) {
				p.queues = append(p.queues, givenQueue{})
			}
			given := &p.queues[place]
			if q.depth.Count == given.count {
				continue
			}
			sum := sums[q.queueKey]
			if sum == nil {
				at := topology.HopKey{Node: q.node, Out: q.port, Has: telemetry.HasNode}
				if q.hasPort {
					at.Has |= telemetry.HasEgressPort
				}
				sum = &telemetry.QueueInterval{
					StartNs: startNs, Place: placeOf(&at), Queue: q.queue,
					Unit: v.collector.queueUnit(q).String(),
				}
				sums[q.queueKey] = sum
			}
			q.sample(ports).AddTo(&sum.Sample, q.depth.Count-given.count)
			sum.Samples += q.depth.Count - given.count
			sum.Sum += q.depth.Sum - given.sum
			sum.Max = max(sum.Max, q.high)
			if give {
				*given = givenQueue{q.depth.Count, q.depth.Sum}
				q.high = 0 // it begins anew with each look
			}
		}
		s.mu.Unlock()
	}
	list := make([]telemetry.QueueInterval, 0, len(sums))
	for _, q := range sums {
		list = append(list, *q)
	}
	return list
}
