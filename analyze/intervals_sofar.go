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
	for _, s := range v.collector.Owners {
		pieces(func(from int) int {
			c := s.flowsSoFar(from)
			r.Flows, r.Gone = append(r.Flows, c.flows...), append(r.Gone, c.gone...)
			return c.next
		})
	}
	for _, list := range [][]telemetry.FlowInterval{r.Flows, r.Gone} {
		for i := range list {
			list[i].StartNs = r.StartNs
		}
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
