package telemetry

import "math"

// A Bucket says how many values lie from Low to High, both included.
type Bucket struct{ Low, High, Count uint64 }

// ExponentialBucket returns a bucket of a base-2 exponential histogram. That of index 0 has 0 too.
func ExponentialBucket(scale int8, index int, count uint64) Bucket {
	b := Bucket{0, math.MaxUint64, count}
	width := math.Exp2(-float64(scale))
	if index > 0 {
		b.Low = uint64(math.Ceil(math.Exp2(float64(index) * width)))
	}
	if end := math.Exp2(float64(index+1) * width); end < 1<<64 {
		b.High = uint64(math.Ceil(end)) - 1
	}
	return b
}

// leastError is the smallest RelativeError of a Distribution: 0 says that there are no percentiles.
const leastError = 0.001

// DistributionOf sums up values of which only this is known: how many of them are in each bucket, in ascending order,
// and of all together their exact count, sum, minimum and maximum. The buckets are cut to the extremes. If a part of
// the values is not in the buckets, since counts fade, the percentiles are those of the rest. It is nil if there are no
// values, and without percentiles if there are no buckets.
func DistributionOf(buckets []Bucket, count, sum, low, high uint64) *Distribution {
	if count == 0 {
		return nil
	}
	d := &Distribution{Count: count, Min: low, Max: high, Mean: float64(sum) / float64(count)}
	s := newSpread(buckets, count, sum, low, high)
	if s.total == 0 {
		return d
	}
	var e50, e99 float64
	d.P50, e50 = s.quantile(0.5)
	d.P99, e99 = s.quantile(0.99)
	d.RelativeError = max(e50, e99, leastError)
	return d
}

// A spread is an assumption about where in its bucket each value lies: evenly around the mean of the bucket, as far to
// both sides as there is room to the nearer end. If nothing else were known, the mean would be that of values which are
// as many in each part of a logarithmic scale. With such means, the sum of all values is off by some amount, and it is
// shared out to the buckets by the square of what each can be off. So a bucket that has all values, or nearly all that
// matters, has its true mean.
type spread struct {
	buckets      []Bucket
	low, high    uint64  // the extremes
	count, total uint64  // of all values; of those in buckets
	off, squares float64 // how much the sum is off; the sum of the squares of what buckets can be off

	// The sum is between these if all values are at an end of their buckets; exact says that it is known of just these
	// values.
	exact               bool
	sum, least, largest uint64
}

func newSpread(buckets []Bucket, count, sum, low, high uint64) spread {
	s := spread{buckets: buckets, low: low, high: high, count: count, sum: sum}
	expected, highest := 0.0, 0.0
	for i := range buckets {
		b := &buckets[i]
		b.Low = max(b.Low, low)
		b.High = max(min(b.High, high), b.Low)
		n, width := float64(b.Count), float64(b.High-b.Low)
		expected += n * (float64(b.Low) + width*b.usualMean())
		s.squares += n * width * n * width
		s.total += b.Count
		s.least += b.Count * b.Low
		s.largest += b.Count * b.High
		highest += n * float64(b.High)
	}
	s.off = float64(sum)/float64(max(count, 1))*float64(s.total) - expected
	s.exact = s.total == count && highest < 1<<63 && s.least <= sum && sum <= s.largest // else a sum may have run over
	return s
}

// usualMean returns where in the bucket the mean is of values that are spread over it evenly on a logarithmic scale, to
// within 1 % of the bucket up to a factor of 16. 0 counts as 1.
func (b *Bucket) usualMean() float64 {
	return 1 / (1 + math.Cbrt(float64(max(b.High, 1))/float64(max(b.Low, 1))))
}

// quantile returns the value below which the share q of the values lies, and its largest relative error, where 0 counts
// as 1. The first of all values and the last are the extremes, or if counts faded, at the ends of their buckets.
func (s *spread) quantile(q float64) (value uint64, relativeError float64) {
	first := max(uint64(math.Ceil(q*float64(s.total))), 1)
	if s.total == s.count {
		switch first {
		case 1:
			return s.low, 0
		case s.total:
			return s.high, 0
		}
	}
	rank := first
	for i := range s.buckets {
		b := &s.buckets[i]
		if rank > b.Count {
			rank -= b.Count
			continue
		}
		switch first {
		case 1:
			value = b.Low
		case s.total:
			value = b.High
		default:
			value = s.within(b, rank)
		}
		return value, s.errorOf(b, rank, value)
	}
	return 0, 0
}

// within returns the value of a rank in a bucket, counted from 1.
func (s *spread) within(b *Bucket, rank uint64) uint64 {
	n, width := float64(b.Count), float64(b.High-b.Low)
	mean := b.usualMean()
	if s.squares > 0 {
		mean = min(max(mean+s.off*n*width/s.squares, 0), 1)
	}
	at := mean + min(mean, 1-mean)*((2*float64(rank)-1)/n-1)
	return min(b.Low+uint64(math.Round(at*width)), b.High)
}

// errorOf returns how far value can be off. The true one is in the bucket; if the sum is known, all values up to it
// cannot take more from the largest sum than is missing, nor those from it on add more to the least one than there is.
func (s *spread) errorOf(b *Bucket, rank, value uint64) float64 {
	low, high := float64(b.Low), float64(b.High)
	if s.exact {
		least, largest := high-float64(s.largest-s.sum)/float64(rank),
			low+float64(s.sum-s.least)/float64(b.Count-rank+1)
		low, high = max(low, math.Floor(least)), min(high, math.Ceil(largest))
	}
	return max((float64(value)-low)/max(low, 1), (high-float64(value))/max(high, 1))
}
