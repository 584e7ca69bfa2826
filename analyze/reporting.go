package analyze

import (
	"maps"

	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// samples are what nodes tell of, as configured or else as their reports show.
type samples struct {
	nodes      map[uint32]reporting.Sample
	configured map[uint32]telemetry.SampleRate
	inner      topology.Inner // no way begins or ends there
	units      map[uint32]telemetry.QueueUnit
	names      map[uint32]string
}

// samples returns what nodes tell of.
func (c *Collector) samples() samples {
	list := c.nodeSamples()
	list.inner, list.units = topology.Inner{}, map[uint32]telemetry.QueueUnit{}
	for _, s := range c.Owners {
		s.addPorts(list.inner, list.units)
	}
	maps.Copy(list.units, c.Configured().QueueUnits)
	return list
}

// addPorts adds ports at which no way begins or ends, and what nodes count their queues in.
func (s *Shard) addPorts(inner topology.Inner, units map[uint32]telemetry.QueueUnit) {
	s.mu.Lock()
	defer s.mu.Unlock()
	maps.Copy(inner, s.inner)
	for i := range s.queues.Queues {
		if q := &s.queues.Queues[i]; q.Unit != codepoint.UnitUnknown {
			units[q.Node] = q.Unit
		}
	}
}

// nodeSamples is samples without ports and units.
func (c *Collector) nodeSamples() samples {
	merged := reporting.Stats{}
	list := samples{
		nodes: map[uint32]reporting.Sample{}, configured: c.Configured().Sampling, names: c.Configured().Names,
	}
	for _, s := range c.Owners {
		s.addReporting(merged)
	}
	for node, stat := range merged {
		list.nodes[node] = stat.Sample()
	}
	return list
}

// addReporting adds what reports of nodes show.
func (s *Shard) addReporting(to reporting.Stats) {
	s.mu.Lock()
	defer s.mu.Unlock()
	to.Add(s.reporting.Nodes)
}

// SampleRates returns at which rates nodes choose packets, as configured or else as their reports show.
func (c *Collector) SampleRates() func(node uint32) telemetry.SampleRate {
	told := c.nodeSamples()
	return func(node uint32) telemetry.SampleRate {
		sample := told.of(node)
		return sample.Rate
	}
}

// unitOf returns what a node counts its queues in.
func (l *samples) unitOf(node uint32) telemetry.QueueUnit { return l.units[node] }

// of returns what a node tells of.
func (l *samples) of(node uint32) reporting.Sample {
	a, ok := l.nodes[node]
	if !ok {
		a.Complete = -1
	}
	if rate, ok := l.configured[node]; ok {
		a.Rate = rate
	}
	return a
}

// ofHop returns of which packets hop i of a path tells. A sink tells of all hops of its stacks, of those packets that
// the source chose.
func (l *samples) ofHop(p *path, i int) reporting.Sample {
	at := &p.hops[i]
	if !p.postcards {
		at = &p.hops[len(p.hops)-1]
	}
	a := reporting.Sample{Complete: -1}
	if at.Has&telemetry.HasNode != 0 {
		a = l.of(at.Node)
	}
	if source := &p.hops[0]; source.Has&telemetry.HasNode != 0 {
		if rate := l.configured[source.Node]; rate > telemetry.SampleEvery {
			a.Rate = a.Rate.Worse(rate)
		} else if a.Rate == telemetry.SampleUnknown && !p.postcards {
			a.Rate = rate
		}
	}
	return a
}

// ofPath returns of which packets the figures of a whole path tell.
func (l *samples) ofPath(p *path) reporting.Sample {
	var sum telemetry.SampleSum
	a := l.ofNodes(p)
	a.AddTo(&sum, p.packets)
	a.Complete = sum.Complete(p.packets, int64(p.incomplete))
	return a
}

// ofNodes returns of which packets the nodes of a path tell, but for those of which some postcards are missing.
func (l *samples) ofNodes(p *path) reporting.Sample {
	a := l.ofHop(p, len(p.hops)-1)
	for i := range p.hops {
		if p.hops[i].Missing == 0 && p.postcards {
			a = a.Worse(l.ofHop(p, i))
		}
	}
	return a
}

// missingAt is how many packets of a path hop i did not tell of although others did.
func (p *path) missingAt(i int) int64 { return int64(p.incomplete) - int64(p.hops[i].parts) }

// hopAnswer returns of which packets the figures of hop i of a path tell.
func (l *samples) hopAnswer(p *path, i int) *telemetry.Sample {
	var sum telemetry.SampleSum
	n := p.packets + p.hops[i].parts
	l.ofHop(p, i).AddTo(&sum, n)
	if p.hops[i].Missing > 0 {
		return sum.Sample(n, 0)
	}
	return sum.Sample(n, p.missingAt(i))
}

// unknown returns the parts of a path of which nobody told.
func (l *samples) unknown(p *path) (parts []string) {
	last := len(p.hops) - 1
	if l.inner.Begins(&p.hops[0].HopKey) {
		parts = append(parts, "beginning")
	}
	for i := 1; i < last; i++ {
		if p.hops[i].Has&telemetry.HasNode == 0 {
			parts = append(parts, "middle")
			break
		}
	}
	if l.inner.Ends(&p.hops[last].HopKey) {
		parts = append(parts, "end")
	}
	return parts
}
