package burst

import (
	"cmp"
	"slices"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// scratch is used again for each burst.
type scratch struct {
	flows   []flowPart
	places  map[FlowRef]int // in flows
	senders map[uint32]uint64
	weights []uint64
	largest []int     // places in flows
	area    []float64 // bytes times ns, by row and step of a stack
}

func newScratch() scratch {
	return scratch{places: map[FlowRef]int{}, senders: map[uint32]uint64{}}
}

// A flowPart is what one flow had in a burst. Weights are bytes, or packets where lengths are unknown.
type flowPart struct {
	Share
	weight, buildUp uint64
	extra           uint64 // ns
	row             int    // in the stack
}

// build adds up the samples of the burst that q has. Nothing is known of q from endNs to limitNs.
func (b *Search) build(q *queue, endNs, limitNs uint64, open bool) Burst {
	w := &q.walk
	r := Burst{
		Node: q.node, Port: q.port, Queue: q.queue, StartNs: w.startNs, PeakNs: q.samples[w.peak].in, EndNs: endNs,
		StartSlackNs: w.slackNs, Open: open,
	}
	r.AwayNs, r.UncertaintyNs = q.clock.away()
	if !q.byDepth {
		r.PeakDelayNs, r.AboveNs, r.BelowNs = w.highest, w.above, w.below
	} else {
		r.Unit, r.Peak, r.Above, r.Below = q.unit, w.highest, w.above, w.below
	}
	switch {
	case open:
	case !w.dense || q.clock.gap.within(endNs, limitNs) > 0:
		r.EndSlackNs = limitNs - endNs
	default:
		r.EndSlackNs = w.endSlackNs
	}
	b.sum(q, &r)
	b.lists(&r)
	b.incast(&r)
	b.timeline(q, &r)
	b.stack(q, &r)
	return r
}

// sum adds up packets, by flow and by sender.
func (b *Search) sum(q *queue, r *Burst) {
	w, s := &q.walk, &b.scratch
	s.flows = s.flows[:0]
	clear(s.places)
	clear(s.senders)
	base := q.at.base()
	inPackets := q.byDepth && q.unit == codepoint.UnitPackets
	for i := w.first; i < w.next; i++ {
		k := &q.samples[i]
		if k.has&sampleTwice != 0 || k.has&SampleDropped != 0 && i < w.start {
			continue
		}
		place, ok := s.places[k.flow]
		if !ok {
			place = len(s.flows)
			s.places[k.flow] = place
			s.flows = append(s.flows, flowPart{Share: Share{Flow: k.flow, Source: k.source}, row: stackFlows})
		}
		f := &s.flows[place]
		n := uint64(k.every)
		r.Samples++
		if k.has&SampleDropped != 0 {
			r.Drops += n
			f.Drops += n
			continue
		}
		bytes, extra := uint64(k.bytes)*n, uint64(0)
		weight := cmp.Or(bytes, n)
		if k.has&SampleOut != 0 {
			extra = uint64(k.wait - min(k.wait, base))
		}
		r.SeenPackets++
		r.SeenBytes += uint64(k.bytes)
		r.Packets += n
		r.Bytes += bytes
		r.PeakDelayNs = max(r.PeakDelayNs, extra)
		f.Packets += n
		f.Bytes += bytes
		f.weight += weight
		f.extra += extra
		f.MaxExtraNs = max(f.MaxExtraNs, extra)
		if i <= w.peak {
			f.buildUp += weight
			f.BuildUpBytes += bytes
			if k.source != 0 {
				s.senders[k.source] += weight
			}
		}
	}
	r.Complete = 1
	switch all := r.Bytes + w.missing; {
	case inPackets && w.missing > 0:
		r.Complete = float64(r.SeenPackets) / float64(r.Packets+w.missing)
	case all > 0:
		r.Complete = float64(r.SeenBytes) / float64(all)
	case r.Packets > 0:
		r.Complete = float64(r.SeenPackets) / float64(r.Packets)
	}
}

// IsCulprit reports whether a flow has so much that it made the burst: a tenth of all, or a quarter of what the largest
// flow has. So twenty equal flows are culprits all, and ten small ones beside a large one are not.
func IsCulprit(part, largest, all uint64) bool {
	return part > 0 && (10*part >= all || 4*part >= largest)
}

// lists tells culprits, by their part in the build-up or in the whole burst, from victims.
func (b *Search) lists(r *Burst) {
	var largest, all, largestUp, allUp uint64
	for i := range b.scratch.flows {
		f := &b.scratch.flows[i]
		largest, all = max(largest, f.weight), all+f.weight
		largestUp, allUp = max(largestUp, f.buildUp), allUp+f.buildUp
	}
	for i := range b.scratch.flows {
		f := &b.scratch.flows[i]
		if allUp > 0 {
			f.Share.Share = float64(f.buildUp) / float64(allUp)
		}
		if IsCulprit(f.buildUp, largestUp, allUp) || IsCulprit(f.weight, largest, all) {
			r.Culprits = append(r.Culprits, f.Share)
			continue
		}
		r.Victims = append(r.Victims, Victim{
			Flow: f.Flow, Source: f.Source, Packets: f.Packets, Bytes: f.Bytes, Drops: f.Drops, ExtraNs: f.extra,
			MaxExtraNs: f.MaxExtraNs,
		})
	}
	slices.SortFunc(r.Culprits, func(x, y Share) int {
		return cmp.Or(cmp.Compare(y.Share, x.Share), cmp.Compare(y.Bytes, x.Bytes), cmp.Compare(x.Flow, y.Flow))
	})
	slices.SortFunc(r.Victims, func(x, y Victim) int {
		return cmp.Or(cmp.Compare(y.ExtraNs, x.ExtraNs), cmp.Compare(y.Drops, x.Drops), cmp.Compare(x.Flow, y.Flow))
	})
	for _, f := range r.Culprits[min(b.config.MaxFlows, len(r.Culprits)):] {
		r.OtherFlows++
		r.OtherBytes += f.Bytes
	}
	for _, f := range r.Victims[min(b.config.MaxFlows, len(r.Victims)):] {
		r.OtherFlows++
		r.OtherBytes += f.Bytes
	}
	r.Culprits = slices.Clip(r.Culprits[:min(b.config.MaxFlows, len(r.Culprits))])
	r.Victims = slices.Clip(r.Victims[:min(b.config.MaxFlows, len(r.Victims))])
}

// incast counts the senders and the flows of the build-up.
func (b *Search) incast(r *Burst) {
	s := &b.scratch
	s.weights = s.weights[:0]
	for i := range s.flows {
		s.weights = append(s.weights, s.flows[i].buildUp)
	}
	r.MainFlows = fewest(s.weights)
	s.weights = s.weights[:0]
	for _, weight := range s.senders {
		s.weights = append(s.weights, weight)
	}
	r.Sources, r.MainSources = len(s.weights), fewest(s.weights)
	r.Incast = r.MainSources >= max(b.config.IncastSources, 1)
}

// fewest returns how many weights make up 80% of all at least, and sorts them.
func fewest(weights []uint64) (n int) {
	slices.Sort(weights)
	all := uint64(0)
	for _, weight := range weights {
		all += weight
	}
	for sum := uint64(0); 5*sum < 4*all; n++ {
		sum += weights[len(weights)-1-n]
	}
	return n
}

// timeline lists the packets. Of more than there is room for, it takes as many groups of neighbours, and of each the
// one that found the longest queue.
func (b *Search) timeline(q *queue, r *Burst) {
	w := &q.walk
	groups := min(b.config.MaxPoints, r.Samples)
	if groups == 0 {
		return
	}
	r.Timeline = make([]Point, 0, groups)
	base := q.at.base()
	n, highest := 0, uint64(0)
	for i := w.first; i < w.next; i++ {
		k := &q.samples[i]
		if k.has&sampleTwice != 0 || k.has&SampleDropped != 0 && i < w.start {
			continue
		}
		p := Point{AtNs: k.in, Flow: k.flow, Depth: k.depth, Bytes: k.bytes, Dropped: k.has&SampleDropped != 0}
		if k.has&SampleOut != 0 {
			p.ExtraNs = k.wait - min(k.wait, base)
		}
		_, level, _ := q.measure(k)
		if n*groups/r.Samples == len(r.Timeline) { // the first of a group
			r.Timeline = append(r.Timeline, p)
			highest = level
		} else if level > highest {
			r.Timeline[len(r.Timeline)-1] = p
			highest = level
		}
		n++
	}
}
