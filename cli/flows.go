package cli

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

// flowOrders are the values of --order.
var flowOrders = func() (names []string) {
	for _, o := range analyze.FlowOrders {
		names = append(names, string(o))
	}
	return names
}()

func newFlowsCommand() *cobra.Command { return newQueryCommand(flowsQuestion()) }

func flowsQuestion() question[client.FlowList, telemetry.Flow] {
	return question[client.FlowList, telemetry.Flow]{
		name:  "flows",
		short: "list flows and the path that each takes",
		long: `Flows lists flows: what telemetry saw of their packets, and the path that the latest of them took. RESIDENCE is the sum of
the time that a packet stayed in the nodes. ?(2) are two nodes that sent nothing; a path that ends in a cross is one of
packets that were dropped. With -o wide ports are shown, (in)node(out), and the median and the 99th percentile of each hop.`,
		example: `  waybill flows
  waybill flows --order latency --limit 10
  waybill flows --src 10.0.1.0/24 --port 443 --protocol tcp -o wide
  waybill flows --order drops --watch 2s
  waybill flows -o json | jq '.flows[] | select(.drops > 0)'`,
		filters: addFlowFilters,
		ask:     (*client.Client).Flows,
		open:    func(l *client.FlowList) (client.Head, []telemetry.Flow) { return l.Head, l.Flows },
		past: pastOf((*client.Client).FlowHistory, func(l *client.FlowHistory) (client.Head, client.Frame, []client.FlowRecord) {
			return l.Head, l.Frame, l.Flows
		}),
		state: func(f *telemetry.Flow) string { return latest(f).ID },
		live: &live[telemetry.Flow]{
			open: func(c *client.Client, ctx context.Context, q client.Query, s client.Stream[telemetry.Flow]) error {
				q.Limit = followAll
				return c.StreamFlows(ctx, q, s)
			},
			id: func(f *telemetry.Flow) string { return f.ID },
		},
		none: "no flows yet: the reports that arrived do not say which flow they are about",
		columns: []tableColumn[telemetry.Flow]{
			{title: "ID", wide: true, cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(f.ID) }},
			{title: "SOURCE", cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(endText(f.Src, f.SrcPort)) }},
			{title: "DESTINATION", cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(endText(f.Dst, f.DstPort)) }},
			{title: "PROTOCOL", cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(f.Protocol) }},
			{title: "TUNNEL", wide: true, cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(tunnelText(&f.Endpoints)) }},
			{title: "DSCP", wide: true, right: true, cell: func(_ *view, f *telemetry.Flow) Cell { return countCell(uint64(f.DSCP)) }},
			{title: "DEVICE", wide: true, cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(f.Device) }},
			{title: "REPORTS", wide: true, right: true, cell: func(_ *view, f *telemetry.Flow) Cell { return countCell(f.Reports) }},
			{title: "PACKETS", order: "packets", right: true, cell: func(_ *view, f *telemetry.Flow) Cell { return countCell(f.Packets) }},
			{title: "ESTIMATED", wide: true, right: true, cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(numberText(f.PacketsEstimated, "")) }},
			{title: "BYTES", order: "bytes", right: true, cell: func(_ *view, f *telemetry.Flow) Cell { return PlainCell(size(f.Bytes)) }},
			{title: "DROPS", order: "drops", right: true, cell: func(_ *view, f *telemetry.Flow) Cell { return badCell(f.Drops) }},
			{title: "RESIDENCE P50", order: "residence_ns.p50", right: true, cell: func(v *view, f *telemetry.Flow) Cell { return PlainCell(v.p50(f.Residence)) }},
			{title: "P99", order: "residence_ns.p99", right: true, cell: func(v *view, f *telemetry.Flow) Cell { return PlainCell(v.p99(f.Residence)) }},
			{title: "END TO END MEAN", wide: true, right: true, cell: func(v *view, f *telemetry.Flow) Cell { return PlainCell(v.endToEnd(f)) }},
			{title: "LAST SEEN", order: "last", cell: func(v *view, f *telemetry.Flow) Cell { return v.age(f.Last) }},
			{title: "PATH", cell: func(v *view, f *telemetry.Flow) Cell {
				if len(f.Paths) == 0 {
					return PlainCell(unknown)
				}
				return v.path(f.Paths[0].Hops, v.wide)
			}},
		},
		fields: slices.Concat(
			[]csvField[telemetry.Flow]{
				{"id", func(f *telemetry.Flow) string { return f.ID }},
				{"src", func(f *telemetry.Flow) string { return f.Src.String() }},
				{"dst", func(f *telemetry.Flow) string { return f.Dst.String() }},
				{"src_port", func(f *telemetry.Flow) string { return csvUint(f.SrcPort) }},
				{"dst_port", func(f *telemetry.Flow) string { return csvUint(f.DstPort) }},
				{"protocol", func(f *telemetry.Flow) string { return f.Protocol }},
				{"tunnel", func(f *telemetry.Flow) string { return f.Tunnel }},
				{"tunnel_id", func(f *telemetry.Flow) string { return numberText(f.TunnelID, "") }},
				{"dscp", func(f *telemetry.Flow) string { return csvUint(f.DSCP) }},
				{"device", func(f *telemetry.Flow) string { return f.Device }},
				{"reports", func(f *telemetry.Flow) string { return csvUint(f.Reports) }},
				{"packets", func(f *telemetry.Flow) string { return csvUint(f.Packets) }},
				{"bytes", func(f *telemetry.Flow) string { return csvUint(f.Bytes) }},
				{"drops", func(f *telemetry.Flow) string { return csvUint(f.Drops) }},
			},
			distributionFields("residence", func(f *telemetry.Flow) *telemetry.Distribution { return f.Residence }),
			distributionFields("end_to_end", func(f *telemetry.Flow) *telemetry.Distribution { return f.EndToEnd }),
			[]csvField[telemetry.Flow]{
				{"clocks_offset_ns", func(f *telemetry.Flow) string { return csvInt(clocksOf(f).OffsetNs) }},
				{"clocks_uncertainty_ns", func(f *telemetry.Flow) string { return csvInt(clocksOf(f).UncertaintyNs) }},
				{"clocks_unknown", func(f *telemetry.Flow) string { return clocksOf(f).Unknown }},
			},
			[]csvField[telemetry.Flow]{
				{"first", func(f *telemetry.Flow) string { return csvTime(f.First) }},
				{"last", func(f *telemetry.Flow) string { return csvTime(f.Last) }},
				{"path_id", func(f *telemetry.Flow) string { return latest(f).ID }},
				{"path", func(f *telemetry.Flow) string { return csvPath(latest(f).Hops) }},
				{"packets_estimated", func(f *telemetry.Flow) string { return numberText(f.PacketsEstimated, "") }},
				{"bytes_estimated", func(f *telemetry.Flow) string { return numberText(f.BytesEstimated, "") }},
			},
		),
	}
}

// latest returns the path that the latest packet of a flow took.
func latest(f *telemetry.Flow) telemetry.FlowPath {
	if len(f.Paths) == 0 {
		return telemetry.FlowPath{}
	}
	return f.Paths[0]
}

func addFlowFilters(cmd *cobra.Command, q *client.Query) {
	addNodeFilter(cmd, q)
	f := cmd.Flags()
	f.StringVar(&q.Order, "order", "", "list by `ORDER`, the largest first: last (unless it is given), packets, latency (mean residence), drops, residence_ns.p99 or another number; ORDER:asc is the smallest first. With --since, by a number of the records")
	f.StringVar(&q.Src, "src", "", "only flows from this `ADDRESS` or prefix")
	f.StringVar(&q.Dst, "dst", "", "only flows to this `ADDRESS` or prefix")
	f.StringVar(&q.Port, "port", "", "only flows with this `PORT` at either end")
	f.StringVar(&q.Protocol, "protocol", "", "only flows of this `PROTOCOL`, name or number")
	f.StringVar(&q.OuterSrc, "outer-src", "", "only flows in a tunnel from this `ADDRESS` or prefix")
	f.StringVar(&q.OuterDst, "outer-dst", "", "only flows in a tunnel to this `ADDRESS` or prefix")
	f.StringVar(&q.OuterPort, "outer-port", "", "only flows in a tunnel with this `PORT` at either end")
	_ = cmd.RegisterFlagCompletionFunc("order", cobra.FixedCompletions(flowOrders, cobra.ShellCompDirectiveNoFileComp))
}
