package analyze

import "github.com/waybill-int/waybill/telemetry"

// histogramSince is what a histogram counted after an earlier state of it. Count and Sum are exact. So are Min and Max if the
// histogram's own changed, or it is one value; else they are ends of buckets. The counts are put into memory, if it is large enough.
func histogramSince[T uint16 | uint32](e *summary, s *shape, buckets []T, before *summary, beforeShape *shape, beforeBuckets []T, memory []uint64) telemetry.Histogram {
	h := telemetry.Histogram{Count: e.count - before.count, Sum: e.sum - before.sum, Scale: int8(maxScale - int(s.shift)), Start: s.start}
	if h.Count == 0 {
		return telemetry.Histogram{}
	}
	h.Counts = memory[:0]
	for _, n := range buckets[:s.n] {
		h.Counts = append(h.Counts, uint64(n))
	}
	for i, n := range beforeBuckets[:beforeShape.n] {
		if n > 0 {
			at := &h.Counts[int((beforeShape.start+int16(i))>>(s.shift-beforeShape.shift)-s.start)]
			*at -= min(uint64(n), *at) // less than before: the counts were halved
		}
	}
	low, high := 0, len(h.Counts)-1
	for low < high && h.Counts[low] == 0 {
		low++
	}
	for low < high && h.Counts[high] == 0 {
		high--
	}
	h.Start += int16(low)
	h.Counts = h.Counts[low : high+1]
	h.Min, h.Max = e.min, e.max
	if before.count > 0 && e.min == before.min {
		h.Min = max(e.min, telemetry.ExponentialBucket(h.Scale, int(h.Start), 0).Low)
	}
	if before.count > 0 && e.max == before.max {
		h.Max = min(e.max, telemetry.ExponentialBucket(h.Scale, int(h.Start)+len(h.Counts)-1, 0).High)
	}
	if h.Count == 1 {
		h.Min, h.Max = h.Sum, h.Sum
	}
	return h
}

// since is what h counted after an earlier state of it.
func (h *histogram) since(before *histogram) telemetry.Histogram {
	return histogramSince(&h.summary, &h.shape, h.buckets[:], &before.summary, &before.shape, before.buckets[:], nil)
}
