package timing

import (
	"math"
	"time"

	"github.com/waybill-int/waybill/analyze/baseline"
	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Reasons why a delay is not known, besides those of the clocks.
const (
	delayNoTimes  = "no packet of late told both when it left the one and when it came to the other"
	delayTooMany  = "there are too many to keep the delays of all"
	delayLeftOut  = "the clocks differ by more than packets take: times of some packets were left out"
	delayJumped   = "a clock jumped since the flow began"
	delayNoNodes  = "the nodes at the ends are not known"
	delayNoClocks = "clocks are not compared"
	delayWaits    = "learning: packets both ways must show first that no clock was set meanwhile"
)

// Link returns the delays of a link.
func (t *Timing) Link(k topology.LinkKey) *telemetry.Delay {
	if t == nil {
		return &telemetry.Delay{Unknown: delayNoClocks}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return delayAnswer(t.links, k)
}

// Path returns the delays of a path from end to end.
func (t *Timing) Path(hash uint64) *telemetry.Delay {
	if t == nil {
		return &telemetry.Delay{Unknown: delayNoClocks}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return delayAnswer(t.paths, hash)
}

func delayAnswer[K comparable](stats map[K]*delayStat, k K) *telemetry.Delay {
	if s := stats[k]; s != nil {
		return s.answer()
	}
	if len(stats) >= maxDelays {
		return &telemetry.Delay{Unknown: delayTooMany}
	}
	return &telemetry.Delay{Unknown: delayNoTimes}
}

// Correct says by how much the end-to-end times of a flow are wrong.
func (t *Timing) Correct(f *telemetry.Flow) {
	if f.EndToEnd == nil {
		return
	}
	offset, around, why := t.offsetOf(f)
	f.EndToEndBy = &telemetry.ClockOffset{Unknown: why}
	if why == "" {
		f.EndToEndBy.OffsetNs, f.EndToEndBy.UncertaintyNs = &offset, &around
	}
}

// offsetOf returns by how much the clock of a flow's last node was ahead of that of its first, over all of its time.
func (t *Timing) offsetOf(f *telemetry.Flow) (offsetNs, uncertaintyNs int64, why string) {
	first, last, ok := endsOf(f)
	switch {
	case !ok:
		return 0, 0, delayNoNodes
	case first == last:
		return 0, 0, ""
	case t == nil:
		return 0, 0, delayNoClocks
	case f.Residence != nil && f.EndToEnd.Count < f.Residence.Count:
		return 0, 0, delayLeftOut
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, node := range [2]uint32{first, last} {
		if j, ok := t.jumps[node]; ok && j.BeforeNs >= f.First.UnixNano() {
			return 0, 0, delayJumped
		}
	}
	k := t.clocks.Link(first, last)
	switch {
	case !k.Trusted:
		return 0, 0, k.Why
	case k.BentNs >= f.First.UnixNano(): // a jump that is not told yet, or as small as the uncertainty was
		return 0, 0, delayJumped
	}
	// It is known for one moment, and packets came before it and after it.
	away := float64(max(k.AtNs-f.First.UnixNano(), f.Last.UnixNano()-k.AtNs, 0))
	drift := (math.Abs(k.DriftPPB) + k.DriftUncertaintyPPB) / 1e9
	return k.OffsetNs, k.UncertaintyNs + int64(math.Ceil(drift*away)), ""
}

// endsOf returns the first and the last node of a flow, if all of its paths have the same.
func endsOf(f *telemetry.Flow) (first, last uint32, ok bool) {
	for i := range f.Paths {
		hops := f.Paths[i].Hops
		if len(hops) == 0 || hops[0].Node == nil || hops[len(hops)-1].Node == nil {
			return 0, 0, false
		}
		a, b := *hops[0].Node, *hops[len(hops)-1].Node
		if i > 0 && (a != first || b != last) {
			return 0, 0, false
		}
		first, last = a, b
	}
	return first, last, len(f.Paths) > 0
}

// Clocks returns the clock of every node against that of its reference, by node, with the names of nodes.
func (t *Timing) Clocks(names map[uint32]string) []telemetry.Clock {
	list := []telemetry.Clock{}
	if t == nil {
		return list
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	nodes := t.clocks.Nodes()
	others := map[uint32]int{} // nodes that have this reference
	for i := range nodes {
		others[nodes[i].Reference]++
	}
	for i := range nodes {
		n := &nodes[i]
		a := telemetry.Clock{
			Node: n.Node, Name: names[n.Node], Reference: n.Reference, ReferenceName: names[n.Reference],
			Links:   n.Hops,
			Trusted: n.Trusted, Reason: n.Why,
		}
		if others[n.Reference] == 1 { // nothing but itself
			a.Trusted, a.Reason = false, t.clocks.WhyAlone(n.Node)
		}
		if a.Trusted {
			a.OffsetNs, a.UncertaintyNs, a.SpanNs = &n.OffsetNs, &n.UncertaintyNs, &n.SpanNs
			a.DriftPPB, a.DriftWithin = thousandths(n.DriftPPB), thousandths(n.DriftUncertaintyPPB)
		}
		if j, ok := t.jumps[n.Node]; ok {
			a.LastJump = &telemetry.ClockJump{
				After: time.Unix(0, j.AfterNs).UTC(), Before: time.Unix(0, j.BeforeNs).UTC(), StepNs: j.StepNs,
				UncertaintyNs: j.UncertaintyNs,
			}
		}
		list = append(list, a)
	}
	return list
}

// thousandths rounds, so that no number of a hundred digits claims to be exact.
func thousandths(v float64) *float64 {
	v = math.Round(v*1000)/1000 + 0 // no -0
	return &v
}

// Counters are totals of a Timing.
type Counters struct {
	Clocks    clock.Counters
	Baselines baseline.Counters
	Links     int    // whose delays are kept
	Paths     int    // the same
	Unplaced  uint64 // packets whose delay on a link or path found no place
	Missed    uint64 // packets that found no room on their way here
}

// Counters returns totals.
func (t *Timing) Counters() Counters {
	if t == nil {
		return Counters{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	return Counters{
		Clocks: t.clocks.Counters(), Baselines: t.baselines.Counters(), Links: len(t.links), Paths: len(t.paths),
		Unplaced: t.unplaced, Missed: t.missed,
	}
}
