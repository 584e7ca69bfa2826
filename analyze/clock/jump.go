package clock

import (
	"cmp"
	"slices"
)

// A Jump is the steps of one clock against all its neighbours. If it is not known whose clock it was, it is of the
// second of two neighbours against the first.
type Jump struct {
	Node, Against uint32
	Known         bool // node is; then there is no against
	Pairs         int
	AfterNs       int64 // it was between these two moments, since 1970
	BeforeNs      int64
	StepNs        int64 // forward
	UncertaintyNs int64
}

// JumpsOf says of which clock the steps are: of the one that has more steps that agree than each of the neighbours that
// it has them with. What is left of its other steps is of the neighbours. Steps that no clock explains are of a pair
// each: when several clocks are set at once, nobody can say which were. A step that is smaller than its uncertainty may
// be none.
func JumpsOf(steps []Step) []Jump {
	none := func(s Step) bool { return max(s.StepNs, -s.StepNs) <= s.UncertaintyNs }
	steps = slices.DeleteFunc(steps, none)
	jumped := map[uint32]bool{}
	var jumps []Jump
	for {
		node, agree := clearest(steps, jumped)
		if len(agree) == 0 {
			break
		}
		best := agree[0]
		j := Jump{Node: node, Known: true, AfterNs: best.AfterNs, BeforeNs: best.BeforeNs, Pairs: len(agree)}
		for _, s := range agree {
			if s.UncertaintyNs < best.UncertaintyNs {
				best = s
			}
			j.AfterNs, j.BeforeNs = max(j.AfterNs, s.AfterNs), min(j.BeforeNs, s.BeforeNs)
		}
		j.StepNs, j.UncertaintyNs = best.forward(node), best.UncertaintyNs
		jumps, jumped[node] = append(jumps, j), true
		for i := range steps {
			if s := &steps[i]; s.meets(&best) {
				switch node {
				case s.A:
					s.StepNs, s.UncertaintyNs = s.StepNs+j.StepNs, s.UncertaintyNs+j.UncertaintyNs
				case s.B:
					s.StepNs, s.UncertaintyNs = s.StepNs-j.StepNs, s.UncertaintyNs+j.UncertaintyNs
				}
			}
		}
		steps = slices.DeleteFunc(steps, none)
	}
	for i := range steps {
		s := &steps[i]
		j := Jump{
			Node: s.B, Against: s.A, Pairs: 1, AfterNs: s.AfterNs, BeforeNs: s.BeforeNs, StepNs: s.StepNs,
			UncertaintyNs: s.UncertaintyNs,
		}
		if jumped[s.B] != jumped[s.A] { // what is left is of the other
			j.Known, j.Against = true, 0
			if jumped[s.B] {
				j.Node, j.StepNs = s.A, -s.StepNs
			}
		}
		jumps = append(jumps, j)
	}
	slices.SortStableFunc(jumps, func(a, b Jump) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Against, b.Against),
			cmp.Compare(a.UncertaintyNs, b.UncertaintyNs))
	})
	return jumps
}

// clearest returns the clock that has the most steps that agree, more than each neighbour that it has them with, and
// these steps; none if there is no such clock.
func clearest(steps []Step, jumped map[uint32]bool) (node uint32, agree []Step) {
	of := map[uint32][]Step{}
	for _, s := range steps {
		of[s.A], of[s.B] = append(of[s.A], s), append(of[s.B], s)
	}
	agreeing := func(node uint32, with *Step) (list []Step) {
		for _, s := range of[node] {
			if off := s.forward(node) - with.forward(node); s.meets(with) &&
				max(off, -off) <= s.UncertaintyNs+with.UncertaintyNs {
				list = append(list, s)
			}
		}
		return list
	}
	for i := range steps {
		s := &steps[i]
		for _, end := range [2][2]uint32{{s.A, s.B}, {s.B, s.A}} {
			list := agreeing(end[0], s)
			more := len(list) > len(agree) || len(list) == len(agree) && end[0] < node
			if jumped[end[0]] || len(list) < 2 || !more {
				continue
			}
			if !slices.ContainsFunc(list, func(s Step) bool {
				other := s.A + s.B - end[0]
				return !jumped[other] && len(agreeing(other, &s)) >= len(list)
			}) {
				node, agree = end[0], list
			}
		}
	}
	return node, agree
}

// forward is how far a clock of the two went forward, if the other did not.
func (s *Step) forward(node uint32) int64 {
	if node == s.A {
		return -s.StepNs
	}
	return s.StepNs
}

// meets reports whether both may be of the same moment.
func (s *Step) meets(o *Step) bool { return s.AfterNs <= o.BeforeNs && o.AfterNs <= s.BeforeNs }
