package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A flow is judged when it takes a path, not for each packet: what is wrong then is so for all packets on it. A report
// costs one comparison unless there is something to judge or to count.

// settledNs is how long a flow must have taken a path that postcards tell of until it is judged. A lost postcard makes
// a path that lacks a node; the next packet of the flow mends it.
const settledNs = int64(1e9)

// verify judges the path of a flow if it was not yet, and counts that what is wrong with it goes on. r is a report of
// it.
func (s *Shard) verify(f *flow, r *telemetry.Report, nowNs int64) {
	if f.verdict >= firstBad && f.epoch != s.findings.epoch {
		f.verdict = notJudged
	}
	startNs, began := nowNs, false
	if f.verdict == notJudged {
		p := s.ripe(f, r, nowNs)
		if p == nil {
			return
		}
		f.verdict, f.epoch = s.judge(f, p, r), s.findings.epoch
		began = true
		if !f.stacked {
			startNs = f.paths[0].first
		}
	}
	if f.verdict < firstBad {
		return
	}
	set := s.findings.verdicts[f.verdict-firstBad]
	for _, place := range set {
		if place == 0 {
			break
		}
		found, again := s.findings.see(place, startNs)
		found.last = max(found.last, nowNs)
		if began || again {
			found.count++
		}
		if found.datagram == nil {
			found.flow, found.hasFlow = f.key, true
			if p := s.pathOf(&f.paths[0]); p != nil {
				found.path = p.hash
			}
			found.show(r)
		}
	}
}

// ripe returns the path of f if it can be judged now, by r, and nil if not.
func (s *Shard) ripe(f *flow, r *telemetry.Report, nowNs int64) *path {
	fp := &f.paths[0]
	if !fp.used {
		return nil
	}
	p := s.pathOf(fp)
	switch {
	case p == nil:
		return nil
	case s.policy != nil && (s.inner.Begins(&p.hops[0].HopKey) ||
		s.inner.Ends(&p.hops[len(p.hops)-1].HopKey)):
		return nil // a part of a way breaks no rule
	case f.stacked &&
		(!r.Is(telemetry.Embedded) ||
			r.Is(telemetry.HopLimit|telemetry.MTUExceeded|telemetry.StackCut|telemetry.Intermediate)):
		return nil // a stack that is not whole says nothing about the nodes that it lacks
	case s.policy == nil && !p.hasGap():
		f.verdict = nothingBad
		return nil
	case !f.stacked && nowNs-fp.first < settledNs:
		return nil
	case s.findings.budget == 0:
		s.findings.postponed++
		return nil
	}
	s.findings.budget--
	return p
}

// hasGap reports whether nodes of the path sent nothing.
func (p *path) hasGap() bool {
	return slices.ContainsFunc(p.hops, func(h pathHop) bool { return h.Missing > 0 })
}

// judge returns the verdict on a path of f, which r shows.
func (s *Shard) judge(f *flow, p *path, r *telemetry.Report) uint16 {
	hops := s.merged[:0] // nobody uses it now
	set := s.set[:0]
	full := false
	add := func(key *findingKey, hidden int) {
		if len(set) == maxFindingsOfPath {
			return
		}
		place := s.findings.place(key)
		full = full || place == 0
		if place == 0 || slices.Contains(set, place) {
			return
		}
		s.findings.list[place-1].hidden = max(hidden, s.findings.list[place-1].hidden)
		set = append(set, place)
	}
	gap := false
	for i := range p.hops {
		h := &p.hops[i]
		for range h.Missing {
			if len(hops) < cap(hops) {
				hops = append(hops, telemetry.Hop{})
			}
		}
		if h.Missing > 0 {
			gap = true
			if i > 0 && i+1 < len(p.hops) {
				add(between(telemetry.EventHopWithoutINT, &p.hops[i-1].HopKey, &p.hops[i+1].HopKey), int(h.Missing))
			}
			continue
		}
		if len(hops) < cap(hops) {
			hops = append(hops, telemetry.Hop{Has: h.Has, NodeID: h.Node, IngressPort: h.In, EgressPort: h.Out})
		}
	}
	if s.policy != nil && len(hops) > 0 {
		s.compare(f, p, r, hops, gap, add)
	}
	if full {
		return notJudged // there may be a place after the next scan
	}
	return s.findings.verdictFor(set)
}

// compare adds what the policy says of the path of f along hops.
func (s *Shard) compare(f *flow, p *path, r *telemetry.Report, hops []telemetry.Hop, gap bool,
	add func(*findingKey, int),
) {
	ended := hops[len(hops)-1].Has&telemetry.HasDrop == 0
	// The sink has taken one from the TTL. A report that does not name it may lack it, too.
	if hidden := s.policy.HiddenNodes(r.TTL, len(hops)); hidden > 0 && !gap && ended && r.Is(telemetry.Embedded) &&
		r.HasNodeID {
		add(between(telemetry.EventHopWithoutINT, &p.hops[0].HopKey, &p.hops[len(p.hops)-1].HopKey), hidden)
	}
	s.breaches = s.policy.Judge(&f.key, f.dscp, hops, ended, s.breaches[:0])
	for i := range s.breaches {
		b := &s.breaches[i]
		key := findingKey{kind: b.Kind, why: b.Why, rule: b.Rule, has: telemetry.HasNode, node: b.Node}
		if b.NoNode {
			key.has, key.node = 0, 0
		}
		if b.HasPort {
			key.has |= telemetry.HasEgressPort
			key.port = b.Port
		}
		add(&key, 0)
	}
}

// between returns the key of a finding that is somewhere between two stations.
func between(kind telemetry.EventKind, from, to *topology.HopKey) *findingKey {
	return &findingKey{
		kind: kind, rule: telemetry.NoRule, node: from.Node, port: from.Out, toNode: to.Node, toPort: to.In,
		has:   from.Has & (telemetry.HasNode | telemetry.HasEgressPort),
		toHas: to.Has & (telemetry.HasNode | telemetry.HasIngressPort),
	}
}

// exceeded counts a report of a packet to which a node could not add its metadata: because of the hop limit, or of the
// MTU. The place is behind the last node that could, on the way to the one that reports.
func (s *Shard) exceeded(r *telemetry.Report, nowNs int64) {
	var last topology.HopKey
	if len(r.Hops) > 0 {
		last = topology.HopKeyOf(&r.Hops[len(r.Hops)-1])
	}
	var sink topology.HopKey
	if r.HasNodeID {
		sink = topology.HopKey{Node: r.NodeID, Has: telemetry.HasNode}
	}
	for _, kind := range [...]struct {
		flag telemetry.Flags
		kind telemetry.EventKind
	}{{telemetry.HopLimit, telemetry.EventHopLimit}, {telemetry.MTUExceeded, telemetry.EventMTUExceeded}} {
		if !r.Is(kind.flag) {
			continue
		}
		found := s.findings.ofReport(between(kind.kind, &last, &sink), nowNs)
		if found != nil && found.datagram == nil {
			found.flow, found.hasFlow = r.Flow, r.Is(telemetry.HasFlow)
			found.show(r)
		}
	}
}
