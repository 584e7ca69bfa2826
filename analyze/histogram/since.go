package histogram

import "github.com/waybill-int/waybill/telemetry"

// Since is what a histogram counted after an earlier state of it, when it turned. Count, Sum, Min and Max are exact.
// The counts are put into memory, if it is large enough.
func Since[T uint16 | uint32](e *Summary, s *Shape, buckets []T, before *Summary, beforeShape *Shape, beforeBuckets []T,
	memory []uint64,
) telemetry.Histogram {
	h := telemetry.Histogram{
		Count: e.Count - before.Count, Sum: e.Sum - before.Sum,
		Scale: int8(MaxScale - int(s.shift)), Start: s.start,
	}
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
	h.Min, h.Max = e.Min, e.Max
	return h
}

// Since is what h counted after an earlier state of it.
func (h *Histogram) Since(before *Histogram) telemetry.Histogram {
	return Since(&h.Summary, &h.Shape, h.buckets[:], &before.Summary, &before.Shape, before.buckets[:], nil)
}
