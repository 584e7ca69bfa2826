package telemetry

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// histogramOf counts values at a scale, each in the bucket that the logarithm says.
func histogramOf(values []uint64, scale int8) *Histogram {
	h := &Histogram{Min: math.MaxUint64, Scale: scale}
	for _, v := range values {
		one := Histogram{Count: 1, Sum: v, Min: v, Max: v, Scale: scale, Counts: []uint64{1}}
		one.Start = int16(math.Floor(math.Log2(float64(max(v, 1))) * math.Exp2(float64(scale))))
		h.Merge(&one)
	}
	return h
}

// samples are the kinds of values that the error of percentiles is told of.
var samples = map[string]func(r *rand.Rand) float64{
	"narrow":     func(r *rand.Rand) float64 { return 5000 * math.Exp(0.1*r.NormFloat64()) },
	"log-normal": func(r *rand.Rand) float64 { return 5000 * math.Exp(r.NormFloat64()) },
	"wide":       func(r *rand.Rand) float64 { return 50000 * math.Exp(2*r.NormFloat64()) },
	"bimodal":    func(r *rand.Rand) float64 { return []float64{1000, 1000, 30000}[r.IntN(3)] * (1 + 0.1*r.Float64()) },
	"queueing":   func(r *rand.Rand) float64 { return 800 + 5000*r.ExpFloat64() },
	"outliers":   func(r *rand.Rand) float64 { return 800*(1+0.1*r.Float64()) + 1e5*max(0, r.Float64()-0.98) },
	"mostly far": func(r *rand.Rand) float64 {
		return max(800, 1.87e8*(1-0.05*r.Float64())*min(1, math.Floor(10*r.Float64())))
	},
	"constant": func(*rand.Rand) float64 { return 1234 },
	"tiny":     func(r *rand.Rand) float64 { return 4 * r.Float64() },
}

// exactOf sums up a histogram whose extremes are exact.
func exactOf(h *Histogram) *Distribution {
	return DistributionOf(h.buckets(nil), h.Count, h.Sum, h.Min, h.Max)
}

// exactly is what a percentile estimates.
func exactly(sorted []uint64, q float64) uint64 {
	return sorted[max(int(math.Ceil(q*float64(len(sorted)))), 1)-1]
}

// Percentiles are between the extremes, in their order, and off by no more than is said. If all values are in one
// bucket, then that of 99 % is not below their mean.
func TestDistributionBounds(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for name, draw := range samples {
		for scale := int8(-6); scale <= 7; scale++ {
			for _, n := range []int{1, 2, 3, 10, 99, 100, 101, 150, 1000} {
				var values []uint64
				for range n {
					values = append(values, uint64(draw(r)))
				}
				slices.Sort(values)
				h := histogramOf(values, scale)
				d := exactOf(h)
				ends := *h // as of an interval in which the extremes of all time did not change
				ends.Min, ends.Max = ExponentialBucket(scale, int(h.Start), 0).Low,
					ExponentialBucket(scale, int(h.Start)+len(h.Counts)-1, 0).High
				for q, got := range map[float64]uint64{0.5: ends.Distribution().P50, 0.99: ends.Distribution().P99} {
					want := exactly(values, q)
					if diff := math.Abs(float64(got) - float64(want)); diff >
						ends.Distribution().RelativeError*float64(max(want, 1))*(1+1e-12) {
						t.Errorf("%s, %d at scale %d, not exact: p%v: got %d, want %d: %+v", name, n, scale, 100*q, got,
							want, ends.Distribution())
					}
				}
				for q, got := range map[float64]uint64{0.5: d.P50, 0.99: d.P99} {
					want := exactly(values, q)
					if diff := math.Abs(float64(got) - float64(want)); diff >
						d.RelativeError*float64(max(want, 1))*(1+1e-12) {
						t.Errorf("%s, %d at scale %d: p%v: got %d, want %d within %.2f%%", name, n, scale, 100*q, got,
							want, 100*d.RelativeError)
					}
				}
				last := d.Min
				for _, q := range []float64{0, 0.001, 0.1, 0.5, 0.9, 0.99, 0.999, 1} {
					v := h.Quantile(q)
					if v < last || v > d.Max {
						t.Errorf("%s, %d at scale %d: p%v is %d, after %d, before %d", name, n, scale, 100*q, v, last,
							d.Max)
					}
					last = v
				}
				if len(h.Counts) == 1 && float64(d.P99)+0.5 < d.Mean {
					t.Errorf("%s, %d at scale %d: p99 %d is below the mean %v", name, n, scale, d.P99, d.Mean)
				}
				if d.P50 != h.Quantile(0.5) || d.P99 != h.Quantile(0.99) || d.Min != values[0] || d.Max != values[n-1] {
					t.Errorf("%s, %d at scale %d: %+v", name, n, scale, d)
				}
			}
		}
	}
}

// What is in one bucket of a factor of 16, from one value to another, has a p99 that is not below the mean, however few
// are large.
func TestOneBucket(t *testing.T) {
	for _, n := range []uint64{100, 101, 199, 1000, 1e6} {
		for large := uint64(0); large < n; large = 2*large + 1 {
			h := &Histogram{
				Count: n, Sum: (n-large)*16 + large*255, Min: 16, Max: 255, Scale: -2, Start: 1,
				Counts: []uint64{n},
			}
			if d := exactOf(h); float64(d.P99)+0.5 < d.Mean || d.P50 > d.P99 {
				t.Errorf("%d of %d: %+v", large, n, d)
			}
		}
	}
}

// The flow that most of its packets took 187 ms, and a few less than a microsecond.
func TestCoarseBuckets(t *testing.T) {
	h := &Histogram{
		Count: 800, Sum: 100*800 + 700*187_000_000, Min: 800, Max: 187_111_213, Scale: -2, Start: 2,
		Counts: []uint64{100, 0, 0, 0, 700},
	}
	if d := exactOf(h); d.P50 < 186e6 || d.P99 < d.P50 || d.RelativeError > 0.01 {
		t.Errorf("%+v", d)
	}
}

// What does not add up is no reason to panic: counts that faded, sums that ran over, extremes outside of the buckets.
func TestDistributionOfNonsense(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	for range 20000 {
		any := func() uint64 { return r.Uint64() >> r.UintN(64) }
		h := &Histogram{
			Count: any(), Sum: any(), Min: any(), Max: any(), Scale: int8(r.IntN(14) - 6),
			Start: int16(r.IntN(9000) - 10),
		}
		for range r.IntN(20) {
			h.Counts = append(h.Counts, any()>>8)
		}
		d := h.Distribution()
		if v := h.Quantile(r.Float64()); h.Min <= h.Max && v > h.Max {
			t.Errorf("got %d: %+v", v, h)
		}
		if d != nil && (math.IsNaN(d.RelativeError) || math.IsInf(d.RelativeError, 0) || d.RelativeError < 0) {
			t.Errorf("%+v: %+v", h, d)
		}
	}
	if d := new(Histogram).Distribution(); d != nil {
		t.Errorf("nothing: got %+v", d)
	}
	if d := (&Histogram{Count: 3, Sum: 6, Max: 3}).Distribution(); *d != (Distribution{Count: 3, Mean: 2, Max: 3}) {
		t.Errorf("without buckets: got %+v", d)
	}
}
