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

// JumpsOf puts the steps of each clock together, by node. A clock is the one with more steps than its neighbour. A step
// that is smaller than its uncertainty may be none.
func JumpsOf(steps []Step) []Jump {
	steps = slices.DeleteFunc(steps, func(s Step) bool { return max(s.StepNs, -s.StepNs) <= s.UncertaintyNs })
	count := map[uint32]int{}
	for i := range steps {
		count[steps[i].A]++
		count[steps[i].B]++
	}
	var jumps []Jump
	for i := range steps {
		s := &steps[i]
		j := Jump{
			Node: s.B, Against: s.A, Pairs: 1, AfterNs: s.AfterNs, BeforeNs: s.BeforeNs, StepNs: s.StepNs,
			UncertaintyNs: s.UncertaintyNs,
		}
		switch a, b := count[s.A], count[s.B]; {
		case a > b:
			j.Node, j.Against, j.Known, j.StepNs = s.A, 0, true, -s.StepNs
		case b > a:
			j.Against, j.Known = 0, true
		}
		jumps = append(jumps, j)
	}
	slices.SortStableFunc(jumps, func(a, b Jump) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Against, b.Against),
			cmp.Compare(a.UncertaintyNs, b.UncertaintyNs))
	})
	merged := jumps[:0]
	for _, j := range jumps {
		if n := len(merged); n > 0 && merged[n-1].Node == j.Node && merged[n-1].Against == j.Against {
			all := &merged[n-1]
			all.Pairs++
			all.AfterNs, all.BeforeNs = max(all.AfterNs, j.AfterNs), min(all.BeforeNs, j.BeforeNs)
			continue
		}
		merged = append(merged, j)
	}
	return merged
}
