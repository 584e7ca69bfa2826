package burst

// A baseline is what is usual at a queue: the median of its length over time and the median absolute deviation from it.
// Both are followed by small steps up and down, which end where half of the time is on either side. A burst teaches
// nothing, however often it comes, until it is so long that it is none.
type baseline struct {
	room uint64 // length of the queue when it last had no room for a packet; 0: it always had

	slot uint64 // of the last step, in units of 2^slotBits ns: about a millisecond
	// the second is never more: half of the time the queue is between empty and the median
	median, deviation float64
}

const (
	slotBits = 20
	steps    = 4096
	usualNs  = 30e9 // a queue that is long for so long is no burst any more: from then on it is learned from
	mostOver = 4    // times the least threshold: thresholds are no further above the median
)

// level notes the length of the queue at a moment, once a slot. A slot without samples counts as one with an empty
// queue. One that is not to be learned from counts not at all.
func (b *baseline) level(v uint64, in, least uint64, learn bool) {
	slot := in >> slotBits
	if slot <= b.slot {
		return
	}
	if !learn {
		b.slot = slot
		return
	}
	step := (b.median + float64(least)) / steps
	if b.slot > 0 {
		empty := step * float64(slot-b.slot-1)
		b.median = max(0, b.median-empty)
		b.deviation = min(b.deviation+empty, b.median)
	}
	b.slot = slot
	away := float64(v) - b.median
	if away > 0 {
		b.median += step
	} else {
		b.median = max(0, b.median-step)
		away = -away
	}
	if away > b.deviation {
		b.deviation += step
	} else {
		b.deviation = max(0, b.deviation-step)
	}
	b.deviation = min(b.deviation, b.median)
}

// thresholds returns above which length a burst starts, and at which it ends: half way back to the median. 1.4826
// median absolute deviations are one standard deviation of values that are normally distributed, and 6 of those are
// above. However much the queue swings, what is so many times the least above the median is long, and where packets
// are dropped for want of room, half of the room that is usually free.
func (b *baseline) thresholds(above, below, least uint64) (uint64, uint64) {
	if above == 0 {
		over := min(max(float64(least), 6*1.4826*b.deviation), mostOver*float64(least))
		if free := (float64(b.room) - b.median) / 2; free > 0 {
			over = min(over, max(free, float64(least)))
		}
		above = uint64(b.median + over)
	}
	if below == 0 || below >= above {
		below = (uint64(b.median) + above) / 2
	}
	return above, below
}
