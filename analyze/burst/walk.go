package burst

import "github.com/waybill-int/waybill/wire/codepoint"

// A walk goes through the samples of a queue in the order in which the packets came, and finds where bursts begin and
// end. The depth that a packet found is exact at that moment. Between two packets the queue only shrinks: when, the
// packets that leave say if all are seen; else the rate at which it was drained does.
//
// Indices are those of queue.samples.
type walk struct {
	next int // the sample to look at
	on   bool

	lastNs    uint64 // when the queue was last measured, and what it was with that packet, in its unit or ns
	lastLevel uint64

	// Of a burst:
	first        int // oldest sample of a packet that was in the queue when it started
	start, peak  int
	above, below uint64
	slackNs      uint64 // how much earlier it may have started
	quietNs      uint64 // from the sample before it to its first
	startNs      uint64
	highest      uint64 // at the peak
	samples      uint64
	packets      uint64 // samples of packets that were not dropped
	depths       uint64 // that packets found, added up, and the time that they took to leave, ns
	waits        uint64
	stoodFor     uint64 // what samples of packets stand for, added up, in the unit of the queue
	standsFor    uint32 // packets that each sample stands for at least, if some had to go
	missing      uint64 // of packets that came unseen, in the unit of the queue

	// As long as each packet is seen:
	dense      bool
	head       int    // oldest packet that has not left
	behindNs   uint64 // what a packet spends behind the queue, at least: most of what it costs when it is empty
	mostNs     uint64 // and at most, as depths tell; or unknown
	occupied   uint64 // length of the queue
	crossed    bool   // it is below the threshold
	crossing   crossing
	endSlackNs uint64 // how much later that may have been than it is told
	gapNs      uint64 // longest time from one packet to the next, where they left one right behind the other
	longest    uint32 // longest of the packets in front, bytes
	lulls      int    // lulls of the queue before the burst
}

// A crossing is a packet whose leaving made a queue short.
type crossing struct {
	out             uint64 // when it left the node
	leastNs, mostNs uint64 // what a packet spent behind the queue until then, as depths tell
}

// own returns by how much the packet of k makes the queue longer, in the unit of the queue, as far as that is exact: a
// device that counts cells also counts what it adds to a packet.
func (q *queue) own(k *queued) uint64 {
	switch q.unit {
	case codepoint.UnitBytes:
		return uint64(k.bytes)
	case codepoint.UnitPackets:
		return 1
	}
	return 0
}

// seesAll reports whether a burst at which k comes can be followed packet by packet.
func (q *queue) seesAll(k *queued) bool {
	return q.byDepth && k.every == 1 && k.has&(SampleOut|SampleDropped) != 0 && k.has&SampleDepthAtOut == 0 &&
		(q.unit == codepoint.UnitBytes || q.unit == codepoint.UnitPackets)
}

// measure returns how long the queue was before and after the packet of k came, in the unit of the queue or ns; false
// if k does not say.
func (q *queue) measure(k *queued) (before, after uint64, ok bool) {
	if !q.byDepth {
		if k.has&SampleOut == 0 {
			return 0, 0, false
		}
		wait := uint64(k.wait - min(k.wait, q.at.base()))
		return wait, wait, true
	}
	before = uint64(k.depth)
	after = before
	if k.has&(SampleDropped|SampleDepthAtOut) == 0 {
		after += q.own(k)
	}
	return before, after, k.has&SampleDepth != 0
}

// settle looks at all samples of packets that came up to a moment. A sample of before may not come later.
func (b *Search) settle(q *queue, boundNs uint64) {
	q.sort()
	w := &q.walk
	for w.next < len(q.samples) && q.samples[w.next].in <= boundNs {
		b.look(q, &q.samples[w.next])
		w.next++
	}
	if w.next > 0 {
		q.settled = max(q.settled, q.samples[w.next-1].in)
	}
	q.seenTo = max(q.seenTo, q.settled, boundNs)
	if !w.on {
		return
	}
	if endNs, over := w.overBefore(q, boundNs, unknown); over {
		b.close(q, endNs, boundNs, false)
	}
}

// look looks at the next sample.
func (b *Search) look(q *queue, k *queued) {
	w := &q.walk
	if w.next > 0 && k.in == q.samples[w.next-1].in && k.is(&q.samples[w.next-1]) {
		k.has |= sampleTwice
		b.counters.Duplicates++
		return
	}
	if k.has&SampleOut != 0 && !k.tellsDepthBefore() {
		q.at.note(k.in, k.wait, !w.on)
	}
	before, after, ok := q.measure(k)
	if !ok {
		return
	}
	if k.tellsDepthBefore() && k.packetIn() && k.has&SampleOut != 0 {
		q.lulls.note(k)
	}
	above, below, least := b.config.depths(q.unit)
	if !q.byDepth {
		above, below, least = b.config.AboveNs, b.config.BelowNs, b.config.MinAboveNs
	}
	auto := above == 0
	if !auto {
		least = above
	} else if k.has&SampleDropped != 0 {
		q.usual.room = after
	}
	if w.on {
		if endNs, over := w.overBefore(q, k.in, before); over {
			b.close(q, endNs, k.in, false)
		} else if auto && w.stands(k.in) && before <= uint64(q.usual.median) {
			b.close(q, k.in, k.in, true)
		}
	}
	switch {
	case w.on:
		w.goOn(q, k, before, after)
	case after > least:
		if above, below = q.usual.thresholds(above, below, least); after > above {
			w.begin(q, k, before, after, above, below)
		}
	}
	if auto {
		q.usual.level(after, k.in, least, !w.on || w.stands(k.in))
	}
	w.lastNs, w.lastLevel = k.in, after
}

// stands reports whether a burst that goes on is so long that its length is the usual one of the queue by now.
func (w *walk) stands(ns uint64) bool { return ns-w.startNs > usualNs }

// begin begins a burst with the packet of k.
func (w *walk) begin(q *queue, k *queued, before, after, above, below uint64) {
	last, base := w.lastNs, uint64(q.at.base())
	*w = walk{
		next: w.next, on: true, start: w.next, above: above, below: below, startNs: k.in, mostNs: unknown,
		lulls: q.lulls.n,
	}
	all := q.seesAll(k)
	w.first = w.next
	behind := uint64(0)
	for i := w.next - 1; i >= 0 && (!all || behind < before); i-- {
		p := &q.samples[i]
		if p.has&SampleOut != 0 && p.out() < k.in+base {
			break
		}
		if p.packetIn() {
			w.first = i
			behind += q.own(p)
		}
	}
	w.head = w.first
	if all {
		w.missing = before - min(before, behind)
	}
	w.dense = all && 2*behind >= before // what is in the queue was seen to come
	if last > 0 {
		w.quietNs = k.in - last
	}
	if !w.dense || q.clock.gap.within(last, k.in) > 0 {
		w.slackNs = w.quietNs
	}
	w.highest, w.peak = after, w.next
	w.add(q, k, before, after)
}

// goOn adds the packet of k to a burst.
func (w *walk) goOn(q *queue, k *queued, before, after uint64) {
	if dense := q.seesAll(k); dense && w.dense {
		w.missing += before - min(before, w.occupied)
	} else {
		w.dense = dense
	}
	if after > w.highest {
		w.highest, w.peak = after, w.next
	}
	w.add(q, k, before, after)
}

func (w *walk) add(q *queue, k *queued, before, after uint64) {
	w.occupied, w.crossed, w.endSlackNs = after, false, 0
	w.samples++
	if k.has&(SampleOut|SampleDepthAtOut) == SampleOut && q.byDepth {
		if before > 0 {
			w.gapNs, w.longest = max(w.gapNs, q.lulls.gapNs), max(w.longest, q.lulls.previous)
		}
		w.depths += before
		w.waits += uint64(k.wait - min(k.wait, q.at.base()))
	}
	if k.has&SampleDropped == 0 {
		w.packets++
		w.stoodFor += q.own(k) * uint64(k.every)
	}
}

// sameNs is by how much stamps may differ that are of the same moment: they are rounded, and clocks drift.
const sameNs = 2

// unknown is the length of a queue of which nothing is known: in any case not short.
const unknown = 1<<64 - 1

// silence is how many times as long as usual nothing is seen of a queue that is taken for short. Of a long queue,
// samples that are chosen at random stay away for so long once in 3000 times.
const silence = 8

// leastSlackNs is the slack of an end that counts in any case; less counts if it is a thousandth of the burst.
const leastSlackNs = 10_000

// overBefore reports whether and when the burst was over before a moment at which the queue had a length, or of which
// nothing is known (unknown). Without a packet that found the queue short, it was short if it should have been, and
// nothing was seen for much longer than the time between two samples.
func (w *walk) overBefore(q *queue, limitNs, length uint64) (endNs uint64, over bool) {
	if w.dense {
		w.leave(q, limitNs, length)
	}
	known := w.crossed
	if !w.dense {
		endNs, known = w.drained(q)
	} else if known {
		endNs, w.endSlackNs = w.left(q, limitNs)
	}
	if length <= w.below {
		if !known {
			endNs = w.lastNs
			if w.dense {
				endNs = limitNs
			}
		}
		return min(endNs, limitNs), true
	}
	if w.dense && !known {
		return 0, false
	}
	latestNs := endNs + w.endSlackNs
	if latestNs >= limitNs {
		return endNs, false
	}
	silentNs := limitNs - latestNs
	silentNs -= min(q.clock.gap.within(latestNs, limitNs), maxSilentGapNs)
	return endNs, silentNs/silence > w.between(latestNs)
}

// between returns the time from one sample to the next as long as the queue is not empty, ns: what the link needs for
// the bytes that a sample stands for.
func (w *walk) between(endNs uint64) uint64 {
	switch {
	case w.depths > 0 && w.stoodFor > 0:
		return uint64(float64(w.stoodFor) / float64(w.packets) * float64(w.waits) / float64(w.depths))
	case w.samples > 1:
		return (w.lastNs - w.startNs) / (w.samples - 1)
	}
	return max(endNs-w.lastNs, w.quietNs) // as long as before it, at least
}

// leave takes the packets out of the queue that leave it before a moment, at which it has a length, and notes when it
// was below the threshold.
func (w *walk) leave(q *queue, limitNs, length uint64) {
	w.behindNs = max(w.behindNs, uint64(q.at.base()))
	for ; w.head < w.next; w.head++ {
		p := &q.samples[w.head]
		if !p.packetIn() || p.has&SampleOut == 0 {
			continue
		}
		leftNs := max(p.out()-min(w.behindNs, p.out()), p.in)
		if leftNs+sameNs >= limitNs { // then, or later
			unseen := w.missing > 0 // it may be these that have left
			if p.in >= limitNs || w.occupied-min(w.occupied, q.own(p)/2) <= length ||
				unseen && leftNs > limitNs+w.behindNs {
				if !unseen && p.in < limitNs && length != unknown { // it is still there
					w.mostNs = min(w.mostNs, p.out()-min(limitNs, p.out()))
				}
				return
			}
			if !unseen { // the length says that this one has
				w.behindNs = max(w.behindNs, p.out()-min(limitNs, p.out()))
				if w.behindNs > w.mostNs { // it has changed
					w.mostNs = unknown
				}
			}
		}
		w.occupied -= min(w.occupied, q.own(p))
		if !w.crossed && w.occupied <= w.below {
			w.crossed = true
			w.crossing = crossing{out: p.out(), leastNs: w.behindNs, mostNs: w.mostNs}
		}
	}
	w.dense = w.crossed // else what is still in there was not seen to come
}

// left returns when the packet left whose leaving made the queue short, and how much later that may have been. The
// queue was long when the last packet came, and is short at a moment.
func (w *walk) left(q *queue, limitNs uint64) (ns, slackNs uint64) {
	behind, out := q.behind(w), w.crossing.out
	between := func(ns uint64) uint64 { return min(max(ns, w.lastNs), limitNs) }
	ns = between(out - min(behind.most, out))
	slackNs = between(out-min(behind.least, out)) - ns
	if slackNs < min((ns-w.startNs)/1000, leastSlackNs) {
		slackNs = 0
	}
	return ns, slackNs
}

// drained returns when the queue was below the threshold if nothing came after the last sample.
func (w *walk) drained(q *queue) (endNs uint64, known bool) {
	over := w.lastLevel - min(w.lastLevel, w.below)
	switch {
	case !q.byDepth:
		return max(w.lastNs, w.lastNs+over), true
	case w.depths > 0:
		return max(w.lastNs, w.lastNs+uint64(float64(over)*float64(w.waits)/float64(w.depths))), true
	}
	return w.lastNs, false
}
