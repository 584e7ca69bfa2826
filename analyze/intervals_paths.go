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

// A pathCount is what a path counted since it was given last.
type pathCount struct {
	hash                             uint64
	uncertain                        bool
	packets, incomplete, clockErrors uint64
	sample                           reporting.Sample // of all its nodes
	residence, endToEnd              telemetry.Histogram
	hops                             []hopCount
}

// A hopCount is what a hop of a path counted since it was given last.
type hopCount struct {
	topology.HopKey
	parts   uint64
	sample  reporting.Sample
	latency telemetry.Histogram
	use     telemetry.UtilizationSum
}

// pathsSince returns what paths counted since they were given last: of some from a place on, and the place to go on
// from; 0: these were the last ones. told is what nodes tell of, and only to be read from now on.
func (s *Shard) pathsSince(from int, told *samples) (list []pathCount, next int) {
	var none path
	var hops []hopCount
	p := s.intervals
	s.mu.Lock()
	defer s.mu.Unlock()
	p.told = told
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
		first := len(hops)
		hops = now.appendHopCounts(hops, given, told)
		list = append(list, pathCount{
			hash: now.hash, uncertain: now.uncertain, packets: now.packets - given.packets,
			incomplete: now.incomplete - given.incomplete, clockErrors: now.clockErrors - given.clockErrors,
			sample: told.ofNodes(now), residence: now.residence.Since(&given.residence),
			endToEnd: now.endToEnd.Since(&given.endToEnd), hops: hops[first:],
		})
		if given == &none {
			given = &path{}
			p.paths[place] = given
		}
		before := append(given.hops[:0], now.hops...)
		*given = *now
		given.hops, given.sample = before, told.ofPath(now)
		now.residence.Turn() // highest and lowest values begin anew with each look
		now.endToEnd.Turn()
		for i := range now.hops {
			now.hops[i].latency.Turn()
			now.hops[i].utilization.High = 0
		}
	}
	if end < len(s.paths.paths) {
		next = end
	}
	return list, next
}

// appendHopCounts appends what the hops of p counted after an earlier state of it.
func (p *path) appendHopCounts(list []hopCount, given *path, told *samples) []hopCount {
	var none pathHop
	for i := range p.hops {
		h, before := &p.hops[i], &none
		if i < len(given.hops) {
			before = &given.hops[i]
		}
		list = append(list, hopCount{
			HopKey: h.HopKey, parts: h.parts - before.parts, sample: told.ofHop(p, i),
			latency: h.latency.Since(&before.latency), use: h.utilization.Since(&before.utilization),
		})
	}
	return list
}

// pieces calls a function until it returns that there is no place to go on from.
func pieces(take func(from int) (next int)) {
	for next := take(0); next != 0; {
		next = take(next)
	}
}

// scanPaths adds up what was counted of paths, and of their hops, queues and links.
func (v *Intervals) scanPaths(nowNs int64) {
	told := v.collector.nodeSamples()
	for _, s := range v.collector.Owners {
		pieces(func(from int) (next int) {
			list, next := s.pathsSince(from, &told)
			for i := range list {
				v.addPath(&list[i], nowNs)
			}
			return next
		})
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

// addPath adds what a path counted.
func (v *Intervals) addPath(n *pathCount, nowNs int64) {
	p := v.paths[n.hash]
	if p == nil {
		p = &telemetry.PathInterval{Path: n.hash}
		v.paths[n.hash] = p
		v.note(n, nowNs)
	}
	p.Packets += n.packets
	p.Incomplete += n.incomplete
	n.sample.AddTo(&p.Sample, n.packets)
	p.ClockErrors += n.clockErrors
	p.Residence.Merge(&n.residence)
	p.EndToEnd.Merge(&n.endToEnd)
	for i := range n.hops {
		h := &n.hops[i]
		if i > 0 && !n.uncertain {
			before := &n.hops[i-1]
			more := carried{packets: n.packets, incomplete: n.incomplete, use: before.use}
			n.sample.AddTo(&more.sample, n.packets)
			v.carry(&before.HopKey, &h.HopKey, more)
		}
		if h.Missing == 0 && h.Has != 0 { // else nobody knows where it is
			v.addHop(h, n.packets, n.incomplete)
		}
	}
}

// addHop adds what packets met at a hop of a path. All hops told of n of them, some hops of the incomplete ones.
func (v *Intervals) addHop(at *hopCount, n, incomplete uint64) {
	n += at.parts
	if n > 0 || incomplete > 0 || at.latency.Count > 0 {
		key := hopPlace{at.HopKey}
		h := v.hops[key]
		if h == nil {
			h = &telemetry.HopInterval{Place: placeOf(&at.HopKey)}
			v.hops[key] = h
		}
		h.Packets += n
		h.Incomplete += int64(incomplete) - int64(at.parts)
		at.sample.AddTo(&h.Sample, n)
		h.Latency.Merge(&at.latency)
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
func (v *Intervals) note(p *pathCount, nowNs int64) {
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
