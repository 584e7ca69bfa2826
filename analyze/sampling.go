package analyze

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/sampled"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// estimate returns how many there are of what n were reported, if the node at which hops begin is known to report 1
// packet in so many; else nil.
func (l *samples) estimate(hops []telemetry.PathHop, n uint64) *uint64 {
	if len(hops) == 0 || hops[0].Node == nil || hops[0].Dropped {
		return nil
	}
	rate := l.configured[*hops[0].Node]
	if rate == telemetry.SampleUnknown || rate > telemetry.MaxSampleRate {
		return nil
	}
	n *= uint64(rate)
	return &n
}

// estimateFlow completes the answer about a flow. Its source is the first node of the path that it takes now.
func (l *samples) estimateFlow(f *telemetry.Flow) {
	if f.PacketsEstimated == nil && len(f.Paths) > 0 {
		f.PacketsEstimated = l.estimate(f.Paths[0].Hops, f.Packets)
		f.BytesEstimated = l.estimate(f.Paths[0].Hops, f.Bytes)
	}
}

// addSamples adds to the answer about a flow what samples tell of it, unless reports tell of its packets: these are
// exact, and estimates beside them would be of the same packets. Drops are told exactly with either. configured is the
// rate of nodes that do not tell it.
func addSamples(a *telemetry.Flow, f *sampled.Flow, names map[uint32]string,
	configured map[uint32]telemetry.SampleRate,
) {
	if f == nil || a.Packets > a.Drops {
		return
	}
	e := f.Estimate(configured)
	a.PacketsEstimated, a.BytesEstimated = &e.Packets, &e.Bytes
	a.Sample = e.Rate.Sample(-1)
	route, first, last := f.Route()
	path := telemetry.FlowPath{
		ID:    topology.PathID(topology.HashRoute(route)),
		First: time.Unix(0, first).UTC(), Last: time.Unix(0, last).UTC(), Sample: e.Rate.Sample(-1),
	}
	for i := range route {
		path.Hops = append(path.Hops, route[i].Answer(names))
	}
	a.Paths = slices.Insert(a.Paths, 0, path)
}
