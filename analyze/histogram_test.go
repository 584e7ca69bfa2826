package analyze

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// exactQuantile is what a histogram estimates.
func exactQuantile(sorted []uint64, q float64) uint64 {
	return sorted[max(int(math.Ceil(q*float64(len(sorted))))-1, 0)]
}

func checkQuantiles(t *testing.T, name string, values []uint64, h *histogram) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	d := h.distribution()
	if d.Count != uint64(len(values)) || d.Min != sorted[0] || d.Max != sorted[len(sorted)-1] {
		t.Fatalf("%s: got count %d min %d max %d", name, d.Count, d.Min, d.Max)
	}
	for q, got := range map[float64]uint64{0.5: d.P50, 0.99: d.P99} {
		want := exactQuantile(sorted, q)
		if diff := math.Abs(float64(got) - float64(want)); diff > d.RelativeError*float64(want)*1.0001+0.5 {
			t.Errorf("%s: p%v: got %d, want %d within %.2f%%", name, 100*q, got, want, 100*d.RelativeError)
		}
	}
}

func TestHistogramQuantilesStayWithinTheStatedError(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range map[string]func() uint64{
		"constant":    func() uint64 { return 1234 },
		"narrow":      func() uint64 { return 1000 + r.Uint64N(500) },
		"log-uniform": func() uint64 { return uint64(math.Exp2(10 + 20*r.Float64())) },
		"everything":  func() uint64 { return r.Uint64() >> r.UintN(64) },
		"tiny":        func() uint64 { return r.Uint64N(4) },
	} {
		var h, a, b histogram
		var values []uint64
		for i := range 20000 {
			v := draw()
			values = append(values, v)
			h.addIndexed(v, bucketIndex(v))
			if i%3 == 0 {
				a.addIndexed(v, bucketIndex(v))
			} else {
				b.addIndexed(v, bucketIndex(v))
			}
		}
		checkQuantiles(t, name, values, &h)
		a.merge(&b)
		checkQuantiles(t, name+" merged", values, &a)
		var empty histogram
		empty.merge(&b)
		if d, e := empty.distribution(), b.distribution(); *d != *e {
			t.Errorf("%s: merge into an empty histogram: got %+v, want %+v", name, d, e)
		}
	}
}

func TestBucketIndexBounds(t *testing.T) {
	for _, v := range []uint64{1, 2, 3, 4, 5, 7, 8, 127, 128, 129, 1000, 1 << 20, 1<<20 + 1, 1<<53 - 1, 1 << 53, 1 << 63} {
		i := bucketIndex(v)
		low, high := math.Exp2(float64(i)/(1<<maxScale)), math.Exp2(float64(i+1)/(1<<maxScale))
		if float64(v) < low*(1-1e-12) || float64(v) >= high*(1+1e-12) {
			t.Errorf("%d: got bucket %d, [%v, %v)", v, i, low, high)
		}
	}
	if got, want := bucketIndex(math.MaxUint64), int32(64<<maxScale-1); got != want {
		t.Errorf("largest value: got bucket %d, want %d", got, want)
	}
}

func TestSmallHistogramKeepsRangeAndRecency(t *testing.T) {
	var s shape
	var buckets [10]uint16
	for range 200000 { // more than a uint16 counts
		addTo(&s, buckets[:], bucketIndex(1000))
		addTo(&s, buckets[:], bucketIndex(4000))
	}
	addTo(&s, buckets[:], bucketIndex(math.MaxUint64))
	addTo(&s, buckets[:], bucketIndex(0))
	if got := quantile(&s, buckets[:], 0.25); math.Abs(float64(got)-1000) > s.relativeError()*1000 {
		t.Errorf("got %d, want 1000 within %.0f%%", got, 100*s.relativeError())
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h histogram
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]uint64, 1024)
	for i := range values {
		values[i] = 500 + r.Uint64N(4000)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h.addIndexed(values[i&1023], bucketIndex(values[i&1023]))
		i++
	}
}
