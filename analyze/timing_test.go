package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// twoNodes lets packets go both ways between two nodes for some seconds, whose clocks are 7 ms apart and show only
// these bits. The delay is 20 us there and back.
func twoNodes(t *testing.T, has telemetry.Fields, mask, unitNs uint64) *Collector {
	t.Helper()
	c := &Collector{Shards: []*Shard{NewShard(DefaultConfig())}}
	scanner := NewScanner(c, eventlog.New(10))
	now := int64(1_700_000_000e9)
	scanner.Scan(now)
	stamp := func(ns int64) uint64 { return (uint64(ns) / unitNs & mask) * unitNs }
	for range 100 {
		for way := range 2 {
			hops := make([]telemetry.Hop, 2)
			for i := range hops {
				node := i ^ way
				at := now + int64(i)*20_000 + int64(node)*7e6
				hops[i] = telemetry.Hop{
					Has:    telemetry.HasNode | telemetry.HasIngressTime | telemetry.HasEgressTime | has,
					NodeID: uint32(1 + node), IngressNs: stamp(at), EgressNs: stamp(at),
				}
			}
			r := telemetry.Report{Flags: telemetry.Embedded | telemetry.HasFlow, Hops: hops}
			r.Flow.SrcPort = uint16(way)
			c.Shards[0].Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, now+1e6)
		}
		now += 1e8
		scanner.Scan(now)
	}
	return c
}

// Stamps of any width and unit give the same delays, whenever they wrap.
func TestTimingOfStamps(t *testing.T) {
	for _, test := range []struct {
		name   string
		has    telemetry.Fields
		mask   uint64
		unitNs uint64
		wrapNs uint64
	}{
		{"64 bits", telemetry.HasWideTimes, 1<<64 - 1, 1, 0},
		{"64 bits of microseconds", telemetry.HasWideTimes | telemetry.HasMicroTimes, 1<<64 - 1, 1000, 0},
		{"32 bits", 0, 1<<32 - 1, 1, 1 << 32},
		{"32 bits of microseconds", telemetry.HasMicroTimes, 1<<32 - 1, 1000, 1 << 32 * 1000},
		{"31 bits", telemetry.HasShortTimes, 1<<31 - 1, 1, 1 << 31},
	} {
		if got := wrapOf(test.has); got != test.wrapNs {
			t.Errorf("%s: wraps after %d ns, want %d", test.name, got, test.wrapNs)
		}
		c := twoNodes(t, test.has, test.mask, test.unitNs)
		links := c.Links()
		if len(links) != 2 {
			t.Fatalf("%s: %d links", test.name, len(links))
		}
		for _, l := range links {
			d := l.Delay
			if d.NS == nil || d.NS.Count < 50 || d.NS.Min+*d.UncertaintyNs < 20_000 ||
				d.NS.Max > 20_000+*d.UncertaintyNs || *d.UncertaintyNs > 200_000 {
				t.Errorf("%s: %+v %+v", test.name, d, d.NS)
			}
		}
		clocks := c.Clocks()
		if len(clocks) != 2 || !clocks[1].Trusted || *clocks[1].OffsetNs < 7e6-*clocks[1].UncertaintyNs ||
			*clocks[1].OffsetNs > 7e6+*clocks[1].UncertaintyNs {
			t.Errorf("%s: clocks %+v", test.name, clocks)
		}
		if n := c.Timing.Counters(); n.Clocks.Samples != 200 ||
			n.Clocks.Unusable+n.Clocks.Late+n.Clocks.Overflow+n.Missed+n.Unplaced != 0 {
			t.Errorf("%s: %+v", test.name, n)
		}
	}
}

// What a shard sets aside is bounded, and what does not fit is counted; with many packets a path has few that are
// looked at.
func TestTransitsBounded(t *testing.T) {
	s := NewShard(DefaultConfig())
	r := telemetry.Report{Flags: telemetry.Embedded | telemetry.HasFlow, Hops: make([]telemetry.Hop, 4)}
	for i := range r.Hops {
		r.Hops[i] = telemetry.Hop{Has: telemetry.HasNode, NodeID: uint32(i)}
	}
	batch := &telemetry.Batch{Reports: []telemetry.Report{r}}
	const packets = maxTransitHops/4 + 100
	for range packets {
		s.Process(batch, second)
	}
	full := s.takeTransits(transitList{})
	if len(full.transits) != maxTransitHops/4 || full.overflow != 100 {
		t.Errorf("%d packets, %d left out", len(full.transits), full.overflow)
	}
	for i, want := range []uint64{0, 0, 1, 3} {
		if got := skipOf([]uint64{0, 1000, 2000, 2001}[i], transitHops/1000); got != want {
			t.Errorf("%d: got %d, want %d", i, got, want)
		}
	}
	s.paths.paths[0].skip = 3
	for range 400 {
		s.Process(batch, second)
	}
	if few := s.takeTransits(full); len(few.transits) != 100 || few.transits[0].others != 3 || few.overflow != 100 {
		t.Errorf("%d of 400 packets, %d left out", len(few.transits), few.overflow)
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
	window := func(delay, around uint64, why string) {
		s.add(&clock.Delay{DelayNs: delay, UncertaintyNs: around, OK: true})
		s.settle(why)
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
