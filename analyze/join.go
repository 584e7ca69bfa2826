package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Postcards (INT-XD, INT-MX) tell of one hop each, and an intermediate report (INT 2.1 §5.3) of the older hops only.
// The join keeps what came of a packet for a short time and puts it together: by flow and packet identity, in the order
// of the TTL in the fragments. Nothing is waited for longer than the window, and the number of packets that wait is
// bounded: one more takes the place of an older one, whose path is then made of what had come. What comes of it later
// is added to its hop, and is no packet of its own.

const (
	// maxPostcards is how many postcards of one packet are kept.
	maxPostcards = 16
)

// A pending packet waits for the reports of other nodes.
type pending struct {
	key          telemetry.FlowKey
	packetID     uint64
	first        int64 // joinTable.nowNs at its first report
	bytes        uint32
	newer, older int32 // packets that came next and before, see joinTable
	chain        int32 // next packet with that bucket, or next free place, counted from 1
	bucket       uint32
	kind         pendingKind
	whole        bool  // a stack: its packet was reported, and not follow-ups alone
	routers      uint8 // on the way of a stack; 0: nobody knows
	probe        bool  // a copy, or a packet that is not delivered
	copied       bool  // a copy
	opening      bool  // it asks for a connection
	counted      bool  // for attacks, as so many packets as weight says
	n            uint8
	several      bool   // told of it
	exporter     uint32 // of who told of it first
	weight       uint32
	hash         uint64
	hops         [maxPostcards]telemetry.Hop
}

// A pendingKind is what a packet waits for.
type pendingKind uint8

const (
	awaitsPostcards pendingKind = iota // of other nodes
	awaitsStack                        // hops are those of an intermediate report, source first: the stack
	awaitsFollowUps                    // follow-up packets
)

type joinTable struct {
	window  int64 // ns
	nowNs   int64 // time without the stalls of the process, see Shard.pass
	wholeNs int64 // what arrived until then has all come here; the same or behind nowNs
	waiting []pending
	buckets []int32 // first packet of each, a place counted from 1
	unused  int32   // first place that is free again, counted from 1
	fresh   int32   // places from here on were never used
	early   uint64  // packets that gave way before their window was over
	late    uint64  // postcards of packets that waited no more
	settled []settledPacket

	// Packets that wait form a list in the order in which they came; its ends are places in waiting, counted from 1,
	// and 0 if none waits.
	oldest, newest int32
}

// A settledPacket is a packet that waits no more. It is remembered for another window, in the place that its hash says.
type settledPacket struct {
	tag   uint32
	atMs  uint32 // joinTable.nowNs
	spoke uint64 // a bit for each node and TTL that told of it
}

func newJoinTable(places int, windowNs int64) joinTable {
	return joinTable{
		window: windowNs, waiting: make([]pending, places), buckets: make([]int32, places),
		settled: make([]settledPacket, 2*places),
	}
}

func (j *joinTable) full() bool { return j.unused == 0 && int(j.fresh) == len(j.waiting) }

func (j *joinTable) bucket(hash uint64) uint32 { return uint32(hash & uint64(len(j.buckets)-1)) }

// find returns the packet that r belongs to and that waits for that, or nil.
func (j *joinTable) find(r *telemetry.Report, hash uint64, kind pendingKind) *pending {
	for i := j.buckets[j.bucket(hash)]; i > 0; i = j.waiting[i-1].chain {
		p := &j.waiting[i-1]
		if p.packetID == r.PacketID && p.kind == kind && p.probe == r.Is(telemetry.Discard) && p.key == r.Flow {
			return p
		}
	}
	return nil
}

// settle remembers who told of a packet that waits no more.
func (j *joinTable) settle(p *pending) {
	at := &j.settled[p.hash&uint64(len(j.settled)-1)]
	*at = settledPacket{tag: uint32(p.hash >> 32), atMs: uint32(j.nowNs / 1e6)}
	for i := range p.hops[:p.n] {
		at.spoke |= spokenBit(&p.hops[i])
	}
}

// isLate reports whether hop is of a packet that waits no more, and of which its node did not tell yet.
func (j *joinTable) isLate(hash uint64, hop *telemetry.Hop) bool {
	at, bit := &j.settled[hash&uint64(len(j.settled)-1)], spokenBit(hop)
	if at.spoke == 0 || at.tag != uint32(hash>>32) || at.spoke&bit != 0 ||
		uint32(j.nowNs/1e6)-at.atMs > uint32(j.window/1e6) {
		return false
	}
	at.spoke |= bit
	j.late++
	return true
}

func spokenBit(hop *telemetry.Hop) uint64 {
	return 1 << ((nodeOf(hop)<<8 + uint32(hop.TTL)) * 0x9e3779b1 >> 26)
}

// nodeOf returns the node of a hop, 0 if it is not known.
func nodeOf(hop *telemetry.Hop) uint32 {
	if hop.Has&telemetry.HasNode == 0 {
		return 0
	}
	return hop.NodeID
}

// use puts a packet with that hash in a free place and at the end of the list. The table must not be full.
func (j *joinTable) use(hash uint64) *pending {
	place := j.unused - 1
	if place < 0 {
		place = j.fresh
		j.fresh++
	} else {
		j.unused = j.waiting[place].chain
	}
	p := &j.waiting[place]
	p.bucket = j.bucket(hash)
	p.chain, j.buckets[p.bucket] = j.buckets[p.bucket], place+1
	p.first = j.nowNs
	p.older, p.newer = j.newest, 0
	if j.newest > 0 {
		j.waiting[j.newest-1].newer = place + 1
	} else {
		j.oldest = place + 1
	}
	j.newest = place + 1
	return p
}

// free takes p out of the list and makes its place free. Its contents stay until the place is used again.
func (j *joinTable) free(p *pending) {
	link := &j.buckets[p.bucket]
	for &j.waiting[*link-1] != p {
		link = &j.waiting[*link-1].chain
	}
	place := *link
	*link = p.chain
	p.chain, j.unused = j.unused, place
	if p.older > 0 {
		j.waiting[p.older-1].newer = p.newer
	} else {
		j.oldest = p.newer
	}
	if p.newer > 0 {
		j.waiting[p.newer-1].older = p.older
	} else {
		j.newest = p.older
	}
}

func joinHash(r *telemetry.Report, flowTag uint32) uint64 {
	return topology.Mix(r.PacketID^uint64(flowTag), 0x9e3779b97f4a7c15)
}

// postcard keeps the hop that r tells of. A node that speaks twice with the same TTL speaks of two packets that look
// the same: if it is the first of their nodes, the next one begins, and what else comes of the one before is late. With
// another TTL the packet came to it again: a loop.
func (s *Shard) postcard(f *flow, r *telemetry.Report, flowTag uint32, nowNs int64) {
	j := &s.join
	hop := r.Local
	hop.TTL = r.TTL
	hop.Has |= telemetry.HasTTL
	hash := joinHash(r, flowTag)
	p := j.find(r, hash, awaitsPostcards)
	if p == nil && j.isLate(hash, &hop) {
		s.late(f, &hop, nowNs)
		return
	}
	if p != nil {
		if r.Is(telemetry.Dropped) {
			s.attackTaken(f, p)
		}
		switch spoken, first := p.spoke(&hop); {
		case spoken && s.toldTwice(p, r, &hop, nowNs):
			j.late++
			return
		case spoken && first:
			s.finish(p, nowNs, false)
			p = nil
		case spoken:
			j.late++
			s.late(f, &hop, nowNs)
			return
		}
	}
	if p == nil {
		p = s.wait(r, hash, awaitsPostcards, nowNs)
		if !p.probe && !r.Is(telemetry.Dropped) {
			s.attackPostcard(f, p, &hop)
		}
	}
	p.several = p.several || p.exporter != s.dispositions.Exporter(r)
	if p.n < maxPostcards {
		p.hops[p.n] = hop
		p.n++
	} else if hop.Has&telemetry.HasDrop != 0 { // the end of a loop
		p.hops[p.n-1] = hop
	}
}

// toldTwice reports whether a node has told of p already. If it tells another story now neither counts.
func (s *Shard) toldTwice(p *pending, r *telemetry.Report, hop *telemetry.Hop, nowNs int64) bool {
	told, against := s.findings.ToldTwice(p.hops[:p.n], r, hop, nowNs)
	if against >= 0 {
		p.n--
		p.hops[against] = p.hops[p.n]
	}
	return told
}

// late adds what a postcard tells of to its hop, if the packet is among those of the path of which some are missing.
func (s *Shard) late(f *flow, hop *telemetry.Hop, nowNs int64) {
	if at := s.atHop(f, hop, f.packets, nowNs); at != nil {
		at.parts++
	} else {
		s.queueReport(f, hop, nowNs)
	}
}

// spoke reports whether a node has told of p with that TTL, and whether no node in front of it has.
func (p *pending) spoke(hop *telemetry.Hop) (spoken, first bool) {
	first = true
	for i := range p.hops[:p.n] {
		o := &p.hops[i]
		spoken = spoken || o.TTL == hop.TTL && nodeOf(o) == nodeOf(hop)
		first = first && o.TTL <= hop.TTL
	}
	return spoken, first
}

// intermediate keeps the older hops of a packet, and the node that took them out of it, until the sink's report comes.
func (s *Shard) intermediate(r *telemetry.Report, flowTag uint32, nowNs int64) {
	hash := joinHash(r, flowTag)
	p := s.join.find(r, hash, awaitsStack)
	if p == nil {
		p = s.wait(r, hash, awaitsStack, nowNs)
	}
	p.n = uint8(len(withoutNewest(p.hops[:p.n], r.Hops)))
	p.n += uint8(copy(p.hops[p.n:], r.Hops))
	if addsLocal(r) && int(p.n) < maxPostcards {
		p.hops[p.n] = r.Local
		p.n++
	}
}

// withoutNewest returns the hops that were taken out of a packet on the way, without the node that did it if the stack
// behind them begins with its record: it goes into its report or into the packet (INT 2.1 §5.3).
func withoutNewest(older, stack []telemetry.Hop) []telemetry.Hop {
	n := len(older)
	if n == 0 || len(stack) == 0 || stack[0].Has&telemetry.HasNode == 0 || older[n-1].NodeID != stack[0].NodeID {
		return older
	}
	return older[:n-1]
}

// olderHops returns the hops that an intermediate report of the same packet told of, and forgets them.
func (s *Shard) olderHops(r *telemetry.Report, flowTag uint32) []telemetry.Hop {
	p := s.join.find(r, joinHash(r, flowTag), awaitsStack)
	if p == nil {
		return nil
	}
	s.join.free(p)
	return p.hops[:p.n]
}

func (s *Shard) wait(r *telemetry.Report, hash uint64, kind pendingKind, nowNs int64) *pending {
	if s.join.full() {
		s.join.early++
		s.finish(&s.join.waiting[s.join.oldest-1], nowNs, false)
	}
	p := s.join.use(hash)
	p.key, p.packetID, p.bytes = r.Flow, r.PacketID, r.Bytes
	p.kind, p.whole, p.counted, p.n, p.hash = kind, false, false, 0, hash
	p.probe, p.copied = r.Is(telemetry.Discard), r.Is(telemetry.Copied)
	p.opening, p.several, p.exporter = r.Is(telemetry.Opening), false, s.dispositions.Exporter(r)
	return p
}

// finish makes a path of the reports of a packet and frees its place. waited says that its window is over: no more is
// to come.
func (s *Shard) finish(p *pending, nowNs int64, waited bool) {
	s.join.free(p)
	s.join.settle(p)
	tag := s.flows.tagOf(&p.key)
	if place, _, ok := s.flows.find(&p.key, tag); ok {
		s.joined(s.flows.at(place), p, nowNs, waited)
		return
	}
	// The flow gave way to others meanwhile, or never came in.
	s.joined(s.outsider(&p.key, tag, nowNs), p, nowNs, waited)
	s.forgetOutsider()
}

// joined adds the path of a packet to its flow.
func (s *Shard) joined(f *flow, p *pending, nowNs int64, waited bool) {
	hops := p.hops[:p.n]
	switch p.kind {
	case awaitsStack:
		s.observePath(f, hops, p.bytes, nowNs, false)
		return
	case awaitsFollowUps:
		s.joinedStack(f, p, nowNs)
		return
	}
	uncertain := orderByTTL(hops)
	dropped := len(hops) > 0 && hops[len(hops)-1].Has&telemetry.HasDrop != 0
	if f.hasStacks(nowNs) && !dropped { // it began to have stacks while this one waited
		s.attackTaken(f, p)
		s.beside(f, hops, nowNs)
		return
	}
	s.countPacket(f, p.probe, dropped, p.bytes)
	known := hops[:0] // a report may not say whose it is
	for i := range hops {
		if hops[i].Has&telemetry.HasNode != 0 {
			known = append(known, hops[i])
		}
	}
	s.probe, s.copied = p.probe, p.copied
	switch hops = known; {
	case len(hops) == 0:
	case !s.partOfPath(f, hops, nowNs):
		s.observePath(f, hops, p.bytes, nowNs, uncertain)
		f.vanished = false
	case waited && !f.stacked: // behind a stack nodes tell of what they like
		s.seenInPart(f, int(s.places[0]), int(s.places[len(hops)-1]), nowNs-(s.join.nowNs-p.first))
	}
	s.probe, s.copied = false, false
	if !dropped && !p.probe {
		s.attackJoined(f, p, nowNs)
	}
}

// partOfPath reports whether hops, fewer than the path has that f takes, fit on it with their ports and in the
// distances that their TTLs say. Then some postcards of the packet were lost or are late, which does not make another
// path: what came is added to the hops that it is of. A packet that takes a shorter way has no gap in its TTLs.
func (s *Shard) partOfPath(f *flow, hops []telemetry.Hop, nowNs int64) bool {
	fp := &f.paths[0]
	if !fp.used || s.apart(f) {
		return false
	}
	p := s.pathOf(fp)
	if p == nil || len(hops) >= len(p.hops) {
		return false
	}
	at := -1 // place of the hop before
	for i := range hops {
		next, away := at+1, 1
		for next < len(p.hops) && p.hops[next].HopKey != topology.HopKeyOf(&hops[i]) {
			away += max(int(p.hops[next].Missing), 1)
			next++
		}
		if next == len(p.hops) ||
			i > 0 && hops[i].Has&telemetry.HasTTL != 0 && away != int(hops[i-1].TTL)-int(hops[i].TTL) {
			return false
		}
		at = next
		s.places[i] = uint8(next)
	}
	block := s.slab.block(fp.block, int(fp.hops))
	for i := range hops {
		s.measure(&p.hops[s.places[i]], &block[s.places[i]], &hops[i])
		p.hops[s.places[i]].parts++
	}
	p.incomplete++
	s.meet(p, fp)
	p.last, fp.last = nowNs, nowNs
	p.touched = true
	return true
}

// orderByTTL sorts postcards, source first: the TTL sinks along the path. A drop ends it, whatever the TTL: a packet
// dropped on ingress is reported with the TTL that it arrived with. It reports whether equal TTLs leave the order open.
func orderByTTL(hops []telemetry.Hop) (uncertain bool) {
	slices.SortStableFunc(hops, func(a, b telemetry.Hop) int {
		if dropA, dropB := a.Has&telemetry.HasDrop, b.Has&telemetry.HasDrop; dropA != dropB {
			if dropA != 0 {
				return 1
			}
			return -1
		}
		return int(b.TTL) - int(a.TTL)
	})
	for i := 1; i < len(hops); i++ {
		if hops[i].TTL == hops[i-1].TTL && hops[i].Has&telemetry.HasDrop == 0 {
			uncertain = true
		}
	}
	return uncertain
}

// sweep finishes the packets whose window is over.
func (s *Shard) sweep(nowNs int64) {
	j := &s.join
	s.gaps.Settle(j.wholeNs, s.settleGap)
	for j.oldest > 0 {
		p := &j.waiting[j.oldest-1]
		if j.wholeNs-p.first < j.window {
			return
		}
		s.finish(p, nowNs, true)
	}
}

// Finish finishes the packets that wait for further postcards with those that came: call it when no more are to come,
// before the tables are looked at for the last time.
func (s *Shard) Finish(nowNs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.join.nowNs += s.join.window
	s.join.wholeNs = s.join.nowNs
	s.sweep(nowNs)
}
