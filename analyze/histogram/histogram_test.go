package histogram

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

func checkQuantiles(t *testing.T, name string, values []uint64, h *Histogram) {
	t.Helper()
	sorted := slices.Sorted(slices.Values(values))
	d := h.Distribution()
	if d.Count != uint64(len(values)) || d.Min != sorted[0] || d.Max != sorted[len(sorted)-1] {
		t.Fatalf("%s: got count %d min %d max %d", name, d.Count, d.Min, d.Max)
	}
	for q, got := range map[float64]uint64{0.5: d.P50, 0.99: d.P99} {
		want := exactQuantile(sorted, q)
		if diff := math.Abs(float64(got) - float64(want)); diff > d.RelativeError*float64(max(want, 1))*1.0001 {
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
		var h, a, b Histogram
		var values []uint64
		for i := range 20000 {
			v := draw()
			values = append(values, v)
			h.Add(v, Index(v))
			if i%3 == 0 {
				a.Add(v, Index(v))
			} else {
				b.Add(v, Index(v))
			}
		}
		checkQuantiles(t, name, values, &h)
		a.Merge(&b)
		checkQuantiles(t, name+" merged", values, &a)
		var empty Histogram
		empty.Merge(&b)
		if d, e := empty.Distribution(), b.Distribution(); *d != *e {
			t.Errorf("%s: merge into an empty histogram: got %+v, want %+v", name, d, e)
		}
	}
}

func TestBucketIndexBounds(t *testing.T) {
	for _, v := range []uint64{
		1, 2, 3, 4, 5, 7, 8, 127, 128, 129, 1000, 1 << 20, 1<<20 + 1, 1<<53 - 1, 1 << 53,
		1 << 63,
	} {
		i := Index(v)
		low, high := math.Exp2(float64(i)/(1<<MaxScale)), math.Exp2(float64(i+1)/(1<<MaxScale))
		if float64(v) < low*(1-1e-12) || float64(v) >= high*(1+1e-12) {
			t.Errorf("%d: got bucket %d, [%v, %v)", v, i, low, high)
		}
	}
	if got, want := Index(math.MaxUint64), int32(64<<MaxScale-1); got != want {
		t.Errorf("largest value: got bucket %d, want %d", got, want)
	}
}

func TestSmallHistogramKeepsRangeAndRecency(t *testing.T) {
	var s Shape
	var buckets [10]uint16
	for range 200000 { // more than a uint16 counts
		Add(&s, buckets[:], Index(1000))
		Add(&s, buckets[:], Index(4000))
	}
	Add(&s, buckets[:], Index(math.MaxUint64))
	Add(&s, buckets[:], Index(0))
	if got := Quantile(&s, buckets[:], 0.25); math.Abs(float64(got)-1000) > s.RelativeError()*1000 {
		t.Errorf("got %d, want 1000 within %.0f%%", got, 100*s.RelativeError())
	}
}

func BenchmarkHistogramAdd(b *testing.B) {
	var h Histogram
	r := rand.New(rand.NewPCG(1, 2))
	values := make([]uint64, 1024)
	for i := range values {
		values[i] = 500 + r.Uint64N(4000)
	}
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		h.Add(values[i&1023], Index(values[i&1023]))
		i++
	}
}

// percentileErrors returns the mean relative error of p50 and p99 of many draws of samples into so many buckets, for
// what is answered, and for middles of buckets.
func percentileErrors(size int, draw func(r *rand.Rand) float64) (answered, middles [2]float64) {
	r := rand.New(rand.NewPCG(1, 2))
	const draws = 150
	for i := range draws {
		var e Summary
		var s Shape
		buckets := make([]uint32, size)
		var values []uint64
		unit := math.Exp2(4 * r.Float64()) // so that buckets begin elsewhere
		for range []int{30, 300, 3000}[i%3] {
			v := uint64(unit * draw(r))
			values = append(values, v)
			e.Observe(v)
			Add(&s, buckets, Index(v))
		}
		slices.Sort(values)
		d := Distribution(&e, &s, buckets)
		for j, got := range [2]uint64{d.P50, d.P99} {
			q := [2]float64{0.5, 0.99}[j]
			want := float64(exactQuantile(values, q))
			answered[j] += math.Abs(float64(got)-want) / want / draws
			middles[j] += math.Abs(float64(min(max(Quantile(&s, buckets, q), e.Min), e.Max))-want) / want / draws
		}
	}
	return answered, middles
}

// The mean error of percentiles, in percent, is what docs/explanation/design.md says: of p50 and p99, in 160 buckets,
// 14 and 6.
func TestPercentileAccuracy(t *testing.T) {
	logNormal := func(median, sigma float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return median * math.Exp(sigma*r.NormFloat64()) }
	}
	mostly := func(share float64, usual, others func(r *rand.Rand) float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 {
			if r.Float64() < share {
				return usual(r)
			}
			return others(r)
		}
	}
	uniform := func(low, high float64) func(r *rand.Rand) float64 {
		return func(r *rand.Rand) float64 { return low + (high-low)*r.Float64() }
	}
	sum, before := 0.0, 0.0
	for _, row := range []struct {
		name string
		draw func(r *rand.Rand) float64
		want [3][2]float64
	}{
		{"constant", uniform(1234, 1234), [3][2]float64{}},
		{"log-normal, σ 0.1", logNormal(5000, 0.1), [3][2]float64{{0.1, 0.1}, {0.3, 0.8}, {0.8, 2.0}}},
		{"log-normal, σ 1", logNormal(5000, 1), [3][2]float64{{0.6, 0.6}, {4.2, 6.0}, {12, 15}}},
		{"log-normal, σ 2", logNormal(50000, 2), [3][2]float64{{1.0, 1.3}, {10, 11}, {39, 31}}},
		{
			"floor and queueing", func(r *rand.Rand) float64 { return 800 + 5000*r.ExpFloat64() },
			[3][2]float64{{0.4, 0.5}, {2.4, 2.8}, {6.1, 10}},
		},
		{
			"bimodal, factor 30", mostly(0.7, uniform(1000, 1100), uniform(30000, 33000)),
			[3][2]float64{{0.2, 0.1}, {11, 0.1}, {29, 0.2}},
		},
		{
			"bimodal, factor 1e5", mostly(0.9, uniform(180e6, 187e6), uniform(800, 5800)),
			[3][2]float64{{0.2, 0.0}, {0.1, 0.0}, {0.1, 0.0}},
		},
		{
			"outliers, 0.5 %", mostly(0.995, uniform(800, 880), uniform(0, 1e5)),
			[3][2]float64{{0.2, 1.1}, {2.0, 5.1}, {6.7, 10}},
		},
	} {
		for i, size := range []int{160, 14, 6} {
			got, middles := percentileErrors(size, row.draw)
			t.Logf("%-20s %3d  p50 %5.1f, middles %5.1f   p99 %5.1f, middles %5.1f", row.name, size, 100*got[0],
				100*middles[0], 100*got[1], 100*middles[1])
			for j, want := range row.want[i] {
				if 100*got[j] > want*1.05+0.05 {
					t.Errorf("%s in %d buckets: got %.2f %%, want %v %%", row.name, size, 100*got[j], want)
				}
				sum += got[j]
				before += middles[j]
			}
		}
	}
	if sum > before/2 {
		t.Errorf("all errors together are %v, those of middles of buckets %v", sum, before)
	}
}
