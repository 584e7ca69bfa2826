package analyze

// A burstBaseline is what is usual at a queue: the median of its length over time and the median absolute deviation from it.
// Both are followed by small steps up and down, which end where half of the time is on either side; a few bursts do not move
// them, and what stays for some ten seconds is usual.
type burstBaseline struct {
	slot                   uint64 // of the last step, in units of 2^slotBits ns: about a millisecond
	median, deviation      float64
	leastWait, leastBefore uint32 // ns, of the packets of this epoch and the one before
	epoch                  uint64
}

const (
	slotBits  = 20
	epochBits = 33 // 8.6 s
	steps     = 4096
)

// newBurstBaseline knows nothing yet.
func newBurstBaseline() burstBaseline {
	return burstBaseline{leastWait: 1<<32 - 1, leastBefore: 1<<32 - 1}
}

// wait notes what a packet waited: the least is the base latency of the queue, what it costs when it is empty.
func (b *burstBaseline) wait(k *queued) {
	if epoch := k.in >> epochBits; epoch != b.epoch {
		b.leastBefore, b.leastWait = b.leastWait, 1<<32-1
		b.epoch = epoch
	}
	b.leastWait = min(b.leastWait, k.wait)
}

// base returns the base latency of the queue, ns. Before the first packet that waited it is 0.
func (b *burstBaseline) base() uint32 {
	if least := min(b.leastWait, b.leastBefore); least != 1<<32-1 {
		return least
	}
	return 0
}

// level notes the length of the queue at a moment, once a slot. A slot without samples counts as one with an empty queue.
func (b *burstBaseline) level(v uint64, in, least uint64) {
	slot := in >> slotBits
	if slot <= b.slot {
		return
	}
	step := (b.median + float64(least)) / steps
	if b.slot > 0 {
		b.median = max(0, b.median-step*float64(slot-b.slot-1))
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
}

// thresholds returns above which length a burst starts and at which it ends. 1.4826 median absolute deviations are one
// standard deviation of values that are normally distributed, and 6 of those are above.
func (b *burstBaseline) thresholds(above, below, least uint64) (uint64, uint64) {
	if above == 0 {
		above = max(least, uint64(b.median+6*1.4826*b.deviation))
	}
	if below == 0 || below >= above {
		below = above / 2
	}
	return above, below
}

// merge takes what another instance knows of the same queue.
func (b *burstBaseline) merge(o *burstBaseline) {
	if o.slot > b.slot {
		b.slot, b.median, b.deviation = o.slot, o.median, o.deviation
	}
	switch {
	case o.epoch == b.epoch:
		b.leastWait, b.leastBefore = min(b.leastWait, o.leastWait), min(b.leastBefore, o.leastBefore)
	case o.epoch > b.epoch:
		b.epoch, b.leastWait, b.leastBefore = o.epoch, o.leastWait, min(b.leastWait, o.leastBefore)
	}
}
