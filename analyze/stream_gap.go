package analyze

import "github.com/waybill-int/waybill/telemetry"

// A source that numbers the packets of a flow (destination headers of INT 2016 §4.1, Host-INT) makes loss exact: a
// number that does not come is a packet that was lost between it and the sink, unless a node says that it dropped it,
// or the report about it was lost.

const (
	// longestGap is how many packets may be missing before it is taken for a source that began anew, and overtaken
	// ones are at most reorderedBy behind.
	longestGap, reorderedBy = 1 << 16, 64
	// gapWaitNs is how long the numbers in a gap may still come, of packets that were overtaken or dropped.
	gapWaitNs       = int64(400e6)
	gapSets, perSet = 1024, 4
)

// A gap is numbers of a flow that have not come, and what came behind them.
type gap struct {
	ns         int64 // of the join's time, when it was seen; 0: no gap
	arrivedNs  int64 // the same since 1970
	tag        uint32
	from, to   uint32
	missing    uint32 // of these numbers
	path       uint32 // of the packet behind them
	full       uint32 // see fullQueues
	generation uint16
}

// A gapTable keeps the latest gaps of all flows of a shard, until it is certain that nothing fills them.
type gapTable struct {
	sets      [][perSet]gap // none until a packet has a number
	open      int
	settledNs int64
}

// fill takes a number out of the gap of a flow that it belongs to.
func (t *gapTable) fill(f *flow, tag, number uint32) {
	if t.sets == nil {
		return
	}
	set := &t.sets[tag%gapSets]
	for i := range set {
		g := &set[i]
		if g.ns == 0 || g.tag != tag || int32(number-g.from) < 0 || int32(g.to-number) <= 0 {
			continue
		}
		f.missing -= min(f.missing, 1)
		if g.missing--; g.missing == 0 {
			g.ns = 0
			t.open--
		}
		return
	}
}

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
		s.gaps.fill(f, tag, number)
		return
	}
	st.next, f.moved = number+1, false
	if f.gapsReported {
		if here {
			p.sinceScan.numbers.arrived += uint32(ahead) + 1
		}
		return
	}
	if here {
		p.sinceScan.numbers.arrived++
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
	p.sinceScan.numbers.jumped++
	s.openGap(&gap{
		ns: max(s.join.nowNs, 1), arrivedNs: nowNs, tag: tag, from: number - uint32(ahead), to: number,
		missing: missing, path: fp.path, generation: fp.generation, full: p.fullQueues(r),
	})
}

// openGap keeps a gap; of its set the oldest gives way.
func (s *Shard) openGap(g *gap) {
	t := &s.gaps
	if t.sets == nil {
		t.sets = make([][perSet]gap, gapSets)
	}
	set := &t.sets[g.tag%gapSets]
	oldest := &set[0]
	for i := range set {
		if set[i].ns < oldest.ns {
			oldest = &set[i]
		}
	}
	if oldest.ns > 0 {
		s.settleGap(oldest)
	}
	*oldest = *g
	t.open++
}

// settleGaps counts what has not come as lost.
func (s *Shard) settleGaps() {
	t := &s.gaps
	t.settledNs = s.join.wholeNs
	for i := range t.sets {
		for j := range t.sets[i] {
			if g := &t.sets[i][j]; g.ns > 0 && t.settledNs-g.ns >= gapWaitNs {
				s.settleGap(g)
			}
		}
	}
}

func (s *Shard) settleGap(g *gap) {
	s.gaps.open--
	late := s.join.nowNs-g.ns < overtakenByNs // it gave way before it was certain
	if p := &s.paths.paths[g.path]; p.generation == g.generation && !late {
		lost := streamCount{lost: g.missing, flows: 1, tag: g.tag, firstNs: g.arrivedNs, lastNs: g.arrivedNs}
		p.sinceScan.numbers.add(&lost)
		for i := range p.hops {
			p.hops[i].full += g.full >> i & 1 * g.missing
		}
	}
	g.ns = 0
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
		lost := streamCount{lost: r.DropCount, flows: 1, tag: tag, firstNs: nowNs, lastNs: nowNs}
		p.sinceScan.numbers.add(&lost)
	}
}
