package export

import (
	"slices"
	"testing"
)

// TestLose leaves out as many numbers as reports were lost, spread over the destinations that were sent some since.
func TestLose(t *testing.T) {
	c := config(TR20)
	c.Destinations = collectors(2)
	r := newRig(t, c)
	if r.Lose(5) {
		t.Error("nobody was sent a report, and so nobody sees that some are missing")
	}
	flows := []uint64{0, 0} // by destination
	for i := range flows {
		for r.Destination(flows[i]) != i {
			flows[i]++
		}
	}
	next := func(destination int) uint32 {
		return r.one(Report{Flow: flows[destination]}).Sequence
	}
	got := []uint32{next(0), next(1), next(1)}
	if !r.Lose(5) || r.Lose(5) {
		t.Error("want a gap behind what was sent, and one only")
	}
	if got = append(got, next(0), next(0), next(1)); !slices.Equal(got, []uint32{0, 0, 1, 4, 5, 4}) {
		t.Errorf("got %d: 3 are missing at the first destination and 2 at the second", got)
	}
}
