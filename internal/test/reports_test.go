package test

import (
	"bytes"
	"testing"
)

// TestRenumber: a report that was renumbered is the one that would have been made, but for the stack, whose values come
// again after 64,000 flows.
func TestRenumber(t *testing.T) {
	for _, hops := range []int{1, 5, 16} {
		for _, flow := range []uint32{7, 7 + 64_000, 7 + 150*64_000} {
			b := Report(Form20MD, 7, 3, hops)
			Renumber(b, 9, 1, 2, 3_000_000)
			Renumber(b, uint32(hops), flow, 4_194_303, 0)
			if want := Report(Form20MD, flow, 4_194_303, hops); !bytes.Equal(b, want) {
				t.Errorf("flow %d, %d hops: got\n%x, want\n%x", flow, hops, b, want)
			}
		}
	}
	b := Report(Form20MD, 7, 3, 5)
	if n := testing.AllocsPerRun(100, func() { Renumber(b, 5, 9, 4, 1) }); n != 0 {
		t.Errorf("%v allocations, want 0", n)
	}
}
