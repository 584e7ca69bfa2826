package analyze

import (
	"github.com/waybill-int/waybill/analyze/queue"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// givenQueue is what of a queue was given so far; it stands for the queue in the same place of the table.
type givenQueue struct{ count, sum uint64 }

// A queueCount is what packets said of a queue since it was given last.
type queueCount struct {
	queue.Key
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
	for place := range s.queues.Queues {
		q := &s.queues.Queues[place]
		if place == len(p.queues) {
			p.queues = append(p.queues, givenQueue{})
		}
		given := &p.queues[place]
		if q.Depth.Count == given.count {
			continue
		}
		list = append(list, queueCount{
			Key: q.Key, unit: q.Unit, byEvent: q.ByEvent, samples: q.Depth.Count - given.count,
			sum: q.Depth.Sum - given.sum, high: q.High,
		})
		if give {
			*given = givenQueue{q.Depth.Count, q.Depth.Sum}
			q.High = 0 // it begins anew with each look
		}
	}
	return list
}

// queuesSince returns what packets said of queues since the last look, and notes it as given if it is. Which packets
// tell of them is known of ports.
func (v *Intervals) queuesSince(startNs int64, ports map[topology.PortKey]*portSample, give bool,
) []telemetry.QueueInterval {
	sums := map[queue.Key]*telemetry.QueueInterval{}
	for _, s := range v.collector.Owners {
		for _, q := range s.queuesSince(give) {
			sum := sums[q.Key]
			if sum == nil {
				at := topology.HopKey{Node: q.Node, Out: q.Port, Has: telemetry.HasNode}
				if q.HasPort {
					at.Has |= telemetry.HasEgressPort
				}
				sum = &telemetry.QueueInterval{
					StartNs: startNs, Place: placeOf(&at), Queue: q.Queue,
					Unit: v.collector.queueUnit(q.Node, q.unit).String(),
				}
				sums[q.Key] = sum
			}
			sampleOf(&q.Key, ports, q.byEvent).AddTo(&sum.Sample, q.samples)
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
