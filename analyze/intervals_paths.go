package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/histogram"
	"github.com/waybill-int/waybill/analyze/reporting"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// pathsAtOnce is how many paths are looked at under the lock of a shard.
const pathsAtOnce = 64

// scanPaths adds up what was counted of paths, and of their hops, queues and links.
func (v *Intervals) scanPaths(nowNs int64) {
	var none path
	told := v.collector.nodeSamples()
	for i, s := range v.collector.Shards {
		p := v.shards[i]
		for from := 0; ; from += pathsAtOnce {
			s.mu.Lock()
			p.told = &told
			p.paths = slices.Grow(p.paths, max(len(s.paths.paths)-len(p.paths), 0))[:len(s.paths.paths)]
			end := min(from+pathsAtOnce, len(s.paths.paths))
			for place := from; place < end; place++ {
				now, given := &s.paths.paths[place], p.paths[place]
				if given == nil {
					given = &none
				}
				if !now.used || now.packets == given.packets && now.incomplete == given.incomplete &&
					now.last == given.last {
					continue
				}
				v.pathSince(&told, now, given, nowNs)
				if given == &none {
					given = &path{}
					p.paths[place] = given
				}
				hops := append(given.hops[:0], now.hops...)
				*given = *now
				given.hops, given.sample = hops, told.ofPath(now)
				now.residence.Turn() // highest and lowest values begin anew with each look
				now.endToEnd.Turn()
				for i := range now.hops {
					now.hops[i].latency.Turn()
					now.hops[i].utilization.High = 0
				}
			}
			done := end == len(s.paths.paths)
			s.mu.Unlock()
			if done {
				break
			}
		}
	}
}

// forgetPath counts what was not given of a path that gives way. The caller holds the lock of the shard.
func (s *Shard) forgetPath(place int, p *path) {
	given := s.intervals.paths
	n := p.packets
	if place < len(given) && given[place] != nil {
		n -= given[place].packets
		given[place] = nil
	}
	s.intervals.ungivenPaths += n
}

// pathSince adds what a path counted after an earlier state of it.
func (v *Intervals) pathSince(told *samples, now, given *path, nowNs int64) {
	p := v.paths[now.hash]
	if p == nil {
		p = &telemetry.PathInterval{Path: now.hash}
		v.paths[now.hash] = p
		v.note(now, nowNs)
	}
	n, incomplete := now.packets-given.packets, now.incomplete-given.incomplete
	p.Packets += n
	p.Incomplete += incomplete
	sample := told.ofNodes(now)
	sample.AddTo(&p.Sample, n)
	p.ClockErrors += now.clockErrors - given.clockErrors
	residence, endToEnd := now.residence.Since(&given.residence), now.endToEnd.Since(&given.endToEnd)
	p.Residence.Merge(&residence)
	p.EndToEnd.Merge(&endToEnd)
	var none pathHop
	var use telemetry.UtilizationSum // of the hop before
	for i := range now.hops {
		h, before := &now.hops[i], &none
		if i < len(given.hops) {
			before = &given.hops[i]
		}
		if i > 0 && !now.uncertain {
			more := carried{packets: n, incomplete: incomplete, use: use}
			sample.AddTo(&more.sample, n)
			v.carry(&now.hops[i-1].HopKey, &h.HopKey, more)
		}
		use = h.utilization.Since(&before.utilization)
		if h.Missing == 0 && h.Has != 0 { // else nobody knows where it is
			v.hopSince(h, before, n, incomplete, told.ofHop(now, i))
		}
	}
}

// hopSince adds what packets met at a hop of a path. All hops told of n of them, some hops of the incomplete ones.
func (v *Intervals) hopSince(now, before *pathHop, n, incomplete uint64, sample reporting.Sample) {
	latency := now.latency.Since(&before.latency)
	parts := now.parts - before.parts
	n += parts
	if n > 0 || incomplete > 0 || latency.Count > 0 {
		key := hopPlace{now.HopKey}
		h := v.hops[key]
		if h == nil {
			h = &telemetry.HopInterval{Place: placeOf(&now.HopKey)}
			v.hops[key] = h
		}
		h.Packets += n
		h.Incomplete += int64(incomplete) - int64(parts)
		sample.AddTo(&h.Sample, n)
		h.Latency.Merge(&latency)
	}
}

// carried is how many packets took a link, and how much its egress port was in use.
type carried struct {
	packets, incomplete uint64
	sample              telemetry.SampleSum
	use                 telemetry.UtilizationSum
}

// carry adds what the link from a to b carried.
func (v *Intervals) carry(a, b *topology.HopKey, more carried) {
	k, ok := topology.LinkOf(a, b)
	if !ok || more.packets+more.incomplete+more.use.Samples == 0 {
		return
	}
	sum, known := v.links[k]
	if !known && len(v.links) >= topology.MaxLinks {
		return
	}
	sum.packets += more.packets
	sum.incomplete += more.incomplete
	sum.sample.Merge(&more.sample)
	sum.use.Merge(&more.use)
	v.links[k] = sum
}

// note gives the route of a path that was not met for a day.
func (v *Intervals) note(p *path, nowNs int64) {
	if given, ok := v.routes[p.hash]; ok && nowNs-given.atNs < routeAgainNs {
		return
	}
	if len(v.routes) >= maxRoutes {
		clear(v.routes) // they are given again when they are met
	}
	r := telemetry.Route{
		StartNs: nowNs, Path: p.hash, Uncertain: p.uncertain,
		Elements: make([]telemetry.PathElement, len(p.hops)),
	}
	for i := range p.hops {
		at := &p.hops[i].HopKey
		r.Elements[i] = telemetry.PathElement{Place: placeOf(at), Missing: at.Missing}
	}
	v.routes[p.hash] = routeEnds(&r)
	v.newRoutes = append(v.newRoutes, r)
}

// maxRoutes bounds the paths whose routes are remembered as given.
const maxRoutes = 1 << 17

func placeOf(s *topology.HopKey) telemetry.Place {
	return telemetry.Place{Has: s.Has, Node: s.Node, IngressPort: s.In, EgressPort: s.Out}
}

// takeHops returns hops and queues of the interval, and routes and bursts that are new.
func (v *Intervals) takeHops(startNs int64) *telemetry.Intervals {
	// Routes come before the records of what is on them: whoever reads of a path can look it up.
	batch := &telemetry.Intervals{Routes: v.newRoutes}
	v.newRoutes = nil
	v.hopsSince(batch, startNs, true)
	clear(v.hops)
	v.takeBursts(batch)
	return batch
}

// hopsSince adds hops and queues since the last look. Queues are noted as given if they are.
func (v *Intervals) hopsSince(batch *telemetry.Intervals, startNs int64, give bool) {
	at := map[topology.PortKey]*portSample{}
	for key, h := range v.hops {
		h.StartNs = startNs
		batch.Hops = append(batch.Hops, *h)
		port := portSampleAt(at, &key.HopKey)
		port.Merge(&h.Sample)
		port.packets += h.Packets
		port.missing += h.Incomplete
	}
	batch.Queues = v.queuesSince(startNs, at, give)
}

// takePaths returns paths and links of the interval.
func (v *Intervals) takePaths(startNs int64) *telemetry.Intervals {
	batch := &telemetry.Intervals{}
	v.pathsSince(batch, startNs, true)
	clear(v.paths)
	clear(v.links)
	return batch
}

// pathsSince adds paths and links since the last look. The delays of links are noted as given if they are.
func (v *Intervals) pathsSince(batch *telemetry.Intervals, startNs int64, give bool) {
	for _, p := range v.paths {
		p.StartNs = startNs
		batch.Paths = append(batch.Paths, *p)
	}
	delays := v.collector.Timing.DelaysSince(give)
	for k := range delays {
		if _, known := v.links[k]; !known {
			v.links[k] = carried{} // it carried nothing since
		}
	}
	for k, sum := range v.links {
		v.inner.Add(k)
		from := telemetry.Place{
			Has: telemetry.HasNode | k.Has&telemetry.HasEgressPort, Node: k.From,
			EgressPort: k.FromPort,
		}
		to := telemetry.Place{
			Has: telemetry.HasNode | k.Has&telemetry.HasIngressPort, Node: k.To,
			IngressPort: k.ToPort,
		}
		d := delays[k]
		batch.Links = append(batch.Links, telemetry.LinkInterval{
			StartNs: startNs, From: from, To: to, Packets: sum.packets, Delay: d.Since(&histogram.Histogram{}),
			DelayUncertaintyNs: d.UncertaintyNs, DelayClamped: d.Clamped,
			Utilization: sum.use, Sample: sum.sample, Incomplete: sum.incomplete,
		})
	}
}
