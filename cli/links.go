package cli

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry"
)

func newLinksCommand() *cobra.Command { return newQueryCommand(linksQuestion()) }

func linksQuestion() question[client.LinkList, telemetry.Link] {
	return question[client.LinkList, telemetry.Link]{
		name:  "links",
		short: "list the links between nodes, as paths show them",
		long: `Links lists the links between nodes: two nodes that packets passed one after the other, with the ports that joined them.
DELAY is the time from when a packet leaves the one to when it comes to the other, of the last one to two minutes, without what
their clocks differ; it is not wrong by more than WITHIN. With -o wide it says why it is not known, and how much the egress port is in
use, as nodes tell it: hundredths of a percent unless a device is set otherwise, the latest, and the highest so far.`,
		example: `  waybill links
  waybill links --node leaf1
  waybill links -o csv > links.csv`,
		filters:  addNodeFilter,
		attached: true,
		ask:      (*client.Client).Links,
		open:     func(l *client.LinkList) (client.Head, []telemetry.Link) { return l.Head, l.Links },
		past: pastOf((*client.Client).LinkHistory, func(l *client.LinkHistory) (client.Head, client.Frame, []client.LinkRecord) {
			return l.Head, l.Frame, l.Links
		}),
		state: linkState,
		first: func(l *telemetry.Link) time.Time { return l.First },
		none:  "no links yet: a link shows when reports name two nodes, one after the other, that a packet passed",
		columns: []tableColumn[telemetry.Link]{
			{title: "FROM", cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(nodeText(&l.From, l.FromName)) }},
			{title: "PORT", right: true, cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(numberText(l.FromPort, unknown)) }},
			{title: "TO", cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(nodeText(&l.To, l.ToName)) }},
			{title: "PORT", right: true, cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(numberText(l.ToPort, unknown)) }},
			{title: "PACKETS", right: true, cell: func(_ *view, l *telemetry.Link) Cell { return countCell(l.Packets) }},
			{title: "DELAY MIN", wide: true, right: true, cell: func(v *view, l *telemetry.Link) Cell { return PlainCell(v.least(known(l.Delay))) }},
			{title: "MEAN", wide: true, right: true, cell: func(v *view, l *telemetry.Link) Cell { return PlainCell(v.mean(known(l.Delay))) }},
			{title: "DELAY P50", right: true, cell: func(v *view, l *telemetry.Link) Cell { return PlainCell(v.p50(known(l.Delay))) }},
			{title: "P99", right: true, cell: func(v *view, l *telemetry.Link) Cell { return PlainCell(v.p99(known(l.Delay))) }},
			{title: "WITHIN", right: true, cell: func(v *view, l *telemetry.Link) Cell { return PlainCell(v.delayWithin(l.Delay)) }},
			{title: "DELAY UNKNOWN", wide: true, cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(delayNote(l.Delay)) }},
			{title: "USE", wide: true, right: true, cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(cmp.Or(useText(l.Utilization), unknown)) }},
			{title: "USE MAX", wide: true, right: true, cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(cmp.Or(useMax(l.Utilization), unknown)) }},
			{title: "SURE", wide: true, right: true, cell: func(_ *view, l *telemetry.Link) Cell { return PlainCell(shareText(l.Confidence)) }},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, l *telemetry.Link) Cell { return v.age(l.First) }},
			{title: "LAST SEEN", cell: func(v *view, l *telemetry.Link) Cell { return v.age(l.Last) }},
		},
		fields: slices.Concat([]csvField[telemetry.Link]{
			{"from", func(l *telemetry.Link) string { return csvUint(l.From) }},
			{"from_name", func(l *telemetry.Link) string { return l.FromName }},
			{"from_port", func(l *telemetry.Link) string { return numberText(l.FromPort, "") }},
			{"to", func(l *telemetry.Link) string { return csvUint(l.To) }},
			{"to_name", func(l *telemetry.Link) string { return l.ToName }},
			{"to_port", func(l *telemetry.Link) string { return numberText(l.ToPort, "") }},
			{"packets", func(l *telemetry.Link) string { return csvUint(l.Packets) }},
			{"confidence", func(l *telemetry.Link) string { return csvFloat(l.Confidence) }},
		}, delayFields(func(l *telemetry.Link) *telemetry.Delay { return l.Delay }), useFields(func(l *telemetry.Link) *telemetry.Utilization { return l.Utilization }), []csvField[telemetry.Link]{
			{"first", func(l *telemetry.Link) string { return csvTime(l.First) }},
			{"last", func(l *telemetry.Link) string { return csvTime(l.Last) }},
		}),
	}
}

// linkState tells links apart.
func linkState(l *telemetry.Link) string {
	return fmt.Sprint(l.From, " ", numberText(l.FromPort, unknown), " ", l.To, " ", numberText(l.ToPort, unknown))
}
