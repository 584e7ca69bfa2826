package burst

import (
	"math/rand/v2"
	"slices"
)

// A queueKey names a queue.
type queueKey struct {
	node, port uint32
	queue      uint8
}

// A queue holds the samples of one queue that are not settled yet, those of packets that may still be in the queue,
// and those of a burst that is not over.
type queue struct {
	queueKey
	clock    *nodeClock
	at       *port    // where it leads to
	samples  []queued // of which the walk has seen some; the others may be unsorted
	gone     int      // of those that it has seen, packets that had left the queue
	unsorted bool
	settled  uint64 // nothing that came up to this moment counts any more, ns
	seenTo   uint64 // up to this moment, what was to come has come, ns
	waits    waits
	byDepth  bool // a sample told a depth; until then the queue is measured in ns
	unit     Unit // of the depth
	touched  bool // a sample came since the eviction hand last passed
	usual    baseline
	lulls    lulls
	walk     walk
}

// waits is how long packets waited of late: a report is sent when a packet leaves, so that it may come so much later
// than one about a packet that came to the queue at the same time, or was dropped there.
type waits struct {
	longest, before uint32 // in this period and the one before, ns
	since           uint64 // when this period began
}

func (w *waits) note(inNs uint64, wait uint32, periodNs uint64) {
	if inNs > w.since && inNs-w.since > periodNs {
		w.longest, w.before, w.since = 0, w.longest, inNs
	}
	w.longest = max(w.longest, wait)
}

// nearEnough is over how many newer samples one is carried to its place; if it is more, all are sorted later.
const nearEnough = 32

// place returns the place for one more sample, to be filled before added is called. There must be room.
func (q *queue) place() *queued {
	n := len(q.samples)
	q.samples = q.samples[:n+1]
	return &q.samples[n]
}

// added carries the sample in the last place to where it belongs.
func (q *queue) added() {
	if i := len(q.samples) - 1; i > q.walk.next && q.samples[i].in <= q.samples[i-1].in {
		q.carry(i)
	}
}

// measureDepth is for the first sample that tells a depth, in that unit.
func (q *queue) measureDepth(unit Unit) {
	q.byDepth, q.unit = true, unit
	q.usual = baseline{}
	q.walk = walk{next: q.walk.next}
}

// carry moves the last sample, i, to where it belongs.
func (q *queue) carry(i int) {
	k, to, last := q.samples[i], i, max(q.walk.next, i-nearEnough)
	for to > last && compareQueued(&k, &q.samples[to-1]) < 0 {
		to--
	}
	copy(q.samples[to+1:], q.samples[to:i])
	q.samples[to] = k
	q.unsorted = q.unsorted || to == last && to > q.walk.next
}

// latest returns when the newest sample's packet came, and 0 if there is none.
func (q *queue) latest() uint64 {
	q.sort()
	if len(q.samples) == 0 {
		return 0
	}
	return q.samples[len(q.samples)-1].in
}

// empty forgets all samples.
func (q *queue) empty() {
	q.samples, q.gone, q.unsorted, q.seenTo, q.waits, q.walk = q.samples[:0], 0, false, 0, waits{}, walk{}
	q.lulls = lulls{}
}

// sort sorts what the walk has not seen.
func (q *queue) sort() {
	if q.unsorted {
		slices.SortFunc(q.samples[q.walk.next:], func(x, y queued) int { return compareQueued(&x, &y) })
		q.unsorted = false
	}
}

// forget removes the samples that nobody needs any more. It takes the effort if that makes half of the room free, or if
// asked to.
func (q *queue) forget(always bool) {
	w := &q.walk
	n := w.first
	if !w.on {
		for n = q.gone; n < w.next && q.samples[n].out() < q.seenTo; n++ {
		}
		q.gone = n
	}
	if n == 0 || 2*n < len(q.samples) && !always {
		return
	}
	q.samples = q.samples[:copy(q.samples, q.samples[n:])]
	w.next -= n
	q.gone = 0
	if w.on {
		w.first, w.head, w.start, w.peak = 0, w.head-n, w.start-n, w.peak-n
	}
}

// thin removes samples of a burst for which there is not room enough, so that each that is left stands for the same
// number of packets: twice as many as before, or as many as older ones do already. What says when the burst began and
// how long the queue was stays. The choice is random: packets of flows often come in turns.
func (q *queue) thin(random *rand.Rand) (removed int) {
	w := &q.walk
	least := uint32(1 << 30)
	for i := range w.next {
		if i != w.start && i != w.peak {
			least = min(least, q.samples[i].every)
		}
	}
	w.standsFor = max(w.standsFor, 2*least)
	to, head, start, peak := 0, -1, 0, 0
	for i := range q.samples {
		if k := &q.samples[i]; i < w.next && i != w.start && i != w.peak && k.every < w.standsFor {
			if random.Uint32N(w.standsFor) >= k.every {
				continue
			}
			k.every = w.standsFor
		}
		q.samples[to] = q.samples[i]
		if i == w.start {
			start = to
		}
		if i == w.peak {
			peak = to
		}
		if i >= w.head && head < 0 {
			head = to
		}
		to++
	}
	removed = len(q.samples) - to
	q.samples, q.gone = q.samples[:to], 0
	w.next -= removed
	w.first, w.start, w.peak, w.head = 0, start, peak, head
	if head < 0 {
		w.head = w.next
	}
	return removed
}
