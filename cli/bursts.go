package cli

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/internal/command"
)

// burstOrders are what a server sorts bursts by, beside their fields: a peak is the longest queue, and not when that
// was.
var burstOrders = append([]string{"last", "peak", "duration"}, orderNames[client.Burst]()...)

func newBurstsCommand() *cobra.Command {
	return newQueryCommand(question[client.BurstList, client.Burst]{
		name:  "bursts",
		takes: " [ID]",
		short: "list times during which a queue was long, who made it so and who waited",
		long: `Bursts lists times during which a queue was long, the latest first: microbursts and incasts. CULPRITS are the flows that
filled the queue, VICTIMS those that waited in it, PEAK is the longest queue in the unit that the device counts in, and DELAY the
longest that a packet waited. COMPLETE says how much of
the bytes telemetry saw. With the ID of a burst, which is that of its event, that one is drawn: how long the queue was
over time and who was in it, then who filled it and who waited.`,
		example: `  waybill bursts
  waybill bursts --node leaf4 --sort peak -o wide
  waybill bursts --group-by node,port --since 1h --sort drops
  waybill bursts 3a0c64b6f1e0a7d2
  waybill bursts -o json | jq '.bursts[] | select(.drops > 0) | {start, node, port, culprits}'`,
		flags: []fieldFlag{
			nodeFlag,
			{"incast", "only bursts to which many senders came together", "incast = true", ""},
		},
		orders: burstOrders,
		one:    printBurst,
		open:   func(l *client.BurstList) (client.Head, []client.Burst) { return l.Head, l.Bursts },
		grouped: pastOf(func(l *client.BurstGroups) (client.Head, client.Frame, []client.BurstGroup) {
			return l.Head, client.Frame{}, l.Bursts
		}),
		state: func(b *client.Burst) string { return b.ID },
		first: func(b *client.Burst) time.Time { return b.Start },
		none:  "no bursts yet: no queue was long, or reports do not say how long queues were, with egress port and 64 bit timestamps",
		lead:  []string{"id", "start", "duration_ns"},
		cells: map[string]func(*view, *client.Burst) Cell{
			"peak_bytes": func(_ *view, b *client.Burst) Cell { return PlainCell(peakText(b)) },
		},
		columns: []tableColumn[client.Burst]{{title: "FIRST CULPRIT", cell: func(_ *view, b *client.Burst) Cell {
			if len(b.Culprits) == 0 {
				return PlainCell(unknown)
			}
			return PlainCell(percentText(b.Culprits[0].Share) + " " + flowText(b.Culprits[0].Flow, unkeptFlow))
		}}},
	})
}

// peakText is the longest queue of a burst with its unit: of one that was stored without, or measured by what packets
// waited, what there is.
func peakText(b *client.Burst) string {
	switch {
	case b.PeakDepth > 0:
		return depthText(b, b.PeakDepth)
	case b.PeakBytes != nil && *b.PeakBytes > 0:
		return size(*b.PeakBytes)
	}
	return unknown
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
func printBurst(c *queryCommand[client.BurstList, client.Burst], ctx context.Context, id string) error {
	answer, err := client.Item[client.BurstAnswer](ctx, c.client, "bursts", id)
	if err != nil {
		return c.explain(err)
	}
	c.view.now = answer.GeneratedAt
	switch c.output {
	case "json", "yaml":
		return command.Quiet(WriteDocument(c.stdout, c.output, answer))
	case "csv":
		return command.Quiet(writeBurstPoints(c.stdout, &answer.Burst))
	}
	return command.Quiet(drawBurst(c.stdout, &c.view, &answer.Burst))
}
