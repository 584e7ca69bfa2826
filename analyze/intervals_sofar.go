package analyze

import (
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// SoFar tells what was counted of the intervals that are open at nowNs, and changes nothing of what Look gives. It is
// called where Look is.
func (v *Intervals) SoFar(nowNs int64) *telemetry.SoFar {
	r := &telemetry.SoFar{StartNs: start(v.flowsNs, nowNs, telemetry.FlowIntervalNs)}
	v.scanPaths(nowNs)
	v.hopsSince(&r.Intervals, start(v.hopsNs, nowNs, telemetry.HopIntervalNs), false)
	v.pathsSince(&r.Intervals, r.StartNs, false)
	v.dropsSince(&r.Intervals, r.StartNs, false)
	v.exportersSince(&r.Intervals, r.StartNs, false)
	for i, s := range v.collector.Shards {
		v.flowsSoFar(r, s, v.shards[i])
	}
	for i := range r.Paths {
		path := r.Paths[i].Path
		if ends, ok := v.routes[path]; ok && !v.toldPaths[path] {
			v.toldPaths[path] = true
			r.Routes = append(r.Routes, ends.route(path))
		}
	}
	return r
}

// Note returns what was counted so far, and then gives what of it is due at nowNs, as Look does: what it gives is what
// it returned of the same intervals. The tables stand still meanwhile, see Collector.Hold.
func (v *Intervals) Note(nowNs int64, give func(*telemetry.Intervals)) *telemetry.SoFar {
	// However late it is, what was counted belongs to the intervals that were open when it was told of before.
	second := v.hopsNs - v.hopsNs%telemetry.HopIntervalNs + telemetry.HopIntervalNs
	ten := v.flowsNs - v.flowsNs%telemetry.FlowIntervalNs + telemetry.FlowIntervalNs
	r := v.SoFar(min(nowNs, second))
	for _, at := range [...]int64{second, ten, nowNs} {
		v.Look(min(at, nowNs), give)
	}
	return r
}

// flowsSoFar adds the flows of a shard that have changed since they were told of last.
func (v *Intervals) flowsSoFar(r *telemetry.SoFar, s *Shard, p *shardIntervals) {
	flows, gone := len(r.Flows), len(r.Gone)
	for from := 0; ; from += flowsUnderLock {
		s.mu.Lock()
		if from == 0 {
			r.Gone = append(r.Gone, p.gone[p.goneTold:]...)
			p.goneTold = len(p.gone)
		}
		end := min(from+flowsUnderLock, s.flows.count)
		for place := from; place < end; place++ {
			f, given := s.flows.at(place), p.flow(place)
			now := f.reports + f.packets + uint64(f.drops)
			if now != given.reports+given.packets+uint64(given.drops) && now != given.told {
				given.told = now
				r.Flows = s.flowSince(r.Flows, f, place)
			}
		}
		done := end == s.flows.count
		s.mu.Unlock()
		if done {
			break
		}
	}
	for i := range r.Flows[flows:] {
		r.Flows[flows+i].StartNs = r.StartNs
	}
	for i := range r.Gone[gone:] {
		r.Gone[gone+i].StartNs = r.StartNs
	}
}

// AddHosts adds to what a journal has of an interval the hosts of its flows, as Look gives them.
func AddHosts(r *telemetry.Intervals, startNs int64) {
	v := NewIntervals(&Collector{}, nil, startNs)
	for i := range r.Links {
		l := &r.Links[i]
		v.inner.Add(topology.LinkKey{
			From: l.From.Node, FromPort: l.From.EgressPort, To: l.To.Node, ToPort: l.To.IngressPort,
			Has: l.From.Has&telemetry.HasEgressPort | l.To.Has&telemetry.HasIngressPort,
		})
	}
	for i := range r.Routes {
		v.routes[r.Routes[i].Path] = routeEnds(&r.Routes[i])
	}
	v.hostsOf(r.Flows, true)
	v.takeHosts(r, startNs)
}
