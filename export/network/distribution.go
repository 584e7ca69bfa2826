package network

import (
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"

	"github.com/waybill-int/waybill/telemetry"
)

// schema is that of all histograms: 2^schema buckets for each power of two. It never changes, as Prometheus takes a
// finer one for a restart.
const schema = 3

// A distribution adds up values: counts[i] are those of bucket start+i, from 2^((start+i)/8) on.
type distribution struct {
	count  uint64
	sum    float64
	zeros  uint64
	start  int
	counts []uint64
}

// addNs adds a histogram of nanoseconds, of any scale, as seconds. Count and sum are exact; as a nanosecond is no power
// of two of a second, a bucket goes to where most of it lies. One that is wider than those of d counts as the one in
// its middle.
func (d *distribution) addNs(h *telemetry.Histogram) {
	d.count += h.Count
	d.sum += float64(h.Sum) / 1e9
	second := int(math.Round(math.Log2(1e9) * math.Exp2(float64(h.Scale)))) // the bucket of a second
	for i, n := range h.Counts {
		if n == 0 {
			continue
		}
		at := int(h.Start) + i - second
		if finer := int(h.Scale) - schema; finer >= 0 {
			at >>= finer
		} else {
			at = at<<-finer + 1<<(-finer-1)
		}
		*d.bucket(at) += n
	}
}

// bucket returns the count of a bucket, for which it makes room.
func (d *distribution) bucket(at int) *uint64 {
	switch {
	case len(d.counts) == 0:
		d.start, d.counts = at, make([]uint64, 1, 64)
	case at < d.start:
		d.counts = append(make([]uint64, d.start-at, d.start-at+len(d.counts)), d.counts...)
		d.start = at
	case at >= d.start+len(d.counts):
		d.counts = append(d.counts, make([]uint64, at+1-d.start-len(d.counts))...)
	}
	return &d.counts[at-d.start]
}

// distributionOf is that of buckets with any bounds, each of which counts as a value in its middle.
func distributionOf(buckets []telemetry.Bucket, sum uint64) distribution {
	d := distribution{sum: float64(sum)}
	for _, b := range buckets {
		d.count += b.Count
		if b.High == 0 {
			d.zeros += b.Count
			continue
		}
		middle := (float64(b.Low) + float64(b.High)) / 2
		*d.bucket(int(math.Floor(math.Log2(middle) * (1 << schema)))) += b.Count
	}
	return d
}

// A histogram is a metric of a distribution as it is now.
type histogram struct {
	prometheus.Metric
	classic []*dto.Bucket
}

// metric returns d as a metric; with classic it has classic buckets too, whose bounds are powers of four.
func (d *distribution) metric(desc *prometheus.Desc, classic bool, labels ...string) (prometheus.Metric, error) {
	buckets := make(map[int]int64, len(d.counts))
	for i, n := range d.counts {
		if n > 0 {
			buckets[d.start+i+1] = int64(n) // Prometheus numbers buckets by their upper bounds
		}
	}
	m, err := prometheus.NewConstNativeHistogram(desc, d.count, d.sum, buckets, nil, d.zeros, schema, 0,
		time.Time{}, labels...)
	if err != nil || !classic {
		return m, err
	}
	h := histogram{Metric: m}
	below, at := d.zeros, 0
	first, last := -22, 2 // in seconds: 238 ns to 4 s
	if desc == queueDepth {
		first, last = 4, 28
	}
	for power := first; power <= last; power += 2 {
		for ; at < len(d.counts) && d.start+at < power*(1<<schema); at++ {
			below += d.counts[at]
		}
		bound, n := math.Exp2(float64(power)), below
		h.classic = append(h.classic, &dto.Bucket{UpperBound: &bound, CumulativeCount: &n})
	}
	return h, nil
}

// Write implements prometheus.Metric.
func (h histogram) Write(to *dto.Metric) error {
	err := h.Metric.Write(to)
	if err == nil {
		to.Histogram.Bucket = h.classic
	}
	return err
}
