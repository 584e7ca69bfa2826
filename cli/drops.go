package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newDropsCommand() *cobra.Command { return newQueryCommand(dropsQuestion()) }

func dropsQuestion() question[client.DropList, client.Drop] {
	return question[client.DropList, client.Drop]{
		name:  "drops",
		short: "list where packets were dropped, and why",
		long:  `Drops lists the places where packets were dropped, with the reason that the device gave, the most frequent first.`,
		example: `  waybill drops
  waybill drops --node leaf1
  waybill drops --reason acl_deny -o json`,
		flags: []fieldFlag{
			nodeFlag,
			{"reason", "only drops for this `REASON`, name or number", "reason = %s", "reason_name = %s"},
		},
		open: func(l *client.DropList) (client.Head, []client.Drop) { return l.Head, l.Drops },
		past: pastOf(func(l *client.DropHistory) (client.Head, client.Frame, []client.DropRecord) {
			return l.Head, l.Frame, l.Drops
		}),
		state: func(d *client.Drop) string {
			return fmt.Sprint(numberText(d.Node, unknown), " ", numberText(d.IngressPort, unknown), " ",
				numberText(d.EgressPort, unknown), " ", d.Reason, " ", d.DropKey)
		},
		first: func(d *client.Drop) time.Time { return d.First },
		none:  "no drops were reported: nothing was dropped, or no device is set up to report drops",
		cells: map[string]func(*view, *client.Drop) Cell{
			"last_flow.src": func(_ *view, d *client.Drop) Cell { return PlainCell(flowText(d.LastFlow, unknown)) },
		},
	}
}
