package bus

import (
	"container/heap"
	"math"
	"slices"
	"time"
)

// A queuedMessage is a message whose turn in its key has come, some of whose datagrams wait for earlier ones of others.
type queuedMessage struct {
	Header
	list     []Datagram // views into memory
	memory   []byte
	next     int    // the first of list that was not delivered
	sequence uint64 // in the stream
	damaged  bool   // it has no list
	holder   int    // that keeps datagrams of it, see Holders; below 0: nobody
	id       uint64 // by which it does
}

const (
	// maxQueuedBytes is how much may wait for the collector that is behind the most; beyond half of it what is whole of
	// its own collector is delivered, and beyond all of it the earliest that are there.
	maxQueuedBytes = 64 << 20
	// deliverAtOnce is how many datagrams are delivered together.
	deliverAtOnce = 128
	// toldAhead is how far ahead the clock of a collector is that the log tells of, once.
	toldAhead = time.Second
	// aheadSlack is how much further ahead a clock may be taken for than it was for aheadFor.
	aheadSlack, aheadFor = 2 * flushEvery, 10 * time.Second
	maxFree              = 16 // messages whose memory goes round
)

// queue queues the message of a key whose turn it is. The Consumer is locked.
func (n *Consumer) queue(at *keyState, r *received) {
	var m *queuedMessage
	if last := len(n.free) - 1; last >= 0 {
		m, n.free = n.free[last], n.free[:last]
	} else {
		m = &queuedMessage{}
	}
	h, list, memory, err := Decode(r.content, m.memory, m.list[:0])
	*m = queuedMessage{
		Header: h, list: list, memory: memory, sequence: r.sequence, damaged: err != nil, holder: r.holder, id: r.id,
	}
	if err != nil {
		// Its sum is right, and it is wrong: sending it again would not help.
		n.damaged++
		m.list = m.list[:0]
		n.config.Log.Error("datagrams are lost: a message cannot be read", "collector", h.Collector, "error", err,
			"datagrams", h.Datagrams)
	}
	if at.of == nil {
		at.of = n.collectorOf(h.Collector)
	}
	n.noFuture(at.of, m, n.now())
	if h.Number == at.Number+1 { // what the process before this one delivered of it
		m.next = int(min(at.Part, uint64(len(m.list))))
	}
	at.accepted = h.Number
	if at.queue = append(at.queue, m); len(at.queue) == 1 {
		at.headNs = m.nextNs()
		heap.Push(&n.queued, at)
	}
	n.queuedBytes += len(m.memory)
	n.hear(at, &h)
}

// noFuture moves datagrams of a collector whose clock is ahead of this one's to before now: what arrives in the future
// would wait for it, and be confirmed then. Those of all its messages that were not delivered are moved by the same
// time, so that they stay in their order.
func (n *Consumer) noFuture(c *collectorState, m *queuedMessage, nowNs int64) {
	for i := range m.list {
		c.aheadMost = max(c.aheadMost, m.list[i].ArrivedNs-nowNs)
	}
	ends := nowNs-c.aheadSince > int64(aheadFor)
	if c.aheadMost > c.aheadNs || ends && c.aheadMost < c.aheadNs-int64(aheadSlack) {
		n.moveQueued(c, c.aheadNs-c.aheadMost)
		n.clock.Lock()
		c.aheadNs = c.aheadMost
		n.clock.Unlock()
		if c.aheadNs > int64(toldAhead) && !c.toldAhead {
			c.toldAhead = true
			n.config.Log.Warn("the clock of a collector is ahead of the one here: its datagrams count as if they arrived when "+
				"they came by the bus", "collector", m.Collector,
				"ahead", time.Duration(c.aheadNs).Round(time.Millisecond))
		}
	}
	if ends {
		c.aheadMost, c.aheadSince = 0, nowNs
	}
	m.move(-c.aheadNs)
}

// move says that what was not delivered of a message arrived later by so much.
func (m *queuedMessage) move(by int64) {
	for i := m.next; by != 0 && i < len(m.list); i++ {
		m.list[i].ArrivedNs += by
	}
}

// moveQueued moves all messages of a collector that were not delivered.
func (n *Consumer) moveQueued(c *collectorState, by int64) {
	for _, at := range n.queued {
		if at.of != c {
			continue
		}
		for _, m := range at.queue {
			m.move(by)
		}
		at.headNs = at.queue[0].nextNs()
	}
	heap.Init(&n.queued)
}

// drain delivers what is queued and arrived up to when all of all collectors is there, in the order in which it
// arrived; and more, if too much is queued. The Consumer is locked.
func (n *Consumer) drain(nowNs int64) {
	upTo := n.setLimits(nowNs)
	for len(n.queued) > 0 {
		n.list = n.list[:0]
		for len(n.queued) > 0 && len(n.list) < deliverAtOnce {
			limit := n.queued.second()
			if n.queuedBytes <= maxQueuedBytes {
				limit = min(limit, n.queued[0].of.limitNs)
			}
			if n.queuedBytes <= maxQueuedBytes/2 {
				limit = min(limit, upTo)
			}
			if n.queued[0].headNs > limit {
				break
			}
			n.takeFrom(n.queued[0], limit)
		}
		if len(n.list) == 0 && len(n.finished) == 0 {
			break
		}
		if len(n.list) > 0 {
			n.config.Deliver(n.list)
		}
		for _, m := range n.finished { // nothing looks into their memory any more
			n.letGo(m.holder, m.id)
			if len(n.free) < maxFree {
				n.free = append(n.free, m)
			}
		}
		n.finished = n.finished[:0]
	}
	if len(n.queued) > 0 {
		upTo = min(upTo, n.queued[0].headNs)
	}
	n.clock.Lock()
	defer n.clock.Unlock()
	n.drainedNs, n.isQueued = max(n.drainedNs, upTo), len(n.queued) > 0
}

// setLimits notes up to when what arrived at each collector may be delivered, as far as it is for the collector itself,
// and returns up to when all that arrived at all of them was taken.
func (n *Consumer) setLimits(nowNs int64) (upTo int64) {
	n.clock.Lock()
	defer n.clock.Unlock()
	for _, c := range n.collectors {
		sinceNs := c.seenNs // since when it is waited for
		if c.limitNs = c.whole(); !c.kept {
			c.limitNs = math.MinInt64 // the one that is known is by another clock
		}
		if len(c.said) > 0 {
			sinceNs = c.said[0].seenNs
		}
		if n.pending == 0 && nowNs-sinceNs > int64(longestBehind) {
			c.limitNs = math.MaxInt64 // there is no use in waiting
		}
	}
	return n.wholeOf(nowNs)
}

// byArrival is a heap of keys with messages: that whose next datagram arrived first is the first.
type byArrival []*keyState

func (k byArrival) Len() int           { return len(k) }
func (k byArrival) Less(i, j int) bool { return k[i].headNs < k[j].headNs }
func (k byArrival) Swap(i, j int)      { k[i], k[j] = k[j], k[i] }
func (k *byArrival) Push(at any)       { *k = append(*k, at.(*keyState)) }

func (k *byArrival) Pop() any {
	last := len(*k) - 1
	at := (*k)[last]
	*k = (*k)[:last]
	return at
}

// whole returns up to when all that arrived at a collector was taken, by the clock here. The clock is locked.
func (c *collectorState) whole() int64 { return min(c.wholeNs-c.aheadNs, c.wholeSeenNs) }

// second returns when the next datagram of all but the first key arrived.
func (k byArrival) second() int64 {
	ns := int64(math.MaxInt64)
	for _, at := range k[1:min(len(k), 3)] {
		ns = min(ns, at.headNs)
	}
	return ns
}

// nextNs is when the next datagram arrived; less than any if there is none: it has its turn at once.
func (m *queuedMessage) nextNs() int64 {
	if m.next == len(m.list) {
		return math.MinInt64
	}
	return m.list[m.next].ArrivedNs
}

// takeFrom takes what of the first message of the first key arrived up to upToNs, and has the key say so.
func (n *Consumer) takeFrom(at *keyState, upToNs int64) {
	m := at.queue[0]
	for m.next < len(m.list) && len(n.list) < deliverAtOnce && m.list[m.next].ArrivedNs <= upToNs {
		d := &m.list[m.next]
		d.Collector = at.Collector
		if d.Kept.Is {
			d.Kept.Holder, d.Kept.Message, d.Kept.At = m.holder, m.id, m.next
		}
		n.list = append(n.list, *d)
		m.next++
	}
	if at.Part = uint64(m.next); m.next == len(m.list) {
		if m.Before > at.Datagrams {
			at.Lost += m.Before - at.Datagrams
		}
		if m.damaged {
			at.Lost += uint64(m.Datagrams)
		}
		at.Number, at.Datagrams, at.Part = m.Number, m.Before+uint64(m.Datagrams), 0
		n.queuedBytes -= len(m.memory)
		n.finished = append(n.finished, m)
		if at.queue = slices.Delete(at.queue, 0, 1); len(at.queue) == 0 {
			heap.Pop(&n.queued)
			return
		}
	}
	at.headNs = at.queue[0].nextNs()
	heap.Fix(&n.queued, 0)
}
