package duckdb

import (
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// Percentiles in SQL are those that telemetry computes, to within the rounding of powers.
func TestQuantile(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(3, 4))
	v := &telemetry.Intervals{}
	histograms := map[int64]*telemetry.Histogram{}
	for i := range 300 {
		var h telemetry.Histogram
		scale := int8(g.IntN(11) - 3)
		for range 1 + g.IntN(12) {
			low := g.Uint64() >> (20 + g.UintN(44))
			b := telemetry.Histogram{Count: 1 + g.Uint64N(200), Scale: scale}
			for telemetry.ExponentialBucket(scale, int(b.Start), 0).High < low {
				b.Start++
			}
			e := telemetry.ExponentialBucket(scale, int(b.Start), 0)
			b.Min = low
			b.Max = low + g.Uint64N(e.High-low+1)
			b.Sum = b.Count*b.Min + g.Uint64N(b.Count*(b.Max-b.Min)+1)
			b.Counts = []uint64{b.Count}
			h.Merge(&b)
		}
		at := epoch.UnixNano() + int64(i)*1e9
		histograms[at] = &h
		v.Hops = append(v.Hops,
			telemetry.HopInterval{
				StartNs: at, Place: telemetry.Place{Has: telemetry.HasNode, Node: uint32(i)},
				Packets: h.Count, Latency: h,
			})
	}
	write(t, s, v)
	a := ask(t, s, store.Query{
		Table: store.Hops, From: epoch, To: epoch.Add(300e9), Group: []string{"start", "node"},
		Values: []string{"latency_p50", "latency_p99"},
	})
	if len(a.Rows) != 300 {
		t.Fatalf("got %d rows", len(a.Rows))
	}
	for _, row := range a.Rows {
		h := histograms[row[0].(time.Time).UnixNano()]
		for j, q := range []float64{0.5, 0.99} {
			got, want := row[2+j].(int64), int64(h.Quantile(q))
			if got < want-1 || got > want+1 {
				t.Errorf("p%v of %+v: got %d, want %d", 100*q, h, got, want)
			}
		}
	}
}
