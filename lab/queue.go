//go:build linux

package lab

import (
	"cmp"
	"slices"

	"github.com/waybill-int/waybill/fabric/truth"
)

// What happens at the queue of a port, in the order in which it counts at one moment.
const (
	leaves = iota
	arrives
	lost
)

type event struct {
	ns     int64
	kind   int
	bytes  int
	flow   *flow
	packet *transit // that arrives
	hop    int      // of its visits
}

// A queue is that of a port, as it was.
type queue struct {
	events  []event
	depth   uint64
	inside  map[*flow]uint64 // bytes
	packets uint64           // inside
	burst   *burst           // that goes on
}

type burst struct {
	truth.Burst
	flows map[*flow]uint64
}

func (q *queue) add(e event) { q.events = append(q.events, e) }

// depthAt returns how long it was at a moment that is still to be worked through.
func (q *queue) depthAt(ns int64) uint64 {
	depth := q.depth
	for i := range q.events {
		if e := &q.events[i]; e.ns <= ns && e.kind == arrives {
			depth += uint64(e.bytes)
		} else if e.ns <= ns && e.kind == leaves {
			depth -= uint64(e.bytes)
		}
	}
	return depth
}

// work goes through what happened until a moment.
func (q *queue) work(t *tracker, p *port, until int64) {
	slices.SortStableFunc(q.events, func(a, b event) int {
		return cmp.Or(cmp.Compare(a.ns, b.ns), cmp.Compare(a.kind, b.kind))
	})
	n := 0
	for ; n < len(q.events) && q.events[n].ns < until; n++ {
		q.step(t, p, &q.events[n])
	}
	q.events = append(q.events[:0], q.events[n:]...)
	if until > t.lab.now() && q.burst != nil {
		q.end(t, t.lab.now(), true)
	}
}

func (q *queue) step(t *tracker, p *port, e *event) {
	if q.inside == nil {
		q.inside = map[*flow]uint64{}
	}
	run := &t.lab.run
	switch e.kind {
	case lost:
		if q.burst != nil {
			q.burst.Drops++
		}
	case leaves:
		q.depth -= uint64(e.bytes)
		q.packets--
		if q.inside[e.flow] -= uint64(e.bytes); q.inside[e.flow] == 0 {
			delete(q.inside, e.flow)
		}
		if q.burst != nil && q.depth <= run.BurstBelow {
			q.end(t, e.ns, false)
		}
	case arrives:
		t.writeHop(e, q.depth)
		q.depth += uint64(e.bytes)
		q.packets++
		q.inside[e.flow] += uint64(e.bytes)
		if q.burst == nil {
			if run.BurstAbove == 0 || q.depth <= run.BurstAbove {
				return
			}
			q.burst = &burst{
				Burst: truth.Burst{Node: p.router.Node, Port: p.id, StartNs: e.ns, Bytes: q.depth, Packets: q.packets},
				flows: map[*flow]uint64{},
			}
			for f, bytes := range q.inside {
				q.burst.flows[f] = bytes
			}
		} else {
			q.burst.Packets++
			q.burst.Bytes += uint64(e.bytes)
			q.burst.flows[e.flow] += uint64(e.bytes)
		}
		if q.depth > q.burst.Peak {
			q.burst.Peak, q.burst.PeakNs = q.depth, e.ns
		}
	}
}

// end writes a burst.
func (q *queue) end(t *tracker, ns int64, open bool) {
	b := &q.burst.Burst
	b.EndNs, b.Open = ns, open
	for f, bytes := range q.burst.flows {
		b.Flows = append(b.Flows, truth.BurstFlow{Flow: f.id, Bytes: bytes})
	}
	slices.SortFunc(b.Flows, func(a, b truth.BurstFlow) int {
		return cmp.Or(cmp.Compare(b.Bytes, a.Bytes), cmp.Compare(a.Flow, b.Flow))
	})
	t.writer.Write(b)
	q.burst = nil
}

// writeHop writes a sampled packet that came to a queue and left it.
func (t *tracker) writeHop(e *event, depth uint64) {
	v := e.packet
	every := t.lab.run.SamplePackets
	if v.clone || every == 0 || v.id%every != 0 {
		return
	}
	at := &v.visits[e.hop]
	t.writer.Write(&truth.Hop{
		Packet: v.id, Flow: v.flow.id, Hop: uint8(e.hop), Node: at.in.router.Node, In: at.in.id, Out: at.out.id,
		InNs: at.inNs, OutNs: at.outNs, LatencyNs: at.outNs - at.inNs, InClock: uint64(t.lab.epochNs + at.inNs),
		OutClock: uint64(t.lab.epochNs + at.outNs), Depth: depth, Length: at.length,
	})
}
