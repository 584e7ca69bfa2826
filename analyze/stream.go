package analyze

import (
	"github.com/waybill-int/waybill/analyze/loss"
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
)

// A stream is how much of the data of a TCP connection has come to the sink, in 8 bytes, as there are millions.
type stream struct {
	next     uint32 // sequence number behind the last byte that was seen; 0: not known, or by chance
	arrivals uint8  // packets with data, without those that fill holes; it wraps
	begun    bool   // there was one
	dropped  uint8  // packets with data that a node says it dropped, and that have not come again since
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
		st.arrives(&p.sinceScan.streams)
	case ahead > 0 && f.moved: // packets by the two paths overtake each other
		st.next, f.moved = r.StreamTo, false
	case ahead > 0:
		s.holes.Open(loss.Hole{
			Tag: tag, From: st.next, To: r.StreamFrom, Path: fp.path, Generation: fp.generation, Arrivals: st.arrivals,
			Full: p.fullQueues(r), Ns: nowNs,
		})
		st.next = r.StreamTo
		st.arrives(&p.sinceScan.streams)
		p.sinceScan.streams.Jumped++
	default:
		if h, ok := s.holes.Fill(tag, r, nowNs); ok {
			s.lose(f, &h, nowNs)
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
		s.fillGap(f, tag, r.FlowSequence)
	case (f.numbered || r.StreamFrom != r.StreamTo) && st.dropped < 255:
		st.dropped++
	}
}

// arrives counts a packet, and the one before it for its path: had that been lost, this one would show it, and nothing
// shows it of the last one.
func (st *stream) arrives(on *loss.Count) {
	if st.begun {
		on.Arrived++
	}
	st.begun = true
	st.arrivals++
}

// lose counts the packet that fills hole h as one that was lost on its path, unless it was only overtaken, or a node
// dropped it.
func (s *Shard) lose(f *flow, h *loss.Hole, nowNs int64) {
	st := &f.stream
	if st.arrivals-h.Arrivals <= overtaken && nowNs-h.Ns < overtakenByNs {
		return
	}
	if st.dropped > 0 {
		st.dropped--
		return
	}
	p := &s.paths.paths[h.Path]
	if p.generation != h.Generation {
		return
	}
	lost := loss.Count{Lost: 1, Flows: 1, Tag: h.Tag, FirstNs: h.Ns, LastNs: h.Ns}
	p.sinceScan.streams.Add(&lost)
	s.hits.Add(&p.sinceScan.hit.Streams, &f.key, 1)
	for i := range p.hops {
		p.hops[i].full += h.Full >> i & 1
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
