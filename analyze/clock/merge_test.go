package clock

import (
	"math"
	"testing"
	"time"
)

// Two collectors of which each sees one direction know an offset only together, and then what one would have known.
func TestClocksMerge(t *testing.T) {
	for _, wrap := range []uint64{0, 1 << 32} {
		one, two := newClockWorld(t, 1), newClockWorld(t, 2)
		for _, w := range []*clockWorld{one, two} {
			w.wrapNs = wrap
			for _, line := range []string{"clock 2 3ms 50000", "link 1 2 10us 10us", "run 6s"} {
				w.do(line)
			}
			for _, c := range w.clocks {
				c.Advance(w.nowNs)
			}
		}
		c := two.clocks[0]
		for i, half := range two.clocks {
			if k := half.Link(1, 2); k.Trusted || k.Why != whyOneWay || math.Abs(k.DriftPPB-50000) > 500 {
				t.Errorf("collector %d alone: %+v", i, k)
			}
		}
		c.Merge(two.clocks[1])
		got, want := c.Link(1, 2), one.clocks[0].Link(1, 2)
		if !got.Trusted || math.Abs(float64(got.OffsetNs-want.OffsetNs)) > 500 ||
			math.Abs(got.DriftPPB-want.DriftPPB) > 200 ||
			math.Abs(float64(got.UncertaintyNs-want.UncertaintyNs)) > 1000 {
			t.Errorf("wrap %d: together %+v, one that saw all %+v", wrap, got, want)
		}
		if got := c.Counters(); got.Samples != one.clocks[0].Counters().Samples {
			t.Errorf("together %+v, one that saw all %+v", got, one.clocks[0].Counters())
		}

		// Merged into nothing, a state is the same; merged twice, it says nothing else.
		empty, err := New(DefaultConfig())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			empty.Merge(one.clocks[0])
			if got := empty.Link(1, 2); got != want {
				t.Errorf("wrap %d: merged into nothing %+v, want %+v", wrap, got, want)
			}
		}
		two.run(2 * time.Second) // one direction goes on
		if k := c.Link(1, 2); !k.Trusted {
			t.Errorf("wrap %d: after two seconds %+v", wrap, k)
		}
	}
}

func TestClocksMergeOfOtherStamps(t *testing.T) {
	wide, narrow := newClockWorld(t, 1), newClockWorld(t, 1)
	narrow.wrapNs = 1 << 32
	for _, w := range []*clockWorld{wide, narrow} {
		w.do("link 1 2 10us 10us")
		w.do("run 3s")
	}
	want := wide.clocks[0].Link(1, 2)
	wide.clocks[0].Merge(narrow.clocks[0])
	if got := wide.clocks[0].Link(1, 2); got != want || wide.clocks[0].Counters().Overflow != 1 {
		t.Errorf("got %+v, %+v, want %+v", got, wide.clocks[0].Counters(), want)
	}
}
