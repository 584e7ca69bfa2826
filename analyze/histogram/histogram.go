// Package histogram counts values in base-2 exponential buckets, as OpenTelemetry and Prometheus native histograms do:
// bucket i at scale s holds the values from 2^(i/2^s) to 2^((i+1)/2^s). A histogram starts at the finest scale and
// halves its resolution whenever a value does not fit, so a small array serves any range; merging is addition.
//
// Nothing here locks or allocates while it counts. Who holds a histogram guards it.
package histogram

import (
	"math"
	"math/bits"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxScale is the finest scale: 128 buckets for each power of two, 0.54 % wide.
const MaxScale = 7

// subBounds[i] is the 52 bit mantissa at which sub-bucket i of a power of two begins at MaxScale.
var subBounds = func() (b [1<<MaxScale + 1]uint64) {
	for i := range b {
		b[i] = uint64(math.Ceil((math.Exp2(float64(i)/(1<<MaxScale)) - 1) * (1 << 52)))
	}
	return b
}()

// subGuess[m] is the sub-bucket of mantissas whose top 8 bits are m, or the one below: sub-buckets are wider than that.
var subGuess = func() (g [256]uint8) {
	sub := 0
	for m := range g {
		for sub+1 < 1<<MaxScale && subBounds[sub+1] <= uint64(m)<<44 {
			sub++
		}
		g[m] = uint8(sub)
	}
	return g
}()

// Index returns the bucket of v at MaxScale; 0 counts as 1.
func Index(v uint64) int32 {
	if v <= 1 {
		return 0
	}
	exponent := 63 - bits.LeadingZeros64(v)
	mantissa := v << (63 - exponent) << 1 >> 12 // 52 bits below the leading one
	sub := int32(subGuess[mantissa>>44])
	if subBounds[sub+1] <= mantissa {
		sub++
	}
	return int32(exponent)<<MaxScale + sub
}

// A Shape says which buckets an array of counts stands for: n of them, from bucket start on, at scale MaxScale - shift.
type Shape struct {
	start int16
	shift uint8
	n     uint8
}

// Add counts a value in buckets, whose shape is s. index is its Index: several histograms often count the same value.
func Add[T uint16 | uint32](s *Shape, buckets []T, index int32) {
	i := int(index>>s.shift) - int(s.start)
	if uint(i) >= uint(s.n) {
		i = widen(s, buckets, index)
	}
	if buckets[i] == ^T(0) {
		// Old values fade rather than new ones being lost; quantiles stay right.
		for j := range buckets {
			buckets[j] /= 2
		}
	}
	buckets[i]++
}

// widen makes room for the bucket of index (at MaxScale) and returns its place.
func widen[T uint16 | uint32](s *Shape, buckets []T, index int32) int {
	if s.n == 0 {
		s.start, s.n = int16(index>>s.shift), 1
		return 0
	}
	for {
		at := int(index >> s.shift)
		low, high := min(at, int(s.start)), max(at, int(s.start)+int(s.n)-1)
		if high-low < len(buckets) {
			if move := int(s.start) - low; move > 0 {
				copy(buckets[move:], buckets[:s.n])
				clear(buckets[:move])
			}
			s.start, s.n = int16(low), uint8(high-low+1)
			return at - low
		}
		halve(s, buckets)
	}
}

// halve lets each bucket stand for two.
func halve[T uint16 | uint32](s *Shape, buckets []T) {
	start := s.start >> 1
	n := 0
	for i := range int(s.n) {
		to := int((s.start+int16(i))>>1 - start)
		count := buckets[i]
		buckets[i] = 0
		if sum := buckets[to] + count; sum >= count {
			buckets[to] = sum
		} else {
			buckets[to] = ^T(0)
		}
		n = to + 1
	}
	s.start, s.n = start, uint8(n)
	s.shift++
}

// Len is how many buckets of the array are in use, from the first on.
func (s *Shape) Len() int { return int(s.n) }

// Middle is the value in the middle of bucket i of the array, on the logarithmic scale.
func (s *Shape) Middle(i int) float64 {
	return math.Exp2((float64(int(s.start)+i) + 0.5) * math.Exp2(float64(s.shift)-MaxScale))
}

// Merge adds the counts of some buckets to others. Sums that do not fit stay at the largest number.
func Merge[T uint16 | uint32](s *Shape, buckets []T, from *Shape, counts []T) {
	for s.n > 0 && s.shift < from.shift {
		halve(s, buckets)
	}
	if s.n == 0 {
		*s = *from
		copy(buckets, counts)
		return
	}
	for i, c := range counts[:from.n] {
		if c == 0 {
			continue
		}
		index := (int32(from.start) + int32(i)) << from.shift
		at := int(index>>s.shift) - int(s.start)
		if uint(at) >= uint(s.n) {
			at = widen(s, buckets, index)
		}
		if buckets[at]+c < c {
			c = ^buckets[at]
		}
		buckets[at] += c
	}
}

// RelativeError is the largest error of a middle: half a bucket.
func (s *Shape) RelativeError() float64 {
	return math.Exp2(math.Exp2(float64(s.shift)-MaxScale)/2) - 1
}

// Quantile returns the middle of the bucket that has the value below which the share q of the counts lies. It is for
// sketches, which know nothing but counts.
func Quantile[T uint16 | uint32](s *Shape, buckets []T, q float64) uint64 {
	var total uint64
	for _, c := range buckets[:s.n] {
		total += uint64(c)
	}
	rank := uint64(math.Ceil(q * float64(total)))
	for i, c := range buckets[:s.n] {
		if rank <= uint64(c) {
			return uint64(math.Round(s.Middle(i)))
		}
		rank -= uint64(c)
	}
	return 0
}

// A Summary is the exact part of a distribution.
type Summary struct {
	Count    uint64
	Sum      uint64
	Min, Max uint64 // since Turn was called last

	high uint64 // the largest value before that
	low  uint64 // all ones minus the smallest
}

// Least returns the smallest value of all, 0 if nothing was counted.
func (s *Summary) Least() uint64 {
	if s.Count == 0 {
		return 0
	}
	return min(s.Min, ^s.low)
}

// Most returns the largest value of all.
func (s *Summary) Most() uint64 { return max(s.Max, s.high) }

// Turn begins a new interval for Min and Max. Who gives what was counted since it did so last calls it.
func (s *Summary) Turn() {
	if s.Count > 0 {
		s.low, s.high = ^s.Least(), s.Most()
		s.Min, s.Max = math.MaxUint64, 0
	}
}

// Observe counts a value.
func (s *Summary) Observe(v uint64) {
	if s.Count == 0 || v < s.Min {
		s.Min = v
	}
	s.Max = max(s.Max, v)
	s.Sum += v
	s.Count++
}

// Merge adds what o counted.
func (s *Summary) Merge(o *Summary) {
	if o.Count == 0 {
		return
	}
	if least := o.Least(); s.Count == 0 || least < s.Min {
		s.Min = least
	}
	s.Max = max(s.Max, o.Most())
	s.Sum += o.Sum
	s.Count += o.Count
}

// Mean is the arithmetic mean; 0 if nothing was counted.
func (s *Summary) Mean() float64 { return float64(s.Sum) / float64(max(s.Count, 1)) }

// Distribution sums up what was counted, without percentiles if no buckets are kept.
func Distribution[T uint16 | uint32](e *Summary, s *Shape, buckets []T) *telemetry.Distribution {
	var memory [len(Histogram{}.buckets)]telemetry.Bucket
	list := memory[:0]
	for i, n := range buckets[:s.n] {
		if n > 0 {
			list = append(list, telemetry.ExponentialBucket(MaxScale-int8(s.shift), int(s.start)+i, uint64(n)))
		}
	}
	return telemetry.DistributionOf(list, e.Count, e.Sum, e.Least(), e.Most())
}

// A Histogram is the distribution kept for a path or a hop of it: 160 buckets.
type Histogram struct {
	Summary
	Shape
	buckets [160]uint32
}

// Add counts v, whose Index is index.
func (h *Histogram) Add(v uint64, index int32) {
	h.Summary.Observe(v)
	Add(&h.Shape, h.buckets[:], index)
}

// Merge adds what o counted.
func (h *Histogram) Merge(o *Histogram) {
	h.Summary.Merge(&o.Summary)
	Merge(&h.Shape, h.buckets[:], &o.Shape, o.buckets[:])
}

// Distribution sums up what was counted.
func (h *Histogram) Distribution() *telemetry.Distribution {
	return Distribution(&h.Summary, &h.Shape, h.buckets[:])
}
