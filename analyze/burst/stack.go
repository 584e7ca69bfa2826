package burst

import (
	"cmp"
	"math"
	"slices"
)

const (
	stackSteps = 64 // at most
	stackFlows = 8  // that are told apart
)

// A Stack is who was in the queue over time: the time of a burst in equal steps, and for each flow how many bytes of it
// were in the queue on average in each step. The sum over all rows is the mean length of the queue as far as packets
// were seen, scaled up by the rate of sampling.
type Stack struct {
	StepNs uint64     // from the start of the burst on; the last step ends with the burst
	Flows  []FlowRef  // the largest, most bytes first
	Bytes  [][]uint64 // a row for each of Flows, and one more for all others together; none if lengths are unknown
}

// stack adds up when the packets of a burst were in the queue.
func (b *Search) stack(q *queue, r *Burst) {
	span := r.EndNs - r.StartNs
	if span == 0 || r.Bytes == 0 {
		return
	}
	s := &b.scratch
	stepNs := (span-1)/stackSteps + 1
	steps := int((span-1)/stepNs) + 1
	s.largest = s.largest[:0]
	for place := range s.flows {
		s.largest = append(s.largest, place)
	}
	slices.SortFunc(s.largest, func(x, y int) int {
		return cmp.Or(cmp.Compare(s.flows[y].Bytes, s.flows[x].Bytes), cmp.Compare(s.flows[x].Flow, s.flows[y].Flow))
	})
	s.largest = s.largest[:min(stackFlows, len(s.largest))]
	r.Stack.StepNs = stepNs
	for row, place := range s.largest {
		s.flows[place].row = row
		r.Stack.Flows = append(r.Stack.Flows, s.flows[place].Flow)
	}
	rows := len(s.largest) + 1
	s.area = append(s.area[:0], make([]float64, rows*steps)...)
	spent := q.spent()
	for i := q.walk.first; i < q.walk.next; i++ {
		k := &q.samples[i]
		if !k.packetIn() || k.has&SampleOut == 0 {
			continue
		}
		row := s.flows[s.places[k.flow]].row
		weight := float64(k.bytes) * float64(k.every)
		// What a queue costs when it is empty is mostly spent behind it.
		at, left := max(k.came(), r.StartNs)-r.StartNs, min(max(k.out()-min(spent, k.out()), k.came()), r.EndNs)
		for left -= min(left, r.StartNs); at < left; {
			step := at / stepNs
			to := min(left, (step+1)*stepNs)
			s.area[row*steps+int(step)] += weight * float64(to-at)
			at = to
		}
	}
	for row := range rows {
		bytes := make([]uint64, steps)
		for step := range bytes {
			length := min(stepNs, span-uint64(step)*stepNs)
			bytes[step] = uint64(math.Round(s.area[row*steps+step] / float64(length)))
		}
		r.Stack.Bytes = append(r.Stack.Bytes, bytes)
	}
}
