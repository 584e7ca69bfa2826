package analyze

import (
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/telemetry"
)

// twoNodes lets packets go both ways between two nodes for some seconds, whose clocks are 7 ms apart and show only
// these bits. The delay is 20 us there and back.
func twoNodes(t *testing.T, has telemetry.Fields, mask, unitNs uint64) *Collector {
	t.Helper()
	c := &Collector{Owners: []Owner{NewShard(DefaultConfig())}}
	c.runTwoNodes(NewScanner(c, eventlog.New(10)), has, mask, unitNs)
	return c
}

func (c *Collector) runTwoNodes(scanner *scan.Scanner, has telemetry.Fields, mask, unitNs uint64) {
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
			c.Owners[0].(*Shard).Process(&telemetry.Batch{Reports: []telemetry.Report{r}}, now+1e6)
		}
		now += 1e8
		scanner.Scan(now)
	}
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
		if got := test.has.WrapNs(); got != test.wrapNs {
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

// Of a path with many packets some are looked at, and stand for the others.
func TestTransitsSkipped(t *testing.T) {
	s, times := NewShard(DefaultConfig()), timing.New()
	r := telemetry.Report{Flags: telemetry.Embedded | telemetry.HasFlow, Hops: make([]telemetry.Hop, 2)}
	for i := range r.Hops {
		r.Hops[i] = telemetry.Hop{
			Has:    telemetry.HasNode | telemetry.HasWideTimes | telemetry.HasIngressTime | telemetry.HasEgressTime,
			NodeID: uint32(i + 1), IngressNs: 1e9, EgressNs: 1e9,
		}
	}
	batch := &telemetry.Batch{Reports: []telemetry.Report{r}}
	s.Process(batch, second)
	s.paths.paths[0].skip = 3
	for range 399 {
		s.Process(batch, second)
	}
	times.Take(&s.transits)
	if n := times.Counters(); n.Clocks.Samples != 1+400/4 {
		t.Errorf("%d of 400 packets were looked at", n.Clocks.Samples)
	}
}

// The delays that links have in a store are those of their answers.
func TestIntervalsDelays(t *testing.T) {
	c := &Collector{Owners: []Owner{NewShard(DefaultConfig())}}
	scanner := NewScanner(c, eventlog.New(10))
	v := NewIntervals(c, nil, 1_700_000_000e9)
	c.runTwoNodes(scanner, telemetry.HasWideTimes, 1<<64-1, 1)
	got := map[uint32]telemetry.LinkInterval{}
	give := func(batch *telemetry.Intervals) {
		for i := range batch.Links {
			if l := batch.Links[i]; l.Delay.Count > 0 {
				if _, ok := got[l.From.Node]; ok {
					t.Errorf("the delays of %+v are given twice", l)
				}
				got[l.From.Node] = l
			}
		}
	}
	v.Look(1_700_000_010e9, give)
	v.Look(1_700_000_020e9, give)
	links := c.Links()
	if len(got) != len(links) || len(links) != 2 {
		t.Fatalf("given %+v of %d links", got, len(links))
	}
	for _, l := range links {
		g, d := got[l.From], l.Delay
		if g.To.Node != l.To || g.Delay.Count != d.NS.Count || g.Delay.Min != d.NS.Min || g.Delay.Max != d.NS.Max ||
			g.DelayUncertaintyNs != *d.UncertaintyNs || g.DelayClamped != d.Clamped {
			t.Errorf("given %+v, answered %+v %+v", g, d, d.NS)
		}
	}
}
