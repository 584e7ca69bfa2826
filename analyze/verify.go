package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/finding"
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
	if f.verdict >= finding.FirstBad && f.epoch != s.findings.Epoch {
		f.verdict = finding.NotJudged
	}
	if !f.stacked { // what postcards tell is known of packets whose postcards have come
		nowNs = f.paths[0].last
	}
	startNs, began := nowNs, false
	if f.verdict == finding.NotJudged {
		p := s.ripe(f, r, nowNs)
		if p == nil {
			return
		}
		route := s.route[:0] // nobody uses it now
		for i := range p.hops {
			route = append(route, p.hops[i].HopKey)
		}
		f.verdict, f.epoch = s.findings.Judge(s.policy, &f.key, f.dscp, route, r), s.findings.Epoch
		began = true
		if !f.stacked {
			startNs = f.paths[0].first
		}
	}
	if f.verdict < finding.FirstBad {
		return
	}
	path := uint64(0)
	if p := s.pathOf(&f.paths[0]); p != nil {
		path = p.hash
	}
	s.findings.Continue(f.verdict, &f.key, path, r, began, startNs, nowNs)
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
		f.verdict = finding.NothingBad
		return nil
	case !f.stacked && nowNs-fp.first < settledNs:
		return nil
	case !s.findings.Allow():
		return nil
	}
	return p
}

// hasGap reports whether nodes of the path sent nothing.
func (p *path) hasGap() bool {
	return slices.ContainsFunc(p.hops, func(h pathHop) bool { return h.Missing > 0 })
}
