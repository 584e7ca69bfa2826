package cli

import (
	"context"
	"strconv"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
	"github.com/waybill-int/waybill/telemetry"
)

// burstOrders are the values of --order.
var burstOrders = []string{"last", "peak", "duration", "drops"}

func newBurstsCommand() *cobra.Command {
	return newQueryCommand(question[client.BurstList, telemetry.Burst]{
		name:  "bursts",
		takes: " [ID]",
		short: "list times during which a queue was long, who made it so and who waited",
		long: `Bursts lists times during which a queue was long, the latest first: microbursts and incasts. CULPRITS are the flows that
filled the queue, VICTIMS those that waited in it, and DELAY is the longest that a packet waited. COMPLETE says how much of
the bytes telemetry saw. With the ID of a burst, which is that of its event, that one is drawn: how long the queue was
over time and who was in it, then who filled it and who waited.`,
		example: `  waybill bursts
  waybill bursts --node leaf4 --order peak -o wide
  waybill bursts --group-by node,port --since 1h --sort drops
  waybill bursts 3a0c64b6f1e0a7d2
  waybill bursts -o json | jq '.bursts[] | select(.drops > 0) | {start, node, port, culprits}'`,
		filters: func(cmd *cobra.Command, q *client.Query) {
			addNodeFilter(cmd, q)
			f := cmd.Flags()
			f.StringVar(&q.Order, "order", burstOrders[0], "list by `ORDER`, the largest first: last, peak, duration or drops")
			f.BoolVar(&q.Incast, "incast", false, "only bursts to which many senders came together")
			_ = cmd.RegisterFlagCompletionFunc("order", cobra.FixedCompletions(burstOrders, cobra.ShellCompDirectiveNoFileComp))
		},
		ask:  (*client.Client).Bursts,
		one:  printBurst,
		open: func(l *client.BurstList) (client.Head, []telemetry.Burst) { return l.Head, l.Bursts },
		grouped: pastOf((*client.Client).BurstGroups, func(l *client.BurstGroups) (client.Head, client.Frame, []client.BurstGroup) {
			return l.Head, client.Frame{}, l.Bursts
		}),
		state: func(b *telemetry.Burst) string { return b.ID },
		first: func(b *telemetry.Burst) time.Time { return b.Start },
		none:  "no bursts yet: no queue was long, or reports do not say how long queues were, with egress port and 64 bit timestamps",
		columns: []tableColumn[telemetry.Burst]{
			{title: "ID", cell: func(_ *view, b *telemetry.Burst) Cell { return PlainCell(b.ID) }},
			{title: "STARTED", cell: func(v *view, b *telemetry.Burst) Cell { return v.age(b.Start) }},
			{title: "LASTED", right: true, cell: func(v *view, b *telemetry.Burst) Cell { return PlainCell(v.duration(float64(b.DurationNs))) }},
			{title: "NODE", cell: func(_ *view, b *telemetry.Burst) Cell { return PlainCell(nodeText(&b.Node, b.Name)) }},
			{title: "PORT", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return countCell(uint64(b.Port)) }},
			{title: "QUEUE", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return countCell(uint64(b.Queue)) }},
			{title: "PEAK", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return PlainCell(size(b.PeakBytes)) }},
			{title: "DELAY", right: true, cell: func(v *view, b *telemetry.Burst) Cell { return PlainCell(v.duration(float64(b.PeakDelayNs))) }},
			{title: "PACKETS", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return countCell(b.Packets) }},
			{title: "BYTES", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return PlainCell(size(b.Bytes)) }},
			{title: "DROPS", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return badCell(b.Drops) }},
			{title: "SENDERS", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return countCell(uint64(b.Sources)) }},
			{title: "INCAST", cell: func(_ *view, b *telemetry.Burst) Cell { return PlainCell(yes(b.Incast)) }},
			{title: "COMPLETE", wide: true, right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return PlainCell(percentText(b.Complete)) }},
			{title: "CULPRITS", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return countCell(uint64(len(b.Culprits))) }},
			{title: "VICTIMS", right: true, cell: func(_ *view, b *telemetry.Burst) Cell { return countCell(uint64(len(b.Victims))) }},
			{title: "FIRST CULPRIT", cell: func(_ *view, b *telemetry.Burst) Cell {
				if len(b.Culprits) == 0 {
					return PlainCell(unknown)
				}
				return PlainCell(percentText(b.Culprits[0].Share) + " " + flowText(b.Culprits[0].Flow, unkeptFlow))
			}},
		},
		fields: []csvField[telemetry.Burst]{
			{"id", func(b *telemetry.Burst) string { return b.ID }},
			{"node", func(b *telemetry.Burst) string { return csvUint(b.Node) }},
			{"name", func(b *telemetry.Burst) string { return b.Name }},
			{"port", func(b *telemetry.Burst) string { return csvUint(b.Port) }},
			{"queue", func(b *telemetry.Burst) string { return csvUint(b.Queue) }},
			{"start", func(b *telemetry.Burst) string { return csvTime(b.Start) }},
			{"peak", func(b *telemetry.Burst) string { return csvTime(b.Peak) }},
			{"end", func(b *telemetry.Burst) string { return csvTime(b.End) }},
			{"duration_ns", func(b *telemetry.Burst) string { return csvUint(b.DurationNs) }},
			{"peak_bytes", func(b *telemetry.Burst) string { return csvUint(b.PeakBytes) }},
			{"peak_delay_ns", func(b *telemetry.Burst) string { return csvUint(b.PeakDelayNs) }},
			{"packets", func(b *telemetry.Burst) string { return csvUint(b.Packets) }},
			{"bytes", func(b *telemetry.Burst) string { return csvUint(b.Bytes) }},
			{"drops", func(b *telemetry.Burst) string { return csvUint(b.Drops) }},
			{"complete", func(b *telemetry.Burst) string { return strconv.FormatFloat(b.Complete, 'g', 4, 64) }},
			{"sources", func(b *telemetry.Burst) string { return strconv.Itoa(b.Sources) }},
			{"main_sources", func(b *telemetry.Burst) string { return strconv.Itoa(b.MainSources) }},
			{"incast", func(b *telemetry.Burst) string { return strconv.FormatBool(b.Incast) }},
			{"culprits", func(b *telemetry.Burst) string { return strconv.Itoa(len(b.Culprits)) }},
			{"victims", func(b *telemetry.Burst) string { return strconv.Itoa(len(b.Victims)) }},
			{"first_culprit", func(b *telemetry.Burst) string {
				if len(b.Culprits) == 0 {
					return ""
				}
				return flowText(b.Culprits[0].Flow, "")
			}},
		},
	})
}

// unkeptFlow stands for a flow that the server does not know any more.
const unkeptFlow = "a flow that is not kept"

func yes(is bool) string {
	if is {
		return "yes"
	}
	return ""
}

// printBurst prints one burst.
func printBurst(c *queryCommand[client.BurstList, telemetry.Burst], ctx context.Context, id string) error {
	answer, err := c.client.Burst(ctx, id)
	if err != nil {
		return c.explain(err)
	}
	c.view.now = answer.GeneratedAt
	switch c.output {
	case "json":
		return command.Quiet(writeJSON(c.stdout, answer))
	case "csv":
		return command.Quiet(writeCSV(c.stdout, burstPointFields(&answer.Burst), answer.Burst.Timeline, true))
	}
	return command.Quiet(drawBurst(c.stdout, &c.view, &answer.Burst))
}
