package queue

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// Quantiles of lengths are those of the sorted lengths, within the error that is stated; two shards add up to one.
func TestDepthHistogram(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for _, high := range []float64{10, 1000, 1e6, 1 << 32} {
		var parts [2]Depths
		var all []uint32
		for range 2000 {
			v := uint32(math.Pow(r.Float64(), 3) * (high - 1))
			all = append(all, v)
			parts[r.IntN(2)].add(v)
		}
		parts[0].merge(&parts[1])
		slices.Sort(all)
		d := parts[0].Distribution()
		if d.Count != 2000 || d.Min != uint64(all[0]) || d.Max != uint64(all[1999]) {
			t.Errorf("%+v", d)
		}
		for q, got := range map[float64]uint64{0.5: d.P50, 0.99: d.P99} {
			want := float64(all[int(math.Ceil(q*2000))-1])
			if math.Abs(float64(got)-want) > d.RelativeError*want {
				t.Errorf("up to %v: quantile %v is %d, want %v", high, q, got, want)
			}
		}
	}
	var h Depths
	for _, v := range []uint32{0, 7, 8, 15, 16, 17, 1 << 31, 1<<32 - 1} {
		h.add(v)
	}
	h.buckets[0] = 1<<32 - 1
	if h.add(0); h.buckets[0] != 1<<31 {
		t.Errorf("a full bucket has %d", h.buckets[0])
	}
}
