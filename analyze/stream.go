package analyze

import (
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// With stacks the sink alone tells of a packet. Of one that was lost on its way nobody tells, but the data behind it
// leaves a hole in the stream of its TCP connection, which a later packet fills: the sender has sent it again, since it
// did not arrive. If only the report about a packet was lost, or none was sent, nothing fills the hole. If a packet was
// overtaken it comes before a sender would have sent it again (RFC 5681 §3.2: three acknowledgements that say the
// same).

const (
	// longestHole is how many bytes a hole may have: more is another connection, or reports that did not come for a
	// while.
	longestHole = 1 << 20
	// overtaken is how many packets with data may come before one that was sent before them.
	overtaken = 2
	// overtakenByNs is how much later than one that was sent after it a packet may come, without having been lost.
	overtakenByNs = 10e6
	// fullBytes is what a queue has at least that has no room for another packet.
	fullBytes = 32 << 10
	// arrivalsPerJump is how many arrivals of a stream there must be for each hole, or else the reports do not tell of
	// all packets.
	arrivalsPerJump = 4
)

// A stream is how much of the data of a TCP connection has come to the sink, in 8 bytes, as there are millions.
type stream struct {
	next       uint32 // sequence number behind the last byte that was seen; 0: not known, or by chance
	arrivals   uint8  // packets with data, without those that fill holes; it wraps
	contiguous uint8  // arrivals without a hole before them,
	jumps      uint8  // and those with one; both are halved when one is full
	dropped    uint8  // packets with data that a node says it dropped, and that have not come again since
}

// A streamCount counts what came on a path since the last scan.
type streamCount struct {
	arrived         uint32 // packets with data that came in their order
	lost            uint32 // packets that were sent again, of which no node said why
	flows           uint32 // that lost these; one twice if others lost packets between
	tag             uint32 // of the latest of them
	jumped          uint32 // packets with data that came behind a hole
	firstNs, lastNs int64  // when lost ones were missed
}

func (c *streamCount) any() bool { return c.arrived+c.lost > 0 }

func (c *streamCount) add(o *streamCount) {
	if o.lost > 0 {
		if c.lost == 0 {
			c.firstNs = o.firstNs
		}
		c.firstNs, c.lastNs = min(c.firstNs, o.firstNs), max(c.lastNs, o.lastNs)
		if c.tag != o.tag || c.flows == 0 {
			c.flows += o.flows
		} else {
			c.flows += o.flows - 1
		}
		c.tag = o.tag
	}
	c.arrived += o.arrived
	c.lost += o.lost
	c.jumped += o.jumped
}

// follow notes the data of r, a report with a stack, in the stream of its flow.
func (s *Shard) follow(f *flow, tag uint32, r *telemetry.Report, nowNs int64) {
	st := &f.stream
	fp := &f.paths[0]
	if !f.arrived || fp.path != f.arrivedBy || fp.generation != f.arrivedGeneration {
		return // a straggler by another path
	}
	p := &s.paths.paths[fp.path]
	ahead := int32(r.StreamFrom - st.next)
	switch {
	case st.next == 0 || ahead > longestHole || ahead < -longestHole:
		st.next = r.StreamTo
	case ahead == 0:
		st.next, f.moved = r.StreamTo, false
		st.arrives(&st.contiguous)
		p.sinceScan.streams.arrived++
	case ahead > 0 && f.moved: // packets by the two paths overtake each other
		st.next, f.moved = r.StreamTo, false
	case ahead > 0:
		s.holes.open(hole{
			tag: tag, from: st.next, to: r.StreamFrom, path: fp.path, generation: fp.generation, arrivals: st.arrivals,
			full: p.fullQueues(r), ns: nowNs,
		})
		st.next = r.StreamTo
		st.arrives(&st.jumps)
		p.sinceScan.streams.jumped++
	default:
		if h, ok := s.holes.fill(tag, r, nowNs); ok {
			s.lose(st, &h, nowNs)
		}
		if int32(r.StreamTo-st.next) > 0 {
			st.next = r.StreamTo
		}
	}
}

// noteDrop notes that a node says it dropped a packet of the stream.
func (s *Shard) noteDrop(f *flow, tag uint32, r *telemetry.Report) {
	st := &f.stream
	switch {
	case f.numbered && r.Is(telemetry.HasFlowSequence) && int32(r.FlowSequence-st.next) < 0:
		s.gaps.fill(f, tag, r.FlowSequence)
	case (f.numbered || r.StreamFrom != r.StreamTo) && st.dropped < 255:
		st.dropped++
	}
}

// arrives counts a packet in one of contiguous and jumps.
func (st *stream) arrives(as *uint8) {
	if *as++; *as == 255 {
		st.contiguous, st.jumps = st.contiguous/2, st.jumps/2
	}
	st.arrivals++
}

// lose counts the packet that fills hole h as one that was lost on its path, unless it was only overtaken, or a node
// dropped it.
func (s *Shard) lose(st *stream, h *hole, nowNs int64) {
	if st.arrivals-h.arrivals <= overtaken && nowNs-h.ns < overtakenByNs {
		return
	}
	if st.dropped > 0 {
		st.dropped--
		return
	}
	p := &s.paths.paths[h.path]
	if p.generation != h.generation || int(st.jumps)*arrivalsPerJump > int(st.contiguous) {
		return
	}
	lost := streamCount{lost: 1, flows: 1, tag: h.tag, firstNs: h.ns, lastNs: h.ns}
	p.sinceScan.streams.add(&lost)
	for i := range p.hops {
		p.hops[i].full += h.full >> i & 1
	}
}

// fullQueues returns the hops, the first in the lowest bit, at which the packet of r came to a queue about as long as
// the longest that packets on the path met there. So does one that comes soon behind another for which there was no
// room.
func (p *path) fullQueues(r *telemetry.Report) (full uint32) {
	for i := range min(len(r.Hops), len(p.hops), topology.MaxHops) {
		at, h := &p.hops[i], &r.Hops[i]
		if h.Has&telemetry.HasQueue != 0 && at.IsAt(h) && h.QueueOccupancy >= fullBytes &&
			h.QueueOccupancy >= at.queue.max/8*7 {
			full |= 1 << i
		}
	}
	return full
}
