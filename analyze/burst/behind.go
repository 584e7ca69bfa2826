package burst

// A lull is a packet that found its queue empty.
type lull struct {
	wait     uint32 // ns
	gap      uint32 // ns from the packet in front to this one, when they left
	previous uint32 // length of the packet in front, bytes
}

// lulls are the latest of a queue. A packet that finds the port idle, too, waits what it spends behind the queue, to
// the nanosecond. That may be more than the base latency of the port, which is the least of many seconds: a switch may
// have become slower since.
type lulls struct {
	list [16]lull
	n    int // that there were so far

	// Of the latest packet of the queue:
	outNs    uint64 // when it left
	bytes    uint32
	gapNs    uint64 // as of a lull
	previous uint32
}

// note notes the next packet of the queue.
func (l *lulls) note(k *queued) {
	l.gapNs, l.previous = k.out()-min(k.out(), l.outNs), l.bytes
	l.outNs, l.bytes = max(l.outNs, k.out()), k.bytes
	if k.depth == 0 {
		l.list[l.n%len(l.list)] = lull{k.wait, uint32(min(l.gapNs, 1<<32-1)), l.previous}
		l.n++
	}
}

// oldest is the number of the first lull that is kept.
func (l *lulls) oldest() int { return max(l.n-len(l.list), 0) }

func (l *lulls) at(i int) *lull { return &l.list[i%len(l.list)] }

// A span is what a packet spends behind a queue, at least and at most, ns.
type span struct{ least, most uint64 }

func (s *span) add(ns uint64) { s.least, s.most = min(s.least, ns), max(s.most, ns) }

// behind returns what a packet spent behind the queue when the queue became short. Where the lull before the burst and
// what is known of later differ, it has changed meanwhile, and nobody knows when.
func (q *queue) behind(w *walk) span {
	s := span{least: unknown}
	before := q.idle(w, q.lulls.oldest(), w.lulls)
	if before != nil && w.agrees(before) {
		s.add(uint64(before.wait))
	}
	if after := q.idle(w, max(w.lulls, q.lulls.n-1), q.lulls.n); after != nil {
		s.add(uint64(after.wait))
	}
	if before == nil || !w.agrees(before) {
		q.addUsual(w, &s)
	}
	if w.behindNs-min(w.behindNs, sameNs) > s.most { // by packets that left later; nothing tells how much it is then
		s.add(unknown)
	}
	return s
}

// spent returns what packets of the burst spent behind the queue, as far as that is known: at least.
func (q *queue) spent() uint64 {
	w := &q.walk
	ns := max(uint64(q.at.base()), w.behindNs)
	if w.dense && w.crossed {
		ns = max(ns, q.behind(w).least)
	}
	return ns
}

// idle returns the latest of some lulls that found the port idle: the packet in front had left before, by more than any
// of the burst takes, and was no longer than these. It is nil if there is none, or if packets of other queues may have
// been in front.
func (q *queue) idle(w *walk, from, to int) *lull {
	if q.at.queues > 1 || w.gapNs == 0 {
		return nil
	}
	for i := to - 1; i >= max(from, q.lulls.oldest()); i-- {
		if l := q.lulls.at(i); uint64(l.gap) > w.gapNs+sameNs && l.previous <= w.longest {
			return l
		}
	}
	return nil
}

// agrees reports whether what a lull shows may have been so when the queue became short: by the depths that packets
// found until then, others had left, or had not.
func (w *walk) agrees(l *lull) bool {
	wait := uint64(l.wait)
	return wait+sameNs >= w.crossing.leastNs && wait-min(wait, sameNs) <= w.crossing.mostNs
}

// addUsual is for a burst before which no packet is known to have found the port idle. Then it is the base latency, as
// long as depths do not say that it is more.
func (q *queue) addUsual(w *walk, s *span) {
	most, shown := q.leastLull(w)
	slower := w.behindNs > uint64(q.at.base())
	switch {
	case shown && slower:
		s.add(most)
	case shown && q.at.queues == 1: // or packets came at the rate of the link, each while the one in front left
		s.add(w.crossing.leastNs)
		s.add(most)
	case !slower:
		s.add(w.crossing.leastNs)
	case s.most == 0:
		s.add(w.crossing.leastNs)
		s.add(most)
	}
}

// leastLull returns what a packet spent behind the queue at most, by depths and by lulls, and whether several show the
// same, as they hardly do by chance.
func (q *queue) leastLull(w *walk) (most uint64, shown bool) {
	most = w.crossing.mostNs
	times := 0
	if most != unknown {
		times = 1
	}
	for i := q.lulls.oldest(); i < q.lulls.n; i++ {
		l := q.lulls.at(i)
		wait := uint64(l.wait)
		if !w.agrees(l) || wait-min(wait, sameNs) > most {
			continue
		}
		if wait+sameNs < most {
			times = 0
		}
		most = min(most, wait)
		if i < w.lulls {
			times++
		}
	}
	return max(most, w.crossing.leastNs), times > 1
}
