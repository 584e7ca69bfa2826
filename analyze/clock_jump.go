package analyze

import (
	"cmp"
	"slices"
)

// A clockJump is the steps of one clock against all its neighbours. If it is not known whose clock it was, it is of the second
// of two neighbours against the first.
type clockJump struct {
	node, against uint32
	known         bool // node is; then there is no against
	pairs         int
	afterNs       int64 // it was between these two moments, since 1970
	beforeNs      int64
	stepNs        int64 // forward
	uncertaintyNs int64
}

// jumpsOf puts the steps of each clock together, by node. A clock is the one with more steps than its neighbour. A step that is
// smaller than its uncertainty may be none.
func jumpsOf(steps []ClockStep) []clockJump {
	steps = slices.DeleteFunc(steps, func(s ClockStep) bool { return max(s.StepNs, -s.StepNs) <= s.UncertaintyNs })
	count := map[uint32]int{}
	for i := range steps {
		count[steps[i].A]++
		count[steps[i].B]++
	}
	var jumps []clockJump
	for i := range steps {
		s := &steps[i]
		j := clockJump{
			node: s.B, against: s.A, pairs: 1, afterNs: s.AfterNs, beforeNs: s.BeforeNs, stepNs: s.StepNs, uncertaintyNs: s.UncertaintyNs,
		}
		switch a, b := count[s.A], count[s.B]; {
		case a > b:
			j.node, j.against, j.known, j.stepNs = s.A, 0, true, -s.StepNs
		case b > a:
			j.against, j.known = 0, true
		}
		jumps = append(jumps, j)
	}
	slices.SortStableFunc(jumps, func(a, b clockJump) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.against, b.against), cmp.Compare(a.uncertaintyNs, b.uncertaintyNs))
	})
	merged := jumps[:0]
	for _, j := range jumps {
		if n := len(merged); n > 0 && merged[n-1].node == j.node && merged[n-1].against == j.against {
			all := &merged[n-1]
			all.pairs++
			all.afterNs, all.beforeNs = max(all.afterNs, j.afterNs), min(all.beforeNs, j.beforeNs)
			continue
		}
		merged = append(merged, j)
	}
	return merged
}
