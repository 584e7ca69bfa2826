package clock

import "math"

// A fit is a straight line for the difference of two clocks, clock b minus clock a, over the time of clock a, and the
// room that the bounds leave around it.
type fit struct {
	valid       bool
	at          int64   // by clock a
	offset      int64   // ns, then
	uncertainty float64 // ns, then, half width
	drift       float64 // ns in a nanosecond
	slowest     float64 // the smallest and the largest drift with which a line fits between the bounds
	fastest     float64
	spanNs      int64 // from the oldest bound to the newest
}

// offsetAt returns the difference at a moment of clock a.
func (f *fit) offsetAt(at int64) int64 {
	return f.offset + int64(math.Round(f.drift*float64(at-f.at)))
}

// uncertaintyAt returns by how much offsetAt may be wrong, if clocks go on as straight as they did: the further away,
// the more it counts that the drift is not known exactly.
func (f *fit) uncertaintyAt(at int64) float64 {
	return f.uncertainty + math.Abs(float64(at-f.at))*max(f.fastest-f.drift, f.drift-f.slowest)
}

// contradicts reports whether a point would be a negative delay, whatever the difference is within its uncertainty.
func (f *fit) contradicts(p *point, direction int) bool {
	above := float64(p.diff - f.offsetAt(p.at))
	if direction == atLeast {
		above = -above
	}
	return above < -f.uncertaintyAt(p.at)-1
}

// ceilNs rounds up to whole nanoseconds.
func ceilNs(ns float64) int64 { return int64(min(math.Ceil(ns), 1<<62)) }

// A vertex is a bound relative to some point that is near, in numbers that float64 holds exactly. Those of direction
// atLeast are turned upside down, so that all bounds of either direction are from above.
type vertex struct{ t, v float64 }

// scratch is memory for between.
type scratch [2][slots * (windows + 1)]vertex

// bounds is the bounds of one direction.
type bounds []vertex

// lowest returns at which height a line of this slope touches the bounds from below, at t = 0, and where it does.
func (b bounds) lowest(slope float64) (height, t float64) {
	height = math.Inf(1)
	for i := range b {
		if h := b[i].v - slope*b[i].t; h < height {
			height, t = h, b[i].t
		}
	}
	return height, t
}

// mean returns the mean moment of the bounds.
func (b bounds) mean() float64 {
	sum := 0.0
	for i := range b {
		sum += b[i].t
	}
	return sum / float64(len(b))
}

// bisect narrows down where right turns from true to false between low and high. 50 halvings of 2000 ppm are 10^-18.
func bisect(low, high float64, right func(float64) bool) float64 {
	for range 50 {
		if middle := (low + high) / 2; right(middle) {
			low = middle
		} else {
			high = middle
		}
	}
	return low
}

// between fits f between two sets of bounds. Points from slot newest on are those of the newest window. Stamps count in
// steps of resolutionNs.
//
// All is done on slopes: for each slope the bounds say how high and how low a line may lie, and the room between, as a
// function of the slope, has a single peak.
func (f *fit) between(above, below []point, newest, resolutionNs int64, scratch *scratch) state {
	*f = fit{}
	if len(above) == 0 || len(below) == 0 {
		f.oneWay(above, below, scratch)
		return oneWay
	}
	f.valid, f.at = true, max(above[len(above)-1].at, below[len(below)-1].at)
	base := above[len(above)-1].diff
	upper := vertices(scratch[atMost][:0], above, f.at, base, 1)
	lower := vertices(scratch[atLeast][:0], below, f.at, base, -1)
	f.spanNs = f.at - min(above[0].at, below[0].at)
	slack := float64(resolutionNs)

	room := func(slope float64) float64 {
		high, _ := upper.lowest(slope)
		low, _ := lower.lowest(-slope)
		return high + low + 2*slack
	}
	peak := bisect(-maxDrift, maxDrift, func(slope float64) bool {
		_, tu := upper.lowest(slope)
		_, tl := lower.lowest(-slope)
		return tl > tu // the room still grows
	})
	if room(peak) < 0 {
		f.valid = false
		return torn
	}
	f.slowest, f.fastest = -maxDrift, maxDrift
	if room(f.slowest) < 0 {
		f.slowest = bisect(peak, f.slowest, func(slope float64) bool { return room(slope) >= 0 })
	}
	if room(f.fastest) < 0 {
		f.fastest = bisect(peak, f.fastest, func(slope float64) bool { return room(slope) >= 0 })
	}

	// Of all lines that fit, the one whose slope leaves the least delay above the smallest ones, over both directions.
	meanUpper, meanLower := upper.mean(), lower.mean()
	f.drift = bisect(f.slowest, f.fastest, func(slope float64) bool {
		_, tu := upper.lowest(slope)
		_, tl := lower.lowest(-slope)
		return tu-meanUpper-tl+meanLower < 0
	})
	high, _ := upper.lowest(f.drift)
	low, _ := lower.lowest(-f.drift)
	middle := (high - low) / 2
	f.offset = base + int64(math.Round(middle))

	// What any line that fits says of the difference now.
	most := bisect(f.slowest, f.fastest, func(slope float64) bool { _, t := upper.lowest(slope); return t < 0 })
	least := bisect(f.slowest, f.fastest, func(slope float64) bool { _, t := lower.lowest(-slope); return t > 0 })
	high, _ = upper.lowest(most)
	low, _ = lower.lowest(-least)
	f.uncertainty = max(high-middle, middle+low) + slack
	// Should the clocks be less straight than it seems, the newest bounds hold still.
	if n := newer(above, newest); n > 0 {
		high, _ = upper[len(upper)-n:].lowest(f.drift)
		f.uncertainty = max(f.uncertainty, high-middle+slack)
	}
	if n := newer(below, newest); n > 0 {
		low, _ = lower[len(lower)-n:].lowest(-f.drift)
		f.uncertainty = max(f.uncertainty, middle+low+slack)
	}
	return good
}

// oneWay finds what the bounds of one direction tell: how fast the difference grows, if there are enough.
func (f *fit) oneWay(above, below []point, scratch *scratch) {
	points, sign := above, 1.0
	if len(above) == 0 {
		points, sign = below, -1
	}
	if len(points) <= slots {
		return
	}
	last := points[len(points)-1]
	f.at, f.spanNs = last.at, last.at-points[0].at
	bounds := vertices(scratch[atMost][:0], points, last.at, last.diff, sign)
	mean := bounds.mean()
	f.drift = sign * bisect(-maxDrift, maxDrift, func(slope float64) bool {
		_, t := bounds.lowest(slope)
		return t < mean
	})
	f.slowest, f.fastest = -maxDrift, maxDrift
}

// vertices appends the points, relative to a moment and a difference.
func vertices(to bounds, points []point, at, base int64, sign float64) bounds {
	for i := range points {
		to = append(to, vertex{float64(points[i].at - at), sign * float64(points[i].diff-base)})
	}
	return to
}

// newer returns how many points there are from a slot on.
func newer(points []point, slot int64) int {
	n := 0
	for n < len(points) && points[len(points)-1-n].slot >= slot {
		n++
	}
	return n
}
