package cli

import (
	"fmt"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newLinksCommand() *cobra.Command { return newQueryCommand(linksQuestion()) }

func linksQuestion() question[client.LinkList, client.Link] {
	return question[client.LinkList, client.Link]{
		name:  "links",
		short: "list the links between nodes, as paths show them",
		long: `Links lists the links between nodes: two nodes that packets passed one after the other, with the ports that joined them.
DELAY is the time from when a packet leaves the one to when it comes to the other, of the last one to two minutes, without what
their clocks differ; it is not wrong by more than WITHIN. ROUND TRIP is what the quickest packets of both directions took together, of
links that packets use in both: the clocks cancel out, so that it is known far better. With -o wide half of it is HALF TRIP, it is not
wrong by more than TRIP WITHIN, DELAY UNKNOWN says why a delay is not known, and USE how much the egress port is in
use, as nodes tell it: hundredths of a percent unless a device is set otherwise, the latest, and the highest so far. LOSS is the share
of its packets that a link lost in the last minute without a reason that a node tells; with -o wide, the share is AT LEAST and AT
MOST what stands there, and where it cannot be known, why.`,
		example: `  waybill links
  waybill links --node leaf1
  waybill links -o csv > links.csv`,
		flags:    []fieldFlag{nodeFlag},
		attached: true,
		open:     func(l *client.LinkList) (client.Head, []client.Link) { return l.Head, l.Links },
		past: pastOf(func(l *client.LinkHistory) (client.Head, client.Frame, []client.LinkRecord) {
			return l.Head, l.Frame, l.Links
		}),
		state: linkState,
		first: func(l *client.Link) time.Time { return l.First },
		none:  "no links yet: a link shows when reports name two nodes, one after the other, that a packet passed",
		cells: map[string]func(*view, *client.Link) Cell{
			"confidence":           func(_ *view, l *client.Link) Cell { return PlainCell(shareText(l.Confidence)) },
			"delay.uncertainty_ns": func(v *view, l *client.Link) Cell { return PlainCell(v.delayWithin(l.Delay)) },
		},
	}
}

// linkState tells links apart.
func linkState(l *client.Link) string {
	return fmt.Sprint(l.From, " ", numberText(l.FromPort, unknown), " ", l.To, " ", numberText(l.ToPort, unknown))
}
