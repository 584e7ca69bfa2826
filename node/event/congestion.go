package event

import "fmt"

// maxQueues bounds the memory of a Congestion.
const maxQueues = 1 << 20

// A Congestion watches the queues of a node. Its queues are numbered by port and queue of the port, from 0.
type Congestion struct {
	thresholds []Threshold  // by queue of a port
	states     []queueState // port after port
}

// A queueState is what is known about one queue.
type queueState struct {
	congested      bool
	reports, drops uint32 // in this congestion
}

// A Verdict is what a packet's queue means for its report.
type Verdict struct {
	Reason    Reason // QueueCongestion or TailDrop to report the packet, else 0
	Congested bool   // a monitored queue was congested: Q of any report about the packet (TR 2.0 §3.3)
	Began     bool   // congestion began with this packet
	Ended     bool   // congestion ended with this packet
}

// NewCongestion returns a Congestion for a number of ports whose queues have these thresholds. A Threshold that is zero
// is a queue that is not monitored.
func NewCongestion(ports int, thresholds []Threshold) (*Congestion, error) {
	if ports < 0 || ports > maxQueues || len(thresholds) > maxQueues || ports*len(thresholds) > maxQueues {
		return nil, fmt.Errorf("queues: got %d ports with %d queues each, want at most %d in all", ports,
			len(thresholds), maxQueues)
	}
	for i := range thresholds {
		if err := thresholds[i].check(); err != nil {
			return nil, fmt.Errorf("queue %d: %w", i, err)
		}
	}
	return &Congestion{
		thresholds: append([]Threshold(nil), thresholds...), states: make([]queueState, ports*len(thresholds)),
	}, nil
}

// Observe takes a packet that went through a queue: the occupancy that it met and the latency that it had there. A node
// that knows only one of them gives 0 for the other, and has no trigger for it. A queue that the Congestion does not
// have is not monitored.
func (c *Congestion) Observe(port, queue int, bytes uint32, latencyNs uint64) (v Verdict) {
	t, q := c.find(port, queue)
	if t == nil || !t.monitored() {
		return v
	}
	switch {
	case !q.congested && t.reached(bytes, latencyNs):
		q.congested = true
		v.Began = true
	case q.congested && t.left(bytes, latencyNs):
		*q = queueState{}
		v.Ended = true
	}
	v.Congested = q.congested
	if v.Congested && take(&q.reports, t.Quota) {
		v.Reason = QueueCongestion
	}
	return v
}

// TailDrop takes a packet that was dropped because the queue was full. A full queue is congested, whatever its triggers
// are.
func (c *Congestion) TailDrop(port, queue int) (v Verdict) {
	t, q := c.find(port, queue)
	if t == nil || !t.monitored() {
		return v
	}
	v.Began = !q.congested
	q.congested = true
	v.Congested = true
	if t.TailDrop && take(&q.drops, t.Quota) {
		v.Reason = TailDrop
	}
	return v
}

// find returns the threshold and the state of a queue, nil if there is none.
func (c *Congestion) find(port, queue int) (*Threshold, *queueState) {
	if port < 0 || queue < 0 || queue >= len(c.thresholds) || port >= len(c.states)/len(c.thresholds) {
		return nil, nil
	}
	return &c.thresholds[queue], &c.states[port*len(c.thresholds)+queue]
}

// take uses up one of a quota; false if nothing is left.
func take(used *uint32, quota uint32) bool {
	if quota == 0 {
		return true
	}
	if *used >= quota {
		return false
	}
	*used++
	return true
}
