package analyze

import (
	"math"
	"math/bits"

	"github.com/waybill-int/waybill/telemetry"
)

// Latencies are kept in base-2 exponential histograms, as OpenTelemetry and Prometheus native histograms are: bucket i at
// scale s holds the values from 2^(i/2^s) to 2^((i+1)/2^s). A histogram starts at the finest scale and halves its
// resolution whenever a value does not fit, so a small array serves any range; merging is addition.

// maxScale is the finest scale: 128 buckets for each power of two, 0.54 % wide.
const maxScale = 7

// subBounds[i] is the 52 bit mantissa at which sub-bucket i of a power of two begins at maxScale.
var subBounds = func() (b [1<<maxScale + 1]uint64) {
	for i := range b {
		b[i] = uint64(math.Ceil((math.Exp2(float64(i)/(1<<maxScale)) - 1) * (1 << 52)))
	}
	return b
}()

// subGuess[m] is the sub-bucket of mantissas whose top 8 bits are m, or the one below: sub-buckets are wider than that.
var subGuess = func() (g [256]uint8) {
	sub := 0
	for m := range g {
		for sub+1 < 1<<maxScale && subBounds[sub+1] <= uint64(m)<<44 {
			sub++
		}
		g[m] = uint8(sub)
	}
	return g
}()

// bucketIndex returns the bucket of v at maxScale; 0 counts as 1.
func bucketIndex(v uint64) int32 {
	if v <= 1 {
		return 0
	}
	exponent := 63 - bits.LeadingZeros64(v)
	mantissa := v << (63 - exponent) << 1 >> 12 // 52 bits below the leading one
	sub := int32(subGuess[mantissa>>44])
	if subBounds[sub+1] <= mantissa {
		sub++
	}
	return int32(exponent)<<maxScale + sub
}

// A shape says which buckets an array of counts stands for: n of them, from bucket start on, at scale maxScale - shift.
type shape struct {
	start int16
	shift uint8
	n     uint8
}

// addTo counts a value in buckets, whose shape is s. index is its bucketIndex: several histograms often count the same value.
func addTo[T uint16 | uint32](s *shape, buckets []T, index int32) {
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

// widen makes room for the bucket of index (at maxScale) and returns its place.
func widen[T uint16 | uint32](s *shape, buckets []T, index int32) int {
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
func halve[T uint16 | uint32](s *shape, buckets []T) {
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

// len is how many buckets of the array are in use, from the first on.
func (s *shape) len() int { return int(s.n) }

// middle is the value in the middle of bucket i of the array, on the scale of the logarithm.
func (s *shape) middle(i int) float64 {
	return math.Exp2((float64(int(s.start)+i) + 0.5) * math.Exp2(float64(s.shift)-maxScale))
}

// addBuckets adds the counts of some buckets to others. Sums that do not fit stay at the largest number.
func addBuckets[T uint16 | uint32](s *shape, buckets []T, from *shape, counts []T) {
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

// relativeError is the largest error of a middle: half a bucket.
func (s *shape) relativeError() float64 {
	return math.Exp2(math.Exp2(float64(s.shift)-maxScale)/2) - 1
}

// middleQuantile returns the middle of the bucket that has the value below which the share q of the counts lies. It is for sketches,
// which know nothing but counts.
func middleQuantile[T uint16 | uint32](s *shape, buckets []T, q float64) uint64 {
	var total uint64
	for _, c := range buckets[:s.n] {
		total += uint64(c)
	}
	rank := uint64(math.Ceil(q * float64(total)))
	for i, c := range buckets[:s.n] {
		if rank <= uint64(c) {
			return uint64(math.Round(s.middle(i)))
		}
		rank -= uint64(c)
	}
	return 0
}

// A summary is the exact part of a distribution.
type summary struct {
	count    uint64
	sum      uint64
	min, max uint64
}

func (s *summary) note(v uint64) {
	if s.count == 0 || v < s.min {
		s.min = v
	}
	s.max = max(s.max, v)
	s.sum += v
	s.count++
}

func (s *summary) merge(o *summary) {
	if o.count == 0 {
		return
	}
	if s.count == 0 || o.min < s.min {
		s.min = o.min
	}
	s.max = max(s.max, o.max)
	s.sum += o.sum
	s.count += o.count
}

// mean is the arithmetic mean; 0 if nothing was counted.
func (s *summary) mean() float64 { return float64(s.sum) / float64(max(s.count, 1)) }

// distribution sums up what was counted, without percentiles if no buckets are kept.
func distribution[T uint16 | uint32](e *summary, s *shape, buckets []T) *telemetry.Distribution {
	var memory [len(histogram{}.buckets)]telemetry.Bucket
	list := memory[:0]
	for i, n := range buckets[:s.n] {
		if n > 0 {
			list = append(list, telemetry.ExponentialBucket(maxScale-int8(s.shift), int(s.start)+i, uint64(n)))
		}
	}
	return telemetry.DistributionOf(list, e.count, e.sum, e.min, e.max)
}

// A histogram is the distribution kept for a path or a hop of it: 160 buckets.
type histogram struct {
	summary
	shape
	buckets [160]uint32
}

// addIndexed counts v, whose bucketIndex is index.
func (h *histogram) addIndexed(v uint64, index int32) {
	h.summary.note(v)
	addTo(&h.shape, h.buckets[:], index)
}

// merge adds what o counted.
func (h *histogram) merge(o *histogram) {
	h.summary.merge(&o.summary)
	addBuckets(&h.shape, h.buckets[:], &o.shape, o.buckets[:])
}

func (h *histogram) distribution() *telemetry.Distribution {
	return distribution(&h.summary, &h.shape, h.buckets[:])
}
