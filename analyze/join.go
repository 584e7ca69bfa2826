package analyze

import (
	"github.com/waybill-int/waybill/analyze/join"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// postcard keeps the hop that r tells of. A node that speaks twice with the same TTL speaks of two packets that look
// the same: if it is the first of their nodes, the next one begins, and what else comes of the one before is late. With
// another TTL the packet came to it again: a loop.
func (s *Shard) postcard(f *flow, r *telemetry.Report, flowTag uint32, nowNs int64) {
	j := &s.join
	hop := r.Local
	hop.TTL = r.TTL
	hop.Has |= telemetry.HasTTL
	hash := join.Hash(r.PacketID, flowTag)
	p, spoken, first, alike := j.FindPostcards(r, hash, &hop)
	if !alike && j.IsLate(hash, &hop) {
		s.late(f, &hop, nowNs)
		return
	}
	if p != nil {
		if r.Is(telemetry.Dropped) {
			s.attackTaken(f, p)
		}
		switch {
		case spoken && s.toldTwice(p, r, &hop, nowNs):
			return
		case spoken && first:
			s.finish(p, nowNs, false)
			p = nil
		case spoken:
			s.late(f, &hop, nowNs)
			return
		}
	}
	if p == nil {
		p = s.wait(r, hash, join.Postcards, nowNs)
		p.Alike = alike
		if !p.Probe && !r.Is(telemetry.Dropped) {
			s.attackPostcard(f, p, &hop)
		}
	}
	p.Several = p.Several || p.Exporter != s.dispositions.Exporter(r)
	p.AddPostcard(&hop)
}

// toldTwice reports whether a node has told of p already. If it tells another story now neither counts.
func (s *Shard) toldTwice(p *join.Packet, r *telemetry.Report, hop *telemetry.Hop, nowNs int64) bool {
	told, against := s.findings.ToldTwice(p.Hops(), r, hop, nowNs)
	if against >= 0 {
		p.Remove(against)
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

// intermediate keeps the older hops of a packet, and the node that took them out of it, until the sink's report comes.
func (s *Shard) intermediate(r *telemetry.Report, flowTag uint32, nowNs int64) {
	hash := join.Hash(r.PacketID, flowTag)
	p := s.join.Find(r, hash, join.Stack)
	if p == nil {
		p = s.wait(r, hash, join.Stack, nowNs)
	}
	var local *telemetry.Hop
	if r.AddsLocal() {
		local = &r.Local
	}
	p.AddStack(r.Hops, local)
}

// olderHops returns the hops that an intermediate report of the same packet told of, and forgets them.
func (s *Shard) olderHops(r *telemetry.Report, flowTag uint32) []telemetry.Hop {
	p := s.join.Find(r, join.Hash(r.PacketID, flowTag), join.Stack)
	if p == nil {
		return nil
	}
	s.join.Free(p)
	return p.Hops()
}

func (s *Shard) wait(r *telemetry.Report, hash uint64, kind join.Kind, nowNs int64) *join.Packet {
	s.makeRoom(nowNs)
	return s.join.Use(r, hash, kind, s.dispositions.Exporter(r))
}

// makeRoom lets the packet that has waited longest give way if no other one can wait.
func (s *Shard) makeRoom(nowNs int64) {
	if s.join.Full() {
		s.join.Early++
		s.crowdedNs = nowNs
		s.finish(s.join.Oldest(), nowNs, false)
	}
}

// finish makes a path of the reports of a packet and frees its place. waited says that its window is over: no more is
// to come.
func (s *Shard) finish(p *join.Packet, nowNs int64, waited bool) {
	s.join.Settle(p)
	tag := s.flows.tagOf(&p.Key)
	if place, _, ok := s.flows.find(&p.Key, tag); ok {
		s.joined(s.flows.at(place), p, nowNs, waited)
		return
	}
	// The flow gave way to others meanwhile, or never came in.
	s.joined(s.outsider(&p.Key, tag, nowNs), p, nowNs, waited)
	s.forgetOutsider()
}

// joined adds the path of a packet to its flow.
func (s *Shard) joined(f *flow, p *join.Packet, nowNs int64, waited bool) {
	hops := p.Hops()
	s.waitedNs = s.join.NowNs - p.FirstNs
	defer func() { s.waitedNs = 0 }()
	switch p.Kind {
	case join.Stack:
		s.observePath(f, hops, p.Bytes, nowNs, false)
		return
	case join.FollowUps:
		s.joinedStack(f, p, nowNs)
		return
	}
	uncertain := join.OrderByTTL(hops)
	dropped := len(hops) > 0 && hops[len(hops)-1].Has&telemetry.HasDrop != 0
	if f.hasStacks(nowNs) && !dropped { // it began to have stacks while this one waited
		s.attackTaken(f, p)
		s.beside(f, hops, nowNs)
		return
	}
	s.countPacket(f, p.Probe, dropped, p.Bytes)
	known := hops[:0] // a report may not say whose it is
	for i := range hops {
		if hops[i].Has&telemetry.HasNode != 0 {
			known = append(known, hops[i])
		}
	}
	s.probe, s.copied, s.alike = p.Probe, p.Copied, p.Alike
	switch hops = known; {
	case len(hops) == 0:
	case !s.partOfPath(f, hops, nowNs):
		s.observePath(f, hops, p.Bytes, nowNs, uncertain)
		f.vanished = false
	// behind a stack nodes tell of what they like, and what goes round longer than postcards wait comes to no end
	case f.stacked || s.pathOf(&f.paths[0]).loops():
	case !waited:
		s.pathOf(&f.paths[0]).hops[s.places[len(hops)-1]].part.Open++
	default:
		s.seenInPart(f, int(s.places[0]), int(s.places[len(hops)-1]), s.cameNs(nowNs))
	}
	s.probe, s.copied, s.alike = false, false, false
	if !dropped && !p.Probe {
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
	p.last, fp.last = max(p.last, s.cameNs(nowNs)), nowNs
	p.touched = true
	return true
}

// sweep finishes the packets whose window is over.
func (s *Shard) sweep(nowNs int64) {
	s.gaps.Settle(s.join.WholeNs, s.settleGap)
	for p := s.join.Over(); p != nil; p = s.join.Over() {
		s.finish(p, nowNs, true)
	}
}

// Finish finishes the packets that wait for further postcards with those that came: call it when no more are to come,
// before the tables are looked at for the last time. While the shard is held they wait for the process that follows.
func (s *Shard) Finish(nowNs int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.held > 0 {
		return
	}
	s.join.End()
	s.sweep(nowNs)
}
