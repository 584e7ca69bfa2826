package baseline

import (
	"math"

	"github.com/waybill-int/waybill/analyze/histogram"
)

// bucketCount is the size of a sketch: values within a factor of 2 are told apart to 2 %.
const bucketCount = 40

// A window is the values of a key in one window.
type window struct {
	histogram.Summary
	histogram.Shape
	buckets [bucketCount]uint32
}

func (w *window) add(value uint64) {
	w.Observe(value)
	histogram.Add(&w.Shape, w.buckets[:], histogram.Index(value))
}

func (w *window) quantile(q float64) uint64 {
	return min(max(histogram.Quantile(&w.Shape, w.buckets[:], q), w.Min), w.Max)
}

func (w *window) merge(o *window) {
	w.Summary.Merge(&o.Summary)
	histogram.Merge(&w.Shape, w.buckets[:], &o.Shape, o.buckets[:])
}

// A sketch is the values of many windows.
type sketch struct {
	histogram.Shape
	total   uint16
	buckets [bucketCount]uint16
}

// add counts a value. With more than memory values, each counts half: old ones fade.
func (s *sketch) add(value uint64, memory int) {
	histogram.Add(&s.Shape, s.buckets[:], histogram.Index(value))
	s.total++
	s.fade(memory)
}

// fade halves all counts until there are no more than memory.
func (s *sketch) fade(memory int) {
	for int(s.total) > memory {
		s.total = 0
		for i := range s.buckets {
			s.buckets[i] /= 2
			s.total += s.buckets[i]
		}
	}
}

// merge adds what o counted; both have at most memory values, and memory is at most 30000.
func (s *sketch) merge(o *sketch, memory int) {
	histogram.Merge(&s.Shape, s.buckets[:], &o.Shape, o.buckets[:])
	s.total += o.total
	s.fade(memory)
}

// spread returns the median and the median absolute deviation from it.
func (s *sketch) spread() (median, mad uint64) {
	median = histogram.Quantile(&s.Shape, s.buckets[:], 0.5)
	type pile struct {
		away  float64
		count uint16
	}
	var piles [bucketCount]pile // by distance
	n, total := 0, 0
	for i, count := range s.buckets[:s.Len()] {
		if count == 0 {
			continue
		}
		p := pile{math.Abs(math.Round(s.Middle(i)) - float64(median)), count}
		at := n
		for at > 0 && piles[at-1].away > p.away {
			piles[at] = piles[at-1]
			at--
		}
		piles[at] = p
		n++
		total += int(count)
	}
	rank := (total + 1) / 2
	for _, p := range piles[:n] {
		if rank -= int(p.count); rank <= 0 {
			return median, uint64(p.away)
		}
	}
	return median, 0
}
