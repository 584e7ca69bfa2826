package analyze

import (
	"fmt"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/analyze/burst"
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
