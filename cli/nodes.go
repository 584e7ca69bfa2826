package cli

import (
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newNodesCommand() *cobra.Command { return newQueryCommand(nodesQuestion()) }

func nodesQuestion() question[client.NodeList, telemetry.Node] {
	return question[client.NodeList, telemetry.Node]{
		name:  "nodes",
		short: "list the devices that appeared in reports",
		long: `Nodes lists the devices that appeared in reports, with the packets that they forwarded and dropped and how long packets
stayed in them.`,
		example: `  waybill nodes
  waybill nodes --node leaf1 -o json
  waybill nodes --server http://collector:8080 --watch 2s`,
		filters:  addNodeFilter,
		attached: true,
		ask:      (*client.Client).Nodes,
		open:     func(l *client.NodeList) (client.Head, []telemetry.Node) { return l.Head, l.Nodes },
		state:    func(n *telemetry.Node) string { return csvUint(n.ID) },
		first:    func(n *telemetry.Node) time.Time { return n.First },
		none:     "no nodes yet: the reports that arrived name no node",
		columns: []tableColumn[telemetry.Node]{
			{title: "NODE", right: true, cell: func(_ *view, n *telemetry.Node) Cell { return countCell(uint64(n.ID)) }},
			{title: "NAME", cell: func(_ *view, n *telemetry.Node) Cell { return PlainCell(n.Name) }},
			{title: "PACKETS", right: true, cell: func(_ *view, n *telemetry.Node) Cell { return countCell(n.Packets) }},
			{title: "DROPS", right: true, cell: func(_ *view, n *telemetry.Node) Cell { return badCell(n.Drops) }},
			{title: "LATENCY P50", right: true, cell: func(v *view, n *telemetry.Node) Cell { return PlainCell(v.p50(n.LatencyNs)) }},
			{title: "P99", right: true, cell: func(v *view, n *telemetry.Node) Cell { return PlainCell(v.p99(n.LatencyNs)) }},
			{title: "MAX", right: true, cell: func(v *view, n *telemetry.Node) Cell { return PlainCell(v.highest(n.LatencyNs)) }},
			{title: "QUEUE MAX", right: true, cell: func(_ *view, n *telemetry.Node) Cell { return PlainCell(numberText(n.QueueMax, unknown)) }},
			{title: "PORTS", wide: true, cell: func(_ *view, n *telemetry.Node) Cell { return PlainCell(numbers(n.Ports, ",")) }},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, n *telemetry.Node) Cell { return v.age(n.First) }},
			{title: "LAST SEEN", cell: func(v *view, n *telemetry.Node) Cell { return v.age(n.Last) }},
		},
		fields: slices.Concat(
			[]csvField[telemetry.Node]{
				{"id", func(n *telemetry.Node) string { return csvUint(n.ID) }},
				{"name", func(n *telemetry.Node) string { return n.Name }},
				{"packets", func(n *telemetry.Node) string { return csvUint(n.Packets) }},
				{"drops", func(n *telemetry.Node) string { return csvUint(n.Drops) }},
			},
			distributionFields("latency", func(n *telemetry.Node) *telemetry.Distribution { return n.LatencyNs }),
			[]csvField[telemetry.Node]{
				{"queue_max", func(n *telemetry.Node) string { return numberText(n.QueueMax, "") }},
				{"ports", func(n *telemetry.Node) string { return numbers(n.Ports, " ") }},
				{"first", func(n *telemetry.Node) string { return csvTime(n.First) }},
				{"last", func(n *telemetry.Node) string { return csvTime(n.Last) }},
			},
		),
	}
}

// addNodeFilter adds --node.
func addNodeFilter(cmd *cobra.Command, q *client.Query) {
	cmd.Flags().StringVar(&q.Node, "node", "", "only what concerns the node with this `ID` or name")
}

// numbers joins numbers.
func numbers(list []uint32, separator string) string {
	texts := make([]string, len(list))
	for i, n := range list {
		texts[i] = strconv.FormatUint(uint64(n), 10)
	}
	return strings.Join(texts, separator)
}
