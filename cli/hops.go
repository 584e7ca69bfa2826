package cli

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newHopsCommand() *cobra.Command { return newQueryCommand(hopsQuestion()) }

func hopsQuestion() question[client.HopList, telemetry.NodeHop] {
	return question[client.HopList, telemetry.NodeHop]{
		name:  "hops",
		short: "list what packets met at each node between two of its ports",
		long: `Hops lists how long packets stayed in each node on their way from one of its ports to another, and the queues that they
met, over all paths.`,
		example: `  waybill hops
  waybill hops --node spine1 -o wide
  waybill hops -o csv > hops.csv`,
		filters: addNodeFilter,
		ask:     (*client.Client).Hops,
		open:    func(l *client.HopList) (client.Head, []telemetry.NodeHop) { return l.Head, l.Hops },
		past: pastOf((*client.Client).HopHistory, func(l *client.HopHistory) (client.Head, client.Frame, []client.HopRecord) {
			return l.Head, l.Frame, l.Hops
		}),
		state: func(h *telemetry.NodeHop) string {
			return fmt.Sprint(h.Node, " ", numberText(h.IngressPort, unknown), " ", numberText(h.EgressPort, unknown))
		},
		first: func(h *telemetry.NodeHop) time.Time { return h.First },
		none:  "no hops yet: the reports that arrived name no node",
		columns: []tableColumn[telemetry.NodeHop]{
			{title: "NODE", order: "node", cell: func(_ *view, h *telemetry.NodeHop) Cell { return PlainCell(nodeText(&h.Node, h.Name)) }},
			{title: "IN", order: "ingress_port", right: true, cell: func(_ *view, h *telemetry.NodeHop) Cell { return PlainCell(numberText(h.IngressPort, unknown)) }},
			{title: "OUT", order: "egress_port", right: true, cell: func(_ *view, h *telemetry.NodeHop) Cell { return PlainCell(numberText(h.EgressPort, unknown)) }},
			{title: "PACKETS", order: "packets", right: true, cell: func(_ *view, h *telemetry.NodeHop) Cell { return countCell(h.Packets) }},
			{title: "LATENCY MIN", wide: true, right: true, cell: func(v *view, h *telemetry.NodeHop) Cell { return PlainCell(v.least(h.LatencyNs)) }},
			{title: "MEAN", wide: true, right: true, cell: func(v *view, h *telemetry.NodeHop) Cell { return PlainCell(v.mean(h.LatencyNs)) }},
			{title: "LATENCY P50", order: "latency_ns.p50", right: true, cell: func(v *view, h *telemetry.NodeHop) Cell { return PlainCell(v.p50(h.LatencyNs)) }},
			{title: "P99", order: "latency_ns.p99", right: true, cell: func(v *view, h *telemetry.NodeHop) Cell { return PlainCell(v.p99(h.LatencyNs)) }},
			{title: "MAX", order: "latency_ns.max", right: true, cell: func(v *view, h *telemetry.NodeHop) Cell { return PlainCell(v.highest(h.LatencyNs)) }},
			{title: "QUEUE MEAN", order: "queue.mean", right: true, cell: func(_ *view, h *telemetry.NodeHop) Cell { return PlainCell(queueMean(h.Queue, unknown, 1)) }},
			{title: "MAX", order: "queue.max", right: true, cell: func(_ *view, h *telemetry.NodeHop) Cell { return PlainCell(queueMax(h.Queue, unknown)) }},
			{title: "QUEUE", wide: true, right: true, cell: func(_ *view, h *telemetry.NodeHop) Cell { return PlainCell(queueID(h.Queue, unknown)) }},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, h *telemetry.NodeHop) Cell { return v.age(h.First) }},
			{title: "LAST SEEN", order: "last", cell: func(v *view, h *telemetry.NodeHop) Cell { return v.age(h.Last) }},
		},
		fields: slices.Concat(
			[]csvField[telemetry.NodeHop]{
				{"node", func(h *telemetry.NodeHop) string { return csvUint(h.Node) }},
				{"name", func(h *telemetry.NodeHop) string { return h.Name }},
				{"ingress_port", func(h *telemetry.NodeHop) string { return numberText(h.IngressPort, "") }},
				{"egress_port", func(h *telemetry.NodeHop) string { return numberText(h.EgressPort, "") }},
				{"packets", func(h *telemetry.NodeHop) string { return csvUint(h.Packets) }},
			},
			distributionFields("latency", func(h *telemetry.NodeHop) *telemetry.Distribution { return h.LatencyNs }),
			[]csvField[telemetry.NodeHop]{
				{"queue_id", func(h *telemetry.NodeHop) string { return queueID(h.Queue, "") }},
				{"queue_mean", func(h *telemetry.NodeHop) string { return queueMean(h.Queue, "", -1) }},
				{"queue_max", func(h *telemetry.NodeHop) string { return queueMax(h.Queue, "") }},
				{"first", func(h *telemetry.NodeHop) string { return csvTime(h.First) }},
				{"last", func(h *telemetry.NodeHop) string { return csvTime(h.Last) }},
			},
		),
	}
}

func queueID(q *telemetry.Queue, otherwise string) string {
	if q == nil {
		return otherwise
	}
	return csvUint(q.ID)
}

// queueMean returns the mean occupancy with so many decimals, or as many as it has if that is -1.
func queueMean(q *telemetry.Queue, otherwise string, decimals int) string {
	if q == nil {
		return otherwise
	}
	return strconv.FormatFloat(q.Mean, 'f', decimals, 64)
}

func queueMax(q *telemetry.Queue, otherwise string) string {
	if q == nil {
		return otherwise
	}
	return csvUint(q.Max)
}
