package analyze

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// TestIntervalsBursts: each burst is given once, with who made it and who waited; those that gave way before are
// counted.
func TestIntervalsBursts(t *testing.T) {
	l := burst.NewLog(1 << 30)
	v := NewIntervals(&Collector{}, nil, 0)
	v.TakeBursts(l)
	var got []string
	give := func(batch *telemetry.Intervals) {
		for _, f := range batch.BurstFlows {
			role, known := "victim", "known"
			if f.Culprit {
				role = "culprit"
			}
			if f.Flow == nil {
				known = "unknown"
			}
			got = append(got, fmt.Sprint(f.Burst.ID, " ", role, " ", f.Packets, " ", known))
		}
		got = append(got, fmt.Sprint(len(batch.Bursts), " bursts"))
	}
	add := func(n int) {
		for range n {
			k := &burst.Record{
				ID: "b", Flows: []burst.FlowRef{5}, Keys: make([]telemetry.FlowKey, 1),
				Known: []bool{true},
			}
			k.Culprits, k.Victims = []burst.Share{{Flow: 5, Packets: 2}}, []burst.Victim{{Flow: 6, Packets: 3}}
			l.Add(k)
		}
	}
	rest := &telemetry.Intervals{}
	add(1)
	v.takeBursts(rest)
	give(rest)
	rest = &telemetry.Intervals{}
	v.takeBursts(rest)
	give(rest)
	if want := []string{"b culprit 2 known", "b victim 3 unknown", "1 bursts", "0 bursts"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	add(burst.MaxKept + 3)
	rest = &telemetry.Intervals{}
	v.takeBursts(rest)
	if n := v.Ungiven().Bursts; len(rest.Bursts) != burst.MaxKept || n != 3 {
		t.Errorf("%d given and %d not, want %d and 3", len(rest.Bursts), n, burst.MaxKept)
	}
}

// TestIntervalsDelays: the delays of a link are given once they are settled, each once.
func TestIntervalsDelays(t *testing.T) {
	timing := NewTiming()
	c := &Collector{Timing: timing}
	v := NewIntervals(c, nil, 0)
	key := topology.LinkKey{
		From: 1, To: 2, FromPort: 3, ToPort: 4,
		Has: telemetry.HasEgressPort | telemetry.HasIngressPort,
	}
	stat := &delayStat{from: 1, to: 2, ungiven: &delaySum{}}
	timing.links[key] = stat
	var got []telemetry.LinkInterval
	give := func(batch *telemetry.Intervals) { got = append(got, batch.Links...) }
	for i, delay := range []uint64{1000, 5000, 3000} {
		stat.add(&clock.Delay{OK: true, DelayNs: delay, UncertaintyNs: 10, Clamped: i == 0})
	}
	v.Look(10e9, give) // they are not to be trusted yet
	if len(got) != 0 {
		t.Errorf("got %+v before they are settled", got)
	}
	stat.settle("")
	stat.add(&clock.Delay{OK: true, DelayNs: 7000})
	stat.settle("a clock jumped") // these are not
	v.Look(20e9, give)
	v.Look(30e9, give)
	if len(got) != 1 || got[0].Delay.Count != 3 || got[0].Delay.Sum != 9000 || got[0].Delay.Min != 1000 ||
		got[0].Delay.Max != 5000 ||
		got[0].DelayUncertaintyNs != 10 || got[0].DelayClamped != 1 || got[0].From.Node != 1 ||
		got[0].To.IngressPort != 4 || got[0].Packets != 0 {
		t.Errorf("got %+v", got)
	}
}
