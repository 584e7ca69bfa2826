package expect

import (
	"slices"

	"github.com/waybill-int/waybill/fabric/truth"
)

type (
	// A queueKey is a queue.
	queueKey struct {
		node, port uint32
		queue      uint8
	}
	// A watchedQueue is what came to a queue of late, and the bursts there whose packets have not all left.
	watchedQueue struct {
		visits []queueVisit
		over   []*truth.Burst
	}
	// A queueVisit is a packet that was in a queue, or was dropped since that had no room.
	queueVisit struct {
		inNs, outNs       int64  // out: behind the pipeline
		inClock, outClock uint64 // the same by the clock of the switch
		flow              uint32
		bytes             uint64
		dropped           bool
		packet            *fate
		untold            bool // the stack had no more room when the packet came here
	}
	// A fate is what becomes of a packet.
	fate struct {
		reported bool
		atNs     int64 // when
	}
)

// keptNs is how long what came to a queue is kept: longer than a burst lasts.
const keptNs = 20e9

// enqueue notes what a visit says of a queue.
func (c *Chronicle) enqueue(v *Visit, told bool) {
	f := c.fates[v.Packet]
	if f == nil || c.options.Mode != MD { // each switch tells what it saw
		f = &fate{}
		c.fates[v.Packet] = f
	}
	if told {
		f.reported, f.atNs = true, v.timeNs()
	}
	k := queueVisit{flow: v.Flow, packet: f, untold: !told && c.options.MaxHops > 0 && v.Index >= c.options.MaxHops}
	var key queueKey
	switch {
	case v.Hop != nil:
		h := v.Hop
		key = queueKey{h.Node, h.Out, h.Queue}
		k.inNs, k.outNs, k.inClock, k.outClock = h.InNs, h.OutNs, h.InClock, h.OutClock
		const ethernet = 14
		// at the source there is no INT yet
		k.bytes = (&collector{Truth: &c.truth, Options: &c.options}).bytes(v) + ethernet
		if v.Index > 0 {
			k.bytes = uint64(c.truth.Packets[v.Packet][v.Index-1].Hop.Length)
		}
	case v.Drop.Place == "queue":
		d := v.Drop
		key = queueKey{d.Node, d.Out, d.Queue}
		k.inNs, k.outNs, k.dropped = d.TimeNs, d.TimeNs, true
	default:
		return
	}
	q := c.watched[key]
	if q == nil {
		q = &watchedQueue{}
		c.watched[key] = q
	}
	if v.Hop != nil { // packets leave in their order: what was there before has left
		for len(q.over) > 0 && q.over[0].EndNs < k.inNs {
			c.burstOver(q)
		}
	}
	if len(q.visits) == cap(q.visits) {
		q.visits = slices.DeleteFunc(q.visits, func(o queueVisit) bool { return o.outNs < k.inNs-keptNs })
	}
	q.visits = append(q.visits, k)
}

// timeNs is when a packet left a switch, or was dropped.
func (v *Visit) timeNs() int64 {
	if v.Hop != nil {
		return v.Hop.OutNs
	}
	return v.Drop.TimeNs
}

// burst takes a burst.
func (c *Chronicle) burst(b *truth.Burst) {
	key := queueKey{b.Node, b.Port, b.Queue}
	if c.watched[key] == nil {
		c.watched[key] = &watchedQueue{}
	}
	c.watched[key].over = append(c.watched[key].over, b)
}

// burstOver keeps the first burst of a queue whose packets have all left, with what came to the queue meanwhile.
func (c *Chronicle) burstOver(q *watchedQueue) {
	b := &burst{Burst: q.over[0]}
	q.over = q.over[1:]
	for i := range q.visits {
		k := &q.visits[i]
		if k.inNs <= b.EndNs && k.outNs-c.pipelineNs(b.Node, k.outNs) > b.StartNs || k.dropped && k.inNs >= b.StartNs &&
			k.inNs <= b.EndNs {
			b.visits = append(b.visits, *k)
		}
	}
	c.bursts = append(c.bursts, b)
}

// pipelineNs is what a packet that left a switch at a time spent there behind its queue.
func (c *Chronicle) pipelineNs(node uint32, outNs int64) int64 {
	ns := c.truth.Switches[node].LatencyNs
	for _, f := range c.truth.Faults {
		if f.Kind == "slow_switch" && f.Nodes[0] == node && f.TimeNs <= outNs {
			if f.Phase == "start" {
				ns += slowBy(f)
			} else {
				ns -= slowBy(f)
			}
		}
	}
	return ns
}
