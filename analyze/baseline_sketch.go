package analyze

import "math"

// baselineBuckets is the size of a sketch: values within a factor of 2 are told apart to 2 %.
const baselineBuckets = 40

// A baselineWindow is the values of a key in one window.
type baselineWindow struct {
	summary
	shape
	buckets [baselineBuckets]uint32
}

func (w *baselineWindow) add(value uint64) {
	w.note(value)
	addTo(&w.shape, w.buckets[:], bucketIndex(value))
}

func (w *baselineWindow) quantile(q float64) uint64 {
	return min(max(middleQuantile(&w.shape, w.buckets[:], q), w.min), w.max)
}

func (w *baselineWindow) merge(o *baselineWindow) {
	w.summary.merge(&o.summary)
	addBuckets(&w.shape, w.buckets[:], &o.shape, o.buckets[:])
}

// A baselineSketch is the values of many windows.
type baselineSketch struct {
	shape
	total   uint16
	buckets [baselineBuckets]uint16
}

// add counts a value. With more than memory values, each counts half: old ones fade.
func (s *baselineSketch) add(value uint64, memory int) {
	addTo(&s.shape, s.buckets[:], bucketIndex(value))
	s.total++
	s.fade(memory)
}

// fade halves all counts until there are no more than memory.
func (s *baselineSketch) fade(memory int) {
	for int(s.total) > memory {
		s.total = 0
		for i := range s.buckets {
			s.buckets[i] /= 2
			s.total += s.buckets[i]
		}
	}
}

// merge adds what o counted; both have at most memory values, and memory is at most 30000.
func (s *baselineSketch) merge(o *baselineSketch, memory int) {
	addBuckets(&s.shape, s.buckets[:], &o.shape, o.buckets[:])
	s.total += o.total
	s.fade(memory)
}

// spread returns the median and the median absolute deviation from it.
func (s *baselineSketch) spread() (median, mad uint64) {
	median = middleQuantile(&s.shape, s.buckets[:], 0.5)
	type pile struct {
		away  float64
		count uint16
	}
	var piles [baselineBuckets]pile // by distance
	n, total := 0, 0
	for i, count := range s.buckets[:s.len()] {
		if count == 0 {
			continue
		}
		p := pile{math.Abs(math.Round(s.middle(i)) - float64(median)), count}
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
