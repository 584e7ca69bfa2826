package duckdb

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// TestUtilizationAtEveryResolution: the samples, the mean and the highest utilization of each link in a range are those
// that Go computes from the records, before and after rollups. Where nobody told of it they are not known, and such
// links come last.
func TestUtilizationAtEveryResolution(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, nil)
	g := rand.New(rand.NewPCG(9, 2))
	all := &telemetry.Intervals{}
	for i := range 600 { // 100 minutes
		for from := range uint32(4) {
			r := telemetry.LinkInterval{
				StartNs: epoch.UnixNano() + int64(i)*telemetry.FlowIntervalNs, Packets: 5,
				From: telemetry.Place{Has: telemetry.HasNode | telemetry.HasEgressPort, Node: from, EgressPort: 1},
				To:   telemetry.Place{Has: telemetry.HasNode | telemetry.HasIngressPort, Node: 9, IngressPort: from},
			}
			if from > 0 && g.IntN(3) > 0 { // nobody tells of the first
				for range 1 + g.IntN(5) {
					v := uint32(g.ExpFloat64() * 2000 * float64(from))
					r.Utilization.Merge(&telemetry.UtilizationSum{Samples: 1, Sum: uint64(v), Max: v})
				}
			}
			all.Links = append(all.Links, r)
		}
	}
	write(t, s, all)
	for _, c := range []struct {
		name       string
		now        time.Time
		resolution time.Duration
	}{
		{"10s", epoch, 10 * time.Second},
		{"1m", epoch.Add(40 * time.Minute), time.Minute},
		{"1h", epoch.Add(3 * time.Hour), time.Hour},
	} {
		t.Run(c.name, func(t *testing.T) {
			roll(t, s, c.now)
			coarsest := time.Duration(0)
			for range 20 {
				from := epoch.Add(time.Duration(g.IntN(300)) * 10 * time.Second)
				to := from.Add(time.Duration(1+g.IntN(900)) * 10 * time.Second)
				want := map[uint32]telemetry.UtilizationSum{}
				for i := range all.Links {
					r := &all.Links[i]
					if at := time.Unix(0, r.StartNs); !at.Before(from) && at.Before(to) {
						sum := want[r.From.Node]
						sum.Merge(&r.Utilization)
						want[r.From.Node] = sum
					}
				}
				a := ask(t, s, store.Query{
					Table: store.Links, From: from, To: to, Group: []string{"from_node"},
					Values: []string{"utilization_samples", "utilization_max", "utilization_mean"},
					Order:  "utilization_mean",
				})
				coarsest = max(coarsest, a.Resolution)
				if len(a.Rows) != len(want) {
					t.Fatalf("%v to %v: %d rows, want %d", from, to, len(a.Rows), len(want))
				}
				for i, row := range a.Rows {
					sum := want[row[0].(uint32)]
					text := fmt.Sprint(uint64(0), nil, nil)
					if u := sum.Answer(0); u != nil {
						text = fmt.Sprint(u.Samples, u.Max, u.Mean)
					}
					if got := fmt.Sprint(row[1:]...); got != text {
						t.Fatalf("%v to %v, node %v: got %s, want %s", from, to, row[0], got, text)
					}
					if i > 0 && a.Rows[i-1][3] == nil && row[3] != nil {
						t.Fatalf("what is not known comes before %v", row)
					}
				}
			}
			if coarsest != c.resolution {
				t.Errorf("the coarsest table that was looked at is one of %v, want %v", coarsest, c.resolution)
			}
		})
	}
	a := ask(t, s, store.Query{
		Table: store.Links, From: epoch, To: epoch.Add(3 * time.Hour),
		Group: []string{"from_node"}, Values: []string{"packets"}, Where: "utilization_mean >= ?", Args: []any{0.0},
		Uses: []string{"utilization_mean"},
	})
	if len(a.Rows) != 3 {
		t.Errorf("%d links have a mean, want 3", len(a.Rows))
	}
}
