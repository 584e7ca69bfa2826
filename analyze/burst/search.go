package burst

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// Search finds the bursts of many queues. It is not for concurrent use. Nothing is allocated for a sample as long as
// its queue holds no more samples than at some time before.
type Search struct {
	config   Config
	queues   map[queueKey]*queue
	list     []*queue // the same
	recent   [1 << recentBits]*queue
	clocks   map[uint32]*nodeClock
	ports    map[portKey]*port
	hand     int // place in list at which the search for a quiet queue goes on
	free     int // samples for which queues may ask for room
	passedNs int64
	lastNs   int64
	behindNs uint64 // how far what was observed is behind, as of the last Advance
	unseenNs uint64 // how old what is observed now may be, besides what is usual
	over     []Burst
	counters Counters
	random   *rand.Rand
	scratch  scratch
}

// A nodeClock is the clock of the node of some queues.
type nodeClock struct {
	clock
	wrapped
	queues int
	gap    gap
}

const (
	// maxStepNs is how much of the time between two calls of Advance counts.
	maxStepNs = 150e6

	recentBits = 12
	// leastRoom is the number of samples for which every queue has room.
	leastRoom = 64
	// maxFrame and maxEvery are more than there is. What is taken for them keeps sums from running over.
	maxFrame, maxEvery = 1 << 20, 1 << 20
)

// NewSearch returns a Bursts that knows no queue.
func NewSearch(c Config) *Search {
	return &Search{
		config: c, queues: map[queueKey]*queue{}, clocks: map[uint32]*nodeClock{},
		ports: map[portKey]*port{}, free: c.MaxSamples,
		random: rand.New(rand.NewPCG(1, 2)), scratch: newScratch(),
	}
}

// LeastBelow returns a length of queues, in a unit, at or below which every burst ends.
func (b *Search) LeastBelow(unit Unit) uint32 { return b.config.leastBelow(unit) }

// Observe takes a sample. s stays the caller's.
func (b *Search) Observe(s *Sample) {
	b.counters.Observed++
	if !s.timed() { // it takes the place of no queue
		b.counters.Untimed++
		return
	}
	q := b.queue(queueKey{s.Node, s.Port, s.Queue})
	if q == nil {
		b.counters.Overflow++
		return
	}
	inNs, wait, has, ok := s.times(&b.counters, q.clock)
	if !ok || !b.admit(q, inNs, wait, has, s.Unit) {
		return
	}
	b.place(q, s, inNs, wait, has)
}

// place puts a sample into its queue.
func (b *Search) place(q *queue, s *Sample, inNs, wait uint64, has SampleFields) {
	k := q.place()
	k.in, k.wait, k.has = inNs, uint32(wait), has
	k.flow, k.packet, k.source = s.Flow, s.Packet, s.Source
	k.depth, k.bytes, k.every = s.Depth, min(s.Bytes, maxFrame), min(max(s.Every, 1), maxEvery)
	if has&SampleDepth == 0 {
		k.depth = 0
	}
	if k.tellsDepthBefore() && has&SampleOut != 0 {
		q.at.note(inNs, k.wait, k.depth == 0)
	}
	q.added()
}

// admit makes room for a sample in its queue; it reports false, and counts why, if the sample does not count.
func (b *Search) admit(q *queue, inNs, wait uint64, has SampleFields, unit Unit) bool {
	leftNs := inNs + wait
	if has&SampleDepthAtOut != 0 {
		leftNs = inNs
	}
	stray, jumped := q.clock.take(leftNs, b.passedNs, b.config.JumpNs+b.unseenNs)
	if stray {
		b.counters.Stray++
		return false
	}
	if jumped {
		b.counters.ClockJumps++
		q.clock.gap = gap{}
		b.endNode(q.node)
	}
	if inNs > q.settled && len(q.samples) == cap(q.samples) {
		b.makeRoom(q) // which may settle what is older than this
	}
	if inNs <= q.settled {
		b.counters.Late++
		q.clock.gap.note(inNs)
		return false
	}
	if has&SampleDepth != 0 && (!q.byDepth || unit != q.unit && unit != codepoint.UnitUnknown) {
		q.measureDepth(unit)
	}
	q.waits.note(inNs, uint32(wait), 4*b.config.LatenessNs)
	q.touched = true
	return true
}

// queue returns the queue of a key, a new one if there is none, or nil if there are too many.
func (b *Search) queue(key queueKey) *queue {
	recent := b.slot(key)
	if q := *recent; q != nil && q.queueKey == key {
		return q
	}
	q := b.queues[key]
	if q == nil {
		if len(b.list) >= b.config.MaxQueues && !b.evict() {
			return nil
		}
		clock := b.clocks[key.node]
		if clock == nil {
			clock = &nodeClock{}
			b.clocks[key.node] = clock
		}
		clock.queues++
		at := b.ports[portKey{key.node, key.port}]
		if at == nil {
			at = &port{least: noWait, before: noWait}
			b.ports[portKey{key.node, key.port}] = at
		}
		at.queues++
		q = &queue{queueKey: key, clock: clock, at: at}
		b.queues[key] = q
		b.list = append(b.list, q)
	}
	*recent = q
	return q
}

// slot returns the place of a queue among those that were met last.
func (b *Search) slot(key queueKey) **queue {
	hash := (uint64(key.node)<<32 ^ uint64(key.queue)<<24 ^ uint64(key.port)) * 0x9e3779b97f4a7c15
	return &b.recent[hash>>(64-recentBits)]
}

// evict removes a queue that holds no samples and got none since the hand passed it before.
func (b *Search) evict() bool {
	const patience = 16
	for range min(patience, len(b.list)) {
		b.hand++
		if b.hand >= len(b.list) {
			b.hand = 0
		}
		q := b.list[b.hand]
		if q.touched || len(q.samples) > 0 {
			q.touched = false
			continue
		}
		b.counters.Evicted++
		b.free += max(cap(q.samples)-leastRoom, 0)
		delete(b.queues, q.queueKey)
		last := len(b.list) - 1
		b.list[b.hand], b.list[last] = b.list[last], nil
		b.list = b.list[:last]
		if recent := b.slot(q.queueKey); *recent == q {
			*recent = nil
		}
		if clock := b.clocks[q.node]; clock.queues > 1 {
			clock.queues--
		} else {
			delete(b.clocks, q.node)
		}
		if q.at.queues--; q.at.queues == 0 {
			delete(b.ports, portKey{q.node, q.port})
		}
		return true
	}
	return false
}

// makeRoom makes room for a sample in q: by settling what is due, with more memory, by settling what is not due, or at
// the cost of a burst's older samples.
func (b *Search) makeRoom(q *queue) {
	enough := cap(q.samples) / 4 * 3
	b.settle(q, b.bound(q, q.clock.known))
	q.forget(false)
	if len(q.samples) < enough || b.grow(q) {
		return
	}
	b.counters.Early += uint64(len(q.samples) - q.walk.next)
	b.settle(q, q.latest())
	q.forget(true)
	if !q.walk.on && len(q.samples) >= enough { // nearly all may still be in the queue, but they made no burst
		q.samples, q.walk.next, q.gone = q.samples[:0], 0, 0
	}
	for len(q.samples) >= enough {
		b.counters.Thinned += uint64(q.thin(b.random))
	}
}

// grow doubles the room of q, if there is memory for it. No queue gets more than a quarter of all.
func (b *Search) grow(q *queue) bool {
	have := cap(q.samples)
	if have == 0 {
		q.samples = make([]queued, 0, leastRoom)
		return true
	}
	if have > b.free || 2*have > b.config.MaxSamples/4 {
		return false
	}
	b.free -= have
	bigger := make([]queued, len(q.samples), 2*have)
	copy(bigger, q.samples)
	q.samples = bigger
	return true
}

// bound returns up to which moment q can be settled when the clock of its node shows nowNs.
func (b *Search) bound(q *queue, nowNs uint64) uint64 {
	wait := b.config.LatenessNs + b.behindNs + uint64(max(q.waits.longest, q.waits.before))
	return nowNs - min(nowNs, wait)
}

// Resume tells the time before what came since Advance is observed, nanoseconds by the same clock as that. The samples
// of one shard are observed before those of the next, so that these seem to be old by that time.
func (b *Search) Resume(nowNs int64) {
	since := uint64(0)
	if b.lastNs != 0 {
		since = uint64(max(nowNs-b.lastNs, 0))
	}
	b.unseenNs = min(b.behindNs+since, b.config.MaxBehindNs)
}

// Behind says how far behind is who delivers samples the latest: what arrived in so much time, in nanoseconds, may not
// have been observed yet. The next Advance settles only what is older, but waits no longer than Config.MaxBehindNs.
func (b *Search) Behind(ns uint64) { b.behindNs = min(ns, b.config.MaxBehindNs) }

// Missed says that some of the samples since the last Advance are lost.
func (b *Search) Missed() {
	for _, clock := range b.clocks {
		clock.gap.note(clock.known - min(clock.known, b.config.LatenessNs))
	}
}

// Advance settles what is due; call it some times a second. nowNs is the caller's time in nanoseconds, which is
// compared with that of earlier calls only: a queue of a node that fell silent is settled when so much of it has
// passed. A process that stands still for a while must not settle what is in a socket all the time, so that long steps
// count in part only.
func (b *Search) Advance(nowNs int64) {
	if b.lastNs != 0 {
		b.passedNs += min(max(nowNs-b.lastNs, 0), maxStepNs)
	}
	b.lastNs = nowNs
	for _, clock := range b.clocks {
		clock.advance(b.passedNs)
		clock.gap.advance(clock.now(b.passedNs))
	}
	scarce := b.free < b.config.MaxSamples/4
	for _, q := range b.list {
		if len(q.samples) > 0 {
			b.settle(q, b.bound(q, q.clock.now(b.passedNs)))
			q.forget(false)
		}
		if scarce && cap(q.samples) > leastRoom && len(q.samples) < cap(q.samples)/4 {
			b.free += cap(q.samples) / 2
			q.samples = append(make([]queued, 0, cap(q.samples)/2), q.samples...)
		}
	}
}

// endNode ends what was at the queues of a node whose clock was set.
func (b *Search) endNode(node uint32) {
	for _, q := range b.list {
		if q.node == node {
			b.end(q, q.clock.before)
			q.settled = 0
		}
	}
}

// end settles all that q has. The clock of its node shows newestNs.
func (b *Search) end(q *queue, newestNs uint64) {
	b.settle(q, max(newestNs, q.latest()))
	if q.walk.on {
		b.keep(b.build(q, q.walk.lastNs, q.walk.lastNs, true))
	}
	q.empty()
	q.usual.slot = 0
}

// close ends the burst of q, or what is told of it if it goes on (open). The samples of its packets are those that the
// walk has seen.
func (b *Search) close(q *queue, endNs, limitNs uint64, open bool) {
	w := &q.walk
	b.keep(b.build(q, endNs, limitNs, open))
	*w = walk{next: w.next, lastNs: w.lastNs, lastLevel: w.lastLevel}
	q.settled = max(q.settled, endNs)
}

// keep keeps a burst until somebody takes it.
func (b *Search) keep(burst Burst) {
	b.counters.Bursts++
	if len(b.over) >= b.config.MaxBursts {
		b.counters.LeftBursts++
		return
	}
	b.over = append(b.over, burst)
}

// Take returns the bursts that are over and were not returned before, by the time of their end at their node. They are
// the caller's.
func (b *Search) Take() []Burst {
	taken := b.over
	b.over = nil
	slices.SortFunc(taken, compareBursts)
	return taken
}

// Open returns the bursts that are not over, as far as they are settled: limit of them at most.
func (b *Search) Open(limit int) []Burst {
	var open []Burst
	for _, q := range b.list {
		if q.walk.on && len(open) < limit {
			open = append(open, b.build(q, q.walk.lastNs, q.walk.lastNs, true))
		}
	}
	slices.SortFunc(open, compareBursts)
	return open
}

func compareBursts(x, y Burst) int {
	return cmp.Or(cmp.Compare(x.EndNs, y.EndNs), cmp.Compare(x.Node, y.Node), cmp.Compare(x.Port, y.Port),
		cmp.Compare(x.Queue, y.Queue), cmp.Compare(x.StartNs, y.StartNs))
}

// Counters returns what became of the samples so far.
func (b *Search) Counters() Counters {
	c := b.counters
	c.Queues = len(b.list)
	for _, q := range b.list {
		c.SamplesHeld += len(q.samples)
	}
	return c
}
