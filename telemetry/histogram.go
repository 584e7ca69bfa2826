package telemetry

// A Histogram is a base-2 exponential histogram: bucket i at scale s holds the values from 2^(i/2^s) to 2^((i+1)/2^s),
// and Counts are those of the buckets from Start on. Count, Sum, Min and Max are exact unless the type that holds it
// says otherwise. A histogram without values has no counts.
type Histogram struct {
	Count, Sum, Min, Max uint64
	Scale                int8
	Start                int16
	Counts               []uint64
}

// Merge adds o to h. The result has the coarser scale of the two.
func (h *Histogram) Merge(o *Histogram) {
	if o.Count == 0 {
		return
	}
	if h.Count == 0 {
		*h = Histogram{o.Count, o.Sum, o.Min, o.Max, o.Scale, o.Start, append([]uint64(nil), o.Counts...)}
		return
	}
	h.Count, h.Sum, h.Min, h.Max = h.Count+o.Count, h.Sum+o.Sum, min(h.Min, o.Min), max(h.Max, o.Max)
	scale := min(h.Scale, o.Scale)
	a, b := h.Scale-scale, o.Scale-scale
	low := min(int(h.Start)>>a, int(o.Start)>>b)
	high := max((int(h.Start)+len(h.Counts)-1)>>a, (int(o.Start)+len(o.Counts)-1)>>b)
	counts := make([]uint64, high-low+1)
	for i, n := range h.Counts {
		counts[(int(h.Start)+i)>>a-low] += n
	}
	for i, n := range o.Counts {
		counts[(int(o.Start)+i)>>b-low] += n
	}
	h.Scale, h.Start, h.Counts = scale, int16(low), counts
}

// Quantile returns the value below which the share q of the values lies, as far as the histogram tells; 0 if there are
// none.
func (h *Histogram) Quantile(q float64) uint64 {
	var memory [histogramBuckets]Bucket
	s := newSpread(h.buckets(memory[:0]), h.Count, h.Sum, h.Min, h.Max)
	value, _ := s.quantile(q)
	return min(max(value, h.Min), h.Max)
}

// Distribution sums up h; nil if it has no values. Its extremes may be ends of buckets, so a percentile that is one of
// them can be off by as much.
func (h *Histogram) Distribution() *Distribution {
	var memory [histogramBuckets]Bucket
	list := h.buckets(memory[:0])
	d := DistributionOf(list, h.Count, h.Sum, h.Min, h.Max)
	if len(list) == 0 || d == nil {
		return d
	}
	for _, b := range []Bucket{list[0], list[len(list)-1]} {
		d.RelativeError = max(d.RelativeError, float64(b.High-b.Low)/float64(max(b.Low, 1)))
	}
	return d
}

// histogramBuckets is how many buckets histograms usually have at most.
const histogramBuckets = 160

// buckets appends those that have values to list.
func (h *Histogram) buckets(list []Bucket) []Bucket {
	for i, n := range h.Counts {
		if n > 0 {
			list = append(list, ExponentialBucket(h.Scale, int(h.Start)+i, n))
		}
	}
	return list
}
