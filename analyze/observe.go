package analyze

import (
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/loss"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// NewScanner returns a Scanner that looks at c and writes to log. c may not get more shards afterwards.
func NewScanner(c *Collector, log *eventlog.Log) *scan.Scanner {
	if c.Timing == nil {
		c.Timing = timing.New()
	}
	if c.Losses == nil {
		c.Losses = &loss.Estimates{}
	}
	source := scan.Source{Exporters: c.Exporters, Timing: c.Timing, Losses: c.Losses, Known: c}
	for _, s := range c.Owners {
		source.Owners = append(source.Owners, s)
	}
	return scan.New(source, log)
}

// Observe implements scan.Owner.
func (s *Shard) Observe(nowNs int64, hops int) *scan.Observation {
	s.mu.Lock()
	defer s.mu.Unlock()
	o := &scan.Observation{
		Drops: s.drops.Take(), Changes: s.changes.take(nowNs), Checksums: s.checksums.Take(),
		WaitedNs: s.join.WindowNs, Crowded: s.crowdedNs > s.scanNs,
	}
	s.scanNs, s.hits = nowNs, 0
	for i := range s.paths.paths {
		if p := &s.paths.paths[i]; p.used {
			s.observeCarried(o, p, hops)
		}
	}
	s.findings.Take(nowNs, func(f *finding.Finding) { o.Findings = append(o.Findings, s.findingOf(f)) })
	o.NewFlows, o.LeftOut = s.newFlows.Take()
	o.LeftOut += s.holes.Displaced
	s.holes.Displaced = 0
	return o
}

// observeCarried notes what p carried since the last scan, and which flows left it.
func (s *Shard) observeCarried(o *scan.Observation, p *path, hops int) {
	if left := p.sinceScan.left; left > 0 {
		if !p.uncertain {
			to := &s.paths.paths[p.sinceScan.to]
			o.Left = append(o.Left, scan.Left{Links: p.links(), To: to.links(), Flows: left})
		}
		p.sinceScan.left = 0
	}
	packets := p.packets + p.incomplete
	n := packets - p.scanned
	p.scanned = packets
	p.skip = timing.Skip(n, hops)
	if n > 0 {
		o.Paths = append(o.Paths, p.observe(n))
	}
}

// observe returns what is known of the n packets since the last scan, and counts anew.
func (p *path) observe(n uint64) scan.Path {
	w := &p.sinceScan
	o := scan.Path{
		Hash: p.hash, N: n, Incomplete: p.incomplete - p.incompleteSeen, FirstNs: p.first, LastNs: p.last,
		Uncertain: p.uncertain, Postcards: p.postcards,
		Flows: w.flows, Through: w.through, Streams: w.streams, Numbers: w.numbers, Hit: w.hit,
		Hops: make([]scan.Hop, len(p.hops)),
	}
	p.incompleteSeen = p.incomplete
	if p.incomplete > 0 {
		o.Part = make([]loss.Part, len(p.hops))
	}
	for i := range p.hops {
		h := &p.hops[i]
		o.Hops[i] = scan.Hop{HopKey: h.HopKey, Parts: h.parts - h.partsSeen, Full: h.full}
		if o.Part != nil {
			o.Part[i] = h.part
		}
		h.part, h.partsSeen = loss.Part{}, h.parts
		if w.streams.Lost > 0 || w.numbers.Lost > 0 {
			h.full = 0
		}
	}
	*w = pathWindow{}
	return o
}

// links returns the links of p, as far as both ends are known.
func (p *path) links() (list []topology.LinkKey) {
	for h := 1; h < len(p.hops); h++ {
		if k, ok := topology.LinkOf(&p.hops[h-1].HopKey, &p.hops[h].HopKey); ok {
			list = append(list, k)
		}
	}
	return list
}

// findingOf returns f with what else an event tells of it.
func (s *Shard) findingOf(f *finding.Finding) scan.Finding {
	found := scan.Finding{Finding: *f}
	if s.policy != nil {
		found.RuleName = s.policy.RuleName(f.Rule)
	}
	if place, ok := s.paths.byHash[f.Path]; ok {
		hops := s.paths.paths[place].hops
		for i := range hops {
			found.Route = append(found.Route, hops[i].HopKey)
		}
	}
	return found
}

// TakeTransits implements scan.Owner.
func (s *Shard) TakeTransits(empty timing.Packets) timing.Packets {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.transits.Exchange(empty)
}

// NameFlows implements scan.Owner.
func (s *Shard) NameFlows(flows []burst.FlowRef, keys []telemetry.FlowKey, known []bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, ref := range flows {
		if !known[i] {
			keys[i], known[i] = s.flowOf(ref)
		}
	}
}

// SampleAt implements scan.Owner.
func (s *Shard) SampleAt(rates map[uint32]telemetry.SampleRate) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.attacks.sampling = rates
}

// EndedOn implements scan.Owner.
func (s *Shard) EndedOn(paths map[uint64]bool, sinceNs int64) (e scan.Ended) {
	ends := s.endsOf(paths)
	if len(ends) == 0 {
		return e
	}
	e.To = map[telemetry.Addr]bool{}
	s.eachFlow(func(f *flow) bool {
		fp := &f.paths[0]
		if generation, ok := ends[fp.path]; !fp.used || !ok || generation != fp.generation || fp.last < sinceNs {
			return true
		}
		if p := s.pathOf(fp); p != nil && (e.Flows == 0 || p.hash < e.Path) {
			e.Path = p.hash
		}
		e.Flows++
		e.Arrived = e.Arrived || f.arrived
		if len(e.To) < scan.MaxDestinations {
			e.To[f.key.Dst] = true
		}
		return true
	})
	return e
}

// endsOf returns the places of paths that are here, with their generation.
func (s *Shard) endsOf(paths map[uint64]bool) map[uint32]uint16 {
	s.mu.Lock()
	defer s.mu.Unlock()
	ends := map[uint32]uint16{}
	for hash := range paths {
		if place, ok := s.paths.byHash[hash]; ok {
			ends[place] = s.paths.paths[place].generation
		}
	}
	return ends
}

// Reached implements scan.Owner.
func (s *Shard) Reached(to map[telemetry.Addr]bool) (reached bool) {
	s.eachFlow(func(f *flow) bool {
		reached = f.arrived && to[f.key.Dst]
		return !reached
	})
	return reached
}

// StreamsFrom implements scan.Owner.
func (s *Shard) StreamsFrom(node uint32, sinceNs int64, most int) map[telemetry.FlowKey]uint32 {
	next := map[telemetry.FlowKey]uint32{}
	s.eachFlow(func(f *flow) bool {
		fp := &f.paths[0]
		if f.last < sinceNs || !fp.used || f.key.Protocol != 6 || f.stream.next == 0 {
			return true
		}
		if p := s.pathOf(fp); p != nil && p.hops[0].Has&telemetry.HasNode != 0 && p.hops[0].Node == node &&
			len(next) < most {
			next[f.key] = f.stream.next
		}
		return len(next) < most
	})
	return next
}

// Ceased implements scan.Owner.
func (s *Shard) Ceased(flows []telemetry.FlowKey, node uint32, sinceNs int64) (ceased int, rate float64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for i := range flows {
		place, _, ok := s.flows.find(&flows[i], s.flows.tagOf(&flows[i]))
		if !ok {
			continue
		}
		f := s.flows.at(place)
		p := s.pathOf(&f.paths[0])
		if p != nil && p.hops[len(p.hops)-1].Node == node && f.last <= sinceNs && f.reports > 1 {
			ceased++
			rate += float64(f.reports-1) / float64(max(f.last-f.first, 1))
		}
	}
	return ceased, rate
}

// eachFlow calls f for every flow until it returns false. The shard is locked for 4096 flows at a time.
func (s *Shard) eachFlow(f func(*flow) bool) {
	for from := 0; ; from += chunkSize {
		s.mu.Lock()
		end := min(from+chunkSize, s.flows.count)
		for place := from; place < end; place++ {
			if !f(s.flows.at(place)) {
				s.mu.Unlock()
				return
			}
		}
		done := end == s.flows.count
		s.mu.Unlock()
		if done {
			return
		}
	}
}
