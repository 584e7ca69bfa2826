package burst

// A baseline is what is usual at a queue: the median of its length over time and the median absolute deviation from it,
// and what it exceeds in one second of 64 and in one of 8. All are followed by small steps up and down, which end where
// the right share of the time is on either side; a few bursts do not move them, and what stays for half a minute is
// usual.
type baseline struct {
	second  uint64  // of the latest sample, in units of 2^secondBits ns
	highest uint64  // the longest queue in it
	peak    float64 // exceeded in one second of rare
	busy    float64 // exceeded in one second of common
	room    uint64  // length of the queue when it last had no room for a packet; 0: it always had

	slot uint64 // of the last step, in units of 2^slotBits ns: about a millisecond
	// the second is never more: half of the time the queue is between empty and the median
	median, deviation      float64
	leastWait, leastBefore uint32 // ns, of the packets of this epoch and the one before
	epoch                  uint64
}

const (
	slotBits  = 20
	epochBits = 33 // 8.6 s
	steps     = 4096
	usualNs   = 30e9 // a burst that lasts for so long is over when the median has come up to the queue

	secondBits = 30 // 1.07 s
	peakSteps  = 32
	rare       = 64
	common     = 8
)

// newBaseline knows nothing yet.
func newBaseline() baseline {
	return baseline{leastWait: 1<<32 - 1, leastBefore: 1<<32 - 1}
}

// wait notes what a packet waited: the least is the base latency of the queue, what it costs when it is empty.
func (b *baseline) wait(k *queued) {
	if epoch := k.in >> epochBits; epoch != b.epoch {
		b.leastBefore, b.leastWait = b.leastWait, 1<<32-1
		b.epoch = epoch
	}
	b.leastWait = min(b.leastWait, k.wait)
}

// base returns the base latency of the queue, ns. Before the first packet that waited it is 0.
func (b *baseline) base() uint32 {
	if least := min(b.leastWait, b.leastBefore); least != 1<<32-1 {
		return least
	}
	return 0
}

// level notes the length of the queue at a moment, once a slot. A slot without samples counts as one with an empty
// queue.
func (b *baseline) level(v uint64, in, least uint64) {
	slot := in >> slotBits
	if slot <= b.slot {
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

// longest notes the length of the queue at a moment, of which the longest of each second counts.
func (b *baseline) longest(v uint64, in, least uint64) {
	second := in >> secondBits
	if second <= b.second {
		b.highest = max(b.highest, v)
		return
	}
	if b.second > 0 {
		empty := float64(second - b.second - 1)
		b.peak = exceeded(b.peak, float64(b.highest), empty, float64(least), rare)
		b.busy = exceeded(b.busy, float64(b.highest), empty, float64(least), common)
	}
	b.second, b.highest = second, v
}

// exceeded returns what peak, which the queue exceeds in one second of so many, is behind one in which highest was the
// longest queue and some in which it was empty.
func exceeded(peak, highest, empty, least, of float64) float64 {
	step := (peak + least) / peakSteps
	if away := highest - peak; away > 0 {
		peak += min(step, away)
	} else {
		peak -= min(step/of, -away)
	}
	return max(0, peak-step/of*empty)
}

// thresholds returns above which length a burst starts, and at which it ends: half way back to the median. 1.4826
// median absolute deviations are one standard deviation of values that are normally distributed, and 6 of those are
// above. What is half as much again as the peak of all but one second in 64 is unusual, and so is what is three times
// that of all but one in 8: what fills some seconds of each minute.
//
// Where packets are dropped for want of room, half of the room that is usually free is long, however often that comes.
// Only a queue that takes more than a quarter of the room most of the time has no bursts if it swings up and down in
// all of it.
func (b *baseline) thresholds(above, below, least uint64) (uint64, uint64) {
	if above == 0 {
		level, peak := b.median+6*1.4826*b.deviation, min(1.5*b.peak, 3*b.busy)
		if room := float64(b.room); room > 0 {
			long := (b.median + room) / 2
			peak = min(peak, long)
			if b.median < room/4 {
				level = min(level, long)
			}
		}
		above = uint64(max(b.median+float64(least), level, peak))
	}
	if below == 0 || below >= above {
		below = (uint64(b.median) + above) / 2
	}
	return above, below
}
