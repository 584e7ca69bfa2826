package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newDropsCommand() *cobra.Command { return newQueryCommand(dropsQuestion()) }

func dropsQuestion() question[client.DropList, telemetry.Drop] {
	return question[client.DropList, telemetry.Drop]{
		name:  "drops",
		short: "list where packets were dropped, and why",
		long:  `Drops lists the places where packets were dropped, with the reason that the device gave, the most frequent first.`,
		example: `  waybill drops
  waybill drops --node leaf1
  waybill drops --reason acl_deny -o json`,
		filters: func(cmd *cobra.Command, q *client.Query) {
			addNodeFilter(cmd, q)
			cmd.Flags().StringVar(&q.Reason, "reason", "", "only drops for this `REASON`, name or number")
		},
		ask:  (*client.Client).Drops,
		open: func(l *client.DropList) (client.Head, []telemetry.Drop) { return l.Head, l.Drops },
		past: pastOf((*client.Client).DropHistory, func(l *client.DropHistory) (client.Head, client.Frame, []client.DropRecord) {
			return l.Head, l.Frame, l.Drops
		}),
		state: func(d *telemetry.Drop) string {
			return fmt.Sprint(numberText(d.Node, unknown), " ", numberText(d.IngressPort, unknown), " ", numberText(d.EgressPort, unknown), " ", d.Reason, " ", d.DropKey)
		},
		first: func(d *telemetry.Drop) time.Time { return d.First },
		none:  "no drops were reported: nothing was dropped, or no device is set up to report drops",
		columns: []tableColumn[telemetry.Drop]{
			{title: "NODE", order: "node", cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(nodeText(d.Node, d.Name)) }},
			{title: "IN", order: "ingress_port", right: true, cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(numberText(d.IngressPort, unknown)) }},
			{title: "OUT", order: "egress_port", right: true, cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(numberText(d.EgressPort, unknown)) }},
			{title: "REASON", order: "reason_name", cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(d.ReasonName) }},
			{title: "NUMBER", wide: true, right: true, cell: func(_ *view, d *telemetry.Drop) Cell { return countCell(uint64(d.Reason)) }},
			{title: "DROP KEY", wide: true, cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(d.DropKey) }},
			{title: "PACKETS", order: "packets", right: true, cell: func(_ *view, d *telemetry.Drop) Cell { return badCell(d.Packets) }},
			{title: "CAUSE", wide: true, cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(d.Cause) }},
			{title: "SEVERITY", wide: true, cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(d.Severity) }},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, d *telemetry.Drop) Cell { return v.age(d.First) }},
			{title: "LAST SEEN", order: "last", cell: func(v *view, d *telemetry.Drop) Cell { return v.age(d.Last) }},
			{title: "LAST FLOW", cell: func(_ *view, d *telemetry.Drop) Cell {
				if d.LastFlow == nil {
					return PlainCell(unknown)
				}
				return PlainCell(endpointsText(d.LastFlow))
			}},
			{title: "WHAT TO DO", wide: true, cell: func(_ *view, d *telemetry.Drop) Cell { return PlainCell(d.Action) }},
		},
		fields: []csvField[telemetry.Drop]{
			{"node", func(d *telemetry.Drop) string { return numberText(d.Node, "") }},
			{"name", func(d *telemetry.Drop) string { return d.Name }},
			{"ingress_port", func(d *telemetry.Drop) string { return numberText(d.IngressPort, "") }},
			{"egress_port", func(d *telemetry.Drop) string { return numberText(d.EgressPort, "") }},
			{"reason", func(d *telemetry.Drop) string { return csvUint(d.Reason) }},
			{"reason_name", func(d *telemetry.Drop) string { return d.ReasonName }},
			{"cause", func(d *telemetry.Drop) string { return d.Cause }},
			{"severity", func(d *telemetry.Drop) string { return d.Severity }},
			{"drop_key", func(d *telemetry.Drop) string { return d.DropKey }},
			{"packets", func(d *telemetry.Drop) string { return csvUint(d.Packets) }},
			{"first", func(d *telemetry.Drop) string { return csvTime(d.First) }},
			{"last", func(d *telemetry.Drop) string { return csvTime(d.Last) }},
			{"last_flow", func(d *telemetry.Drop) string {
				if d.LastFlow == nil {
					return ""
				}
				return endpointsText(d.LastFlow)
			}},
		},
	}
}
