package timing

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// What waits for a look is bounded, and the more packets a path has the fewer of them are looked at.
func TestTransitsBounded(t *testing.T) {
	hops := make([]telemetry.Hop, 4)
	var list Packets
	for range maxTransitHops/4 + 100 {
		list.Add(7, 3, hops, 0, 1e9, 0)
	}
	full := list.Exchange(Packets{})
	if len(full.packets) != maxTransitHops/4 || full.overflow != 100 || full.packets[0].others != 3 {
		t.Errorf("%d packets, %d left out", len(full.packets), full.overflow)
	}
	if few := list.Exchange(full); len(few.packets) != 0 || few.overflow != 100 {
		t.Errorf("%d packets left, %d left out", len(few.packets), few.overflow)
	}
	for i, want := range []uint64{0, 0, 1, 3} {
		if got := Skip([]uint64{0, 1000, 2000, 2001}[i], transitHops/1000); got != want {
			t.Errorf("%d: got %d, want %d", i, got, want)
		}
	}
}

// A clock that jumped is the one that has more steps than its neighbours.
func TestJumpsOf(t *testing.T) {
	steps := []clock.Step{
		{A: 1, B: 5, AfterNs: 10, BeforeNs: 20, StepNs: 3000, UncertaintyNs: 7},
		{A: 5, B: 9, AfterNs: 5, BeforeNs: 19, StepNs: -3001, UncertaintyNs: 4},
		{A: 20, B: 21, AfterNs: 1, BeforeNs: 2, StepNs: 50, UncertaintyNs: 1},
	}
	got := clock.JumpsOf(steps)
	want := []clock.Jump{
		{Node: 5, Known: true, Pairs: 2, AfterNs: 10, BeforeNs: 19, StepNs: 3001, UncertaintyNs: 4},
		{Node: 21, Against: 20, Pairs: 1, AfterNs: 1, BeforeNs: 2, StepNs: 50, UncertaintyNs: 1},
	}
	if len(got) != len(want) || got[0] != want[0] || got[1] != want[1] {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

// Delays that are hardly known do not spoil those that are known well, and those of a window in which a clock jumped
// are no facts.
func TestDelayStatSettles(t *testing.T) {
	var s delayStat
	end := int64(0)
	window := func(delay, around uint64, why string) {
		s.add(&clock.Delay{DelayNs: delay, UncertaintyNs: around, OK: true}, false)
		end++
		s.settle(end, end, end, why)
		if why == "" {
			s.settle(end, end, end, "") // once packets came both ways
		}
	}
	window(10_000, 900, "")
	window(20_000, 100, "")
	window(21_000, 350, "")
	window(99_000, 500, "")
	window(3e6, 100, "packets contradict the estimate: a clock was set, or stamps are wrong")
	if a := s.answer(); a.NS.Count != 2 || a.NS.Min != 20_000 || a.NS.Max != 21_000 || *a.UncertaintyNs != 350 ||
		a.Unknown != "packets contradict the estimate: a clock was set, or stamps are wrong" {
		t.Errorf("%+v %+v", a, a.NS)
	}
	s.turn()
	window(22_000, 3000, "")
	if a := s.answer(); a.NS.Count != 3 || *a.UncertaintyNs != 3000 || a.Unknown != "" {
		t.Errorf("%+v %+v", a, a.NS)
	}
	s.turn()
	if a := s.answer(); a.NS.Count != 1 || a.NS.Min != 22_000 {
		t.Errorf("%+v %+v", a, a.NS)
	}
	if s.turn(); s.turn() || s.answer().NS != nil {
		t.Errorf("left: %+v", s.answer().NS)
	}
}

// The delays of a link are given once they are settled, each once.
func TestDelaysSince(t *testing.T) {
	times, key := New(), topology.LinkKey{From: 1, To: 2}
	times.KeepDelays()
	stat := &delayStat{from: 1, to: 2, ungiven: &delaySum{}}
	times.links[key] = stat
	for i, delay := range []uint64{1000, 5000, 3000} {
		stat.add(&clock.Delay{OK: true, DelayNs: delay, UncertaintyNs: 10, Clamped: i == 0}, false)
	}
	if got := times.DelaysSince(true); len(got) != 0 {
		t.Errorf("got %+v before they are settled", got)
	}
	stat.settle(1, 1, 1, "")
	stat.settle(2, 2, 2, "")
	stat.add(&clock.Delay{OK: true, DelayNs: 7000}, false)
	stat.settle(3, 3, 3, "a clock jumped") // these are not
	for _, give := range []bool{false, true} {
		got, ok := times.DelaysSince(give)[key]
		if !ok || got.Count != 3 || got.Sum != 9000 || got.Min != 1000 || got.Max != 5000 || got.UncertaintyNs != 10 ||
			got.Clamped != 1 {
			t.Errorf("got %+v", got)
		}
	}
	if got := times.DelaysSince(true); len(got) != 0 {
		t.Errorf("got %+v twice", got)
	}
}

// TestDelaysBeforeJump: of the window before the one in which a clock jumped, those delays are known behind which
// packets of both directions came before the jump.
func TestDelaysBeforeJump(t *testing.T) {
	for toldNs, want := range map[int64]uint64{2000: 3, 1000: 3, 999: 2, 900: 2, 899: 0} {
		s := delayStat{from: 1, to: 2}
		for _, late := range []bool{false, false, true} {
			s.add(&clock.Delay{DelayNs: 10_000, UncertaintyNs: 100, OK: true}, late)
		}
		if s.settle(900, 1000, 995, ""); s.answer().NS != nil {
			t.Error("known before packets could show a jump")
		}
		s.add(&clock.Delay{DelayNs: 3e6, UncertaintyNs: 100, OK: true}, false)
		s.settle(1900, 2000, toldNs, "a clock jumped")
		known := uint64(0)
		if a := s.answer(); a.NS != nil {
			known = a.NS.Count
		}
		if known != want || s.unknown != 4-want {
			t.Errorf("up to %d: %d known, %d unknown, want %d", toldNs, known, s.unknown, want)
		}
	}
}
