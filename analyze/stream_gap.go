package analyze

import (
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/telemetry"
)

// A source that numbers the packets of a flow (destination headers of INT 2016 §4.1, Host-INT) makes loss exact: a
// number that does not come is a packet that was lost between it and the sink, unless a node says that it dropped it,
// or the report about it was lost.

const (
	// longestGap is how many packets may be missing before it is taken for a source that began anew, and overtaken
	// ones are at most reorderedBy behind.
	longestGap, reorderedBy = 1 << 16, 64
)

// followNumbers notes the number that the source gave a packet in its flow.
func (s *Shard) followNumbers(f *flow, tag uint32, r *telemetry.Report, nowNs int64) {
	st, number := &f.stream, r.FlowSequence
	fresh := !f.numbered
	if fresh {
		f.stream, f.numbered, f.gapsReported = stream{}, true, r.Is(telemetry.GapsReported)
	}
	fp := &f.paths[0]
	p := s.pathOf(fp)
	here := f.arrived && p != nil && fp.path == f.arrivedBy && fp.generation == f.arrivedGeneration && !f.moved
	ahead := int32(number - st.next)
	switch {
	case fresh || ahead > longestGap || ahead < -longestGap || number == 1 && ahead < -reorderedBy:
		st.next, st.dropped, f.moved = number+1, 0, false
		return
	case ahead < 0:
		s.fillGap(f, tag, number)
		return
	}
	st.next, f.moved = number+1, false
	if f.gapsReported {
		if here {
			p.sinceScan.numbers.Arrived += uint32(ahead) + 1
		}
		return
	}
	if here {
		p.sinceScan.numbers.Arrived++
	}
	if ahead == 0 {
		return
	}
	missing := uint32(ahead)
	if st.dropped == 255 { // perhaps more
		missing, st.dropped = 0, 0
	}
	said := min(missing, uint32(st.dropped))
	missing -= said
	st.dropped -= uint8(said)
	if missing == 0 {
		return
	}
	f.missing += missing
	if !here { // on the path before, or on this one
		return
	}
	p.sinceScan.numbers.Jumped++
	oldest := s.gaps.Add(&loss.Gap{
		Ns: max(s.join.NowNs, 1), ArrivedNs: nowNs, Tag: tag, From: number - uint32(ahead), To: number,
		Missing: missing, Path: fp.path, Generation: fp.generation, Full: p.fullQueues(r),
	})
	if oldest.Ns > 0 {
		s.settleGap(&oldest)
	}
}

// settleGap counts what has not come as lost.
func (s *Shard) settleGap(g *loss.Gap) {
	late := s.join.NowNs-g.Ns < overtakenByNs // it gave way before it was certain
	if p := &s.paths.paths[g.Path]; p.generation == g.Generation && !late {
		lost := loss.Count{Lost: g.Missing, Flows: 1, Tag: g.Tag, FirstNs: g.ArrivedNs, LastNs: g.ArrivedNs}
		p.sinceScan.numbers.Add(&lost)
		s.hits.Add(&p.sinceScan.hit.Numbers, s.flows.keyOf(g.Tag), uint64(g.Missing))
		for i := range p.hops {
			p.hops[i].full += g.Full >> i & 1 * g.Missing
		}
	}
}

// fillGap takes a number that came late out of what a flow misses.
func (s *Shard) fillGap(f *flow, tag, number uint32) {
	if s.gaps.Fill(tag, number) {
		f.missing -= min(f.missing, 1)
	}
}

// reportedGap takes what the sink of a flow says is missing in its numbers.
func (s *Shard) reportedGap(r *telemetry.Report, nowNs int64) {
	if !r.Is(telemetry.HasFlowSequence) || !r.Is(telemetry.HasFlow) {
		return
	}
	tag := s.flows.tagOf(&r.Flow)
	place, _, ok := s.flows.find(&r.Flow, tag)
	if !ok {
		return
	}
	f := s.flows.at(place)
	if !f.numbered {
		f.stream, f.numbered, f.gapsReported = stream{next: r.FlowSequence + r.DropCount}, true, true
	}
	f.missing += r.DropCount
	if p := s.pathOf(&f.paths[0]); p != nil && f.paths[0].used {
		lost := loss.Count{Lost: r.DropCount, Flows: 1, Tag: tag, FirstNs: nowNs, LastNs: nowNs}
		p.sinceScan.numbers.Add(&lost)
		s.hits.Add(&p.sinceScan.hit.Numbers, &f.key, uint64(r.DropCount))
	}
}
