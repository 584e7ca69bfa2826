package api

import (
	"maps"
	"slices"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// Filters of the lists of now that have no schema in package filter. Their fields are those of the records of a time range,
// where there are any, and what is known of now only.

var nodeTable = filter.NewTable(mustSchema("nodes", slices.Concat(
	[]filter.Field{
		{Name: "node", Aliases: []string{"id"}, Kind: filter.Node, Doc: "the node"},
		{Name: "name", Kind: filter.Text, Doc: "its name, if it has one"},
		{Name: "port", Kind: filter.Uint, Many: true, Doc: "each port that packets passed"},
		{Name: "packets", Kind: filter.Uint, Doc: "packets that it forwarded or dropped"},
		{Name: "drops", Kind: filter.Uint, Doc: "packets that it dropped"},
		{Name: "queue", Kind: filter.Uint, Unit: "of the device", Doc: "highest queue occupancy"},
	}, nanosecondFields("latency", "time in the node"), seenFields())...),
	joinValues(map[string]filter.ValueOf[telemetry.Node]{
		"node": filter.Number(func(n *telemetry.Node) uint32 { return n.ID }),
		"name": filter.MaybeText(func(n *telemetry.Node) string { return n.Name }),
		"port": func(n *telemetry.Node, i int) (filter.Value, bool) {
			if i >= len(n.Ports) {
				return filter.Value{}, false
			}
			return filter.FromUint(uint64(n.Ports[i])), true
		},
		"packets": filter.Number(func(n *telemetry.Node) uint64 { return n.Packets }),
		"drops":   filter.Number(func(n *telemetry.Node) uint64 { return n.Drops }),
		"queue":   filter.MaybeNumber(func(n *telemetry.Node) *uint32 { return n.QueueMax }),
		"first":   filter.At(func(n *telemetry.Node) time.Time { return n.First }),
		"last":    filter.At(func(n *telemetry.Node) time.Time { return n.Last }),
	}, nanosecondValues("latency", func(n *telemetry.Node) *telemetry.Distribution { return n.LatencyNs })))

var hopTable = filter.NewTable(mustSchema("hops", slices.Concat(
	[]filter.Field{
		{Name: "node", Kind: filter.Node, Doc: "the node"},
		{Name: "name", Kind: filter.Text, Doc: "its name, if it has one"},
		{Name: "ingress_port", Kind: filter.Uint, Doc: "level 1 interface by which packets came in"},
		{Name: "egress_port", Kind: filter.Uint, Doc: "level 1 interface by which packets left"},
		{Name: "packets", Kind: filter.Uint, Doc: "packets that took this way"},
		{Name: "queue", Kind: filter.Uint, Unit: "of the device", Doc: "highest queue occupancy"},
	}, nanosecondFields("latency", "time in the node"), seenFields())...),
	joinValues(map[string]filter.ValueOf[telemetry.NodeHop]{
		"node":         filter.Number(func(h *telemetry.NodeHop) uint32 { return h.Node }),
		"name":         filter.MaybeText(func(h *telemetry.NodeHop) string { return h.Name }),
		"ingress_port": filter.MaybeNumber(func(h *telemetry.NodeHop) *uint32 { return h.IngressPort }),
		"egress_port":  filter.MaybeNumber(func(h *telemetry.NodeHop) *uint32 { return h.EgressPort }),
		"packets":      filter.Number(func(h *telemetry.NodeHop) uint64 { return h.Packets }),
		"queue": filter.MaybeNumber(func(h *telemetry.NodeHop) *uint32 {
			if h.Queue == nil {
				return nil
			}
			return &h.Queue.Max
		}),
		"first": filter.At(func(h *telemetry.NodeHop) time.Time { return h.First }),
		"last":  filter.At(func(h *telemetry.NodeHop) time.Time { return h.Last }),
	}, nanosecondValues("latency", func(h *telemetry.NodeHop) *telemetry.Distribution { return h.LatencyNs })))

var queueTable = filter.NewTable(mustSchema("queues", slices.Concat(
	[]filter.Field{
		{Name: "node", Kind: filter.Node, Doc: "the node"},
		{Name: "name", Kind: filter.Text, Doc: "its name, if it has one"},
		{Name: "egress_port", Kind: filter.Uint, Doc: "level 1 interface by which packets left"},
		{Name: "queue", Kind: filter.Uint, Doc: "the queue"},
		{Name: "samples", Kind: filter.Uint, Doc: "packets that told how long it was"},
		{Name: "occupancy.last", Kind: filter.Uint, Unit: "of the device", Doc: "occupancy that the latest of them met"},
		{Name: "occupancy.max", Aliases: []string{"occupancy"}, Kind: filter.Uint, Unit: "of the device", Doc: "highest occupancy"},
		{Name: "congestion.max", Aliases: []string{"congestion"}, Kind: filter.Uint, Unit: "of the device", Doc: "highest congestion status"},
	}, seenFields())...),
	map[string]filter.ValueOf[telemetry.QueueDepth]{
		"node":        filter.Number(func(q *telemetry.QueueDepth) uint32 { return q.Node }),
		"name":        filter.MaybeText(func(q *telemetry.QueueDepth) string { return q.Name }),
		"egress_port": filter.MaybeNumber(func(q *telemetry.QueueDepth) *uint32 { return q.Port }),
		"queue":       filter.Number(func(q *telemetry.QueueDepth) uint8 { return q.Queue }),
		"samples": filter.MaybeNumber(func(q *telemetry.QueueDepth) *uint64 {
			if q.Depth == nil {
				return nil
			}
			return &q.Depth.Count
		}),
		"occupancy.last": filter.MaybeNumber(func(q *telemetry.QueueDepth) *uint32 { return q.LastDepth }),
		"occupancy.max": filter.MaybeNumber(func(q *telemetry.QueueDepth) *uint64 {
			if q.Depth == nil {
				return nil
			}
			return &q.Depth.Max
		}),
		"congestion.max": filter.MaybeNumber(func(q *telemetry.QueueDepth) *uint32 {
			if q.Congestion == nil {
				return nil
			}
			return &q.Congestion.Max
		}),
		"first": filter.At(func(q *telemetry.QueueDepth) time.Time { return q.First }),
		"last":  filter.At(func(q *telemetry.QueueDepth) time.Time { return q.Last }),
	})

var linkTable = filter.NewTable(mustSchema("links", slices.Concat(
	[]filter.Field{
		{Name: "from", Kind: filter.Node, Doc: "node that packets left"},
		{Name: "from_port", Kind: filter.Uint, Doc: "level 1 interface by which packets left"},
		{Name: "to", Kind: filter.Node, Doc: "node that packets came to"},
		{Name: "to_port", Kind: filter.Uint, Doc: "level 1 interface by which packets came in"},
		{Name: "node", Kind: filter.Node, Any: []string{"from", "to"}, Doc: "either node"},
		{Name: "packets", Kind: filter.Uint, Doc: "packets on the link"},
	}, nanosecondFields("delay", "time on the link"), utilizationFields(), seenFields())...),
	joinValues(map[string]filter.ValueOf[telemetry.Link]{
		"from":      filter.Number(func(l *telemetry.Link) uint32 { return l.From }),
		"from_port": filter.MaybeNumber(func(l *telemetry.Link) *uint32 { return l.FromPort }),
		"to":        filter.Number(func(l *telemetry.Link) uint32 { return l.To }),
		"to_port":   filter.MaybeNumber(func(l *telemetry.Link) *uint32 { return l.ToPort }),
		"packets":   filter.Number(func(l *telemetry.Link) uint64 { return l.Packets }),
		"first":     filter.At(func(l *telemetry.Link) time.Time { return l.First }),
		"last":      filter.At(func(l *telemetry.Link) time.Time { return l.Last }),
	}, nanosecondValues("delay", func(l *telemetry.Link) *telemetry.Distribution {
		if l.Delay == nil {
			return nil
		}
		return l.Delay.NS
	}), utilizationValues(func(l *telemetry.Link) *telemetry.Utilization { return l.Utilization })))

// nanosecondFields are those of a distribution of durations.
func nanosecondFields(name, doc string) []filter.Field {
	return []filter.Field{
		{Name: name + ".min", Kind: filter.Duration, Doc: "shortest " + doc},
		{Name: name + ".mean", Aliases: []string{name}, Kind: filter.Duration, Doc: "mean " + doc},
		{Name: name + ".p50", Kind: filter.Duration, Doc: "median of the " + doc},
		{Name: name + ".p99", Kind: filter.Duration, Doc: "99th percentile of the " + doc},
		{Name: name + ".max", Kind: filter.Duration, Doc: "longest " + doc},
	}
}

func nanosecondValues[T any](name string, of func(*T) *telemetry.Distribution) map[string]filter.ValueOf[T] {
	return map[string]filter.ValueOf[T]{
		name + ".min":  filter.Nanoseconds(of, func(d *telemetry.Distribution) float64 { return float64(d.Min) }),
		name + ".mean": filter.Nanoseconds(of, func(d *telemetry.Distribution) float64 { return d.Mean }),
		name + ".p50":  filter.Quantile(of, func(d *telemetry.Distribution) uint64 { return d.P50 }),
		name + ".p99":  filter.Quantile(of, func(d *telemetry.Distribution) uint64 { return d.P99 }),
		name + ".max":  filter.Nanoseconds(of, func(d *telemetry.Distribution) float64 { return float64(d.Max) }),
	}
}

func seenFields() []filter.Field {
	return []filter.Field{
		{Name: "first", Kind: filter.Time, Doc: "when the first report about it was received"},
		{Name: "last", Kind: filter.Time, Doc: "when the latest report about it was received"},
	}
}

func joinValues[T any](a map[string]filter.ValueOf[T], others ...map[string]filter.ValueOf[T]) map[string]filter.ValueOf[T] {
	for _, b := range others {
		maps.Copy(a, b)
	}
	return a
}
