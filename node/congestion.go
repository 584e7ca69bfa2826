package node

import (
	"math"

	"github.com/waybill-int/waybill/node/event"
)

// config returns e as the detector takes it.
func (e *Events) config(seed uint64) event.Config {
	return event.Config{
		Flows: int(e.Flows), LatencyQuantumNs: uint64(e.LatencyQuantum), PeriodNs: uint64(e.Period),
		IdleNs:  uint64(e.Idle),
		ResetNs: uint64(e.Reset), Seed: seed,
	}
}

func (q *Queue) threshold() event.Threshold {
	return event.Threshold{
		TriggerBytes: uint32(q.Trigger), ResetBytes: uint32(q.Reset),
		TriggerNs: uint64(q.TriggerLatency), ResetNs: uint64(q.ResetLatency),
		Quota: q.Quota, TailDrop: q.TailDrop,
	}
}

// Thresholds returns when the first queue of each port is congested, for who finds that out instead of the node.
func (n *Node) Thresholds() (list []event.Threshold) {
	for range n.spec.Ports {
		list = append(list, event.Threshold{})
	}
	for i := range n.config.Queues {
		q := &n.config.Queues[i]
		for port := range list {
			if q.about(port, 0) {
				list[port] = q.threshold()
			}
		}
	}
	return list
}

// about says whether q is about a queue of a port, both from 0.
func (q *Queue) about(port, queue int) bool {
	return (q.Port == 0 || int(q.Port) == port+1) && (q.Queue == nil || int(*q.Queue) == queue)
}

// addQueues makes what watches the queues of each port.
func (n *Node) addQueues() error {
	for port := range n.spec.Ports {
		thresholds := make([]event.Threshold, n.spec.Queues)
		for i := range n.config.Queues {
			q := &n.config.Queues[i]
			for queue := range thresholds {
				if q.about(port, queue) {
					thresholds[queue] = q.threshold()
				}
			}
		}
		c, err := event.NewCongestion(1, thresholds)
		if err != nil {
			return err
		}
		n.queues = append(n.queues, c)
	}
	return nil
}

// observe takes a packet that went through a queue.
func (n *Node) observe(e *Egress) (v event.Verdict) {
	if e.Congestion != nil {
		return *e.Congestion
	}
	c := n.queuesOf(e.Port)
	if c == nil {
		return v
	}
	bytes := uint32(min(e.QueueBytes, math.MaxUint32))
	v = c.Observe(0, int(e.Queue), bytes, e.DepartedNs-min(e.EnqueuedNs, e.DepartedNs))
	n.countCongestion(&v)
	return v
}

// tailDrop takes a packet that a full queue had no room for.
func (n *Node) tailDrop(d *Drop) (v event.Verdict) {
	if d.Congestion != nil {
		return *d.Congestion
	}
	c := n.queuesOf(d.Port)
	if c == nil {
		return v
	}
	v = c.TailDrop(0, int(d.Queue))
	n.countCongestion(&v)
	return v
}

func (n *Node) queuesOf(port uint32) *event.Congestion {
	if port == 0 || uint64(port) > uint64(len(n.queues)) {
		return nil
	}
	return n.queues[port-1]
}

func (n *Node) countCongestion(v *event.Verdict) {
	if v.Began {
		n.count(CongestionBegan)
	}
	if v.Ended {
		n.count(CongestionEnded)
	}
}
