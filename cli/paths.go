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

func newPathsCommand() *cobra.Command {
	return newQueryCommand(question[client.PathList, telemetry.Path]{
		name:  "paths",
		short: "list the paths that packets took, with the latency of each hop",
		long: `Paths lists the paths that packets took, the most used first. Behind each node stand the median and the 99th percentile
of how long packets stayed in it; RESIDENCE is their sum over the hops. ?(2) are two nodes that sent nothing, a path that
ends in a cross is one of packets that were dropped. With -o wide the ports are shown: (in)node(out).`,
		example: `  waybill paths
  waybill paths --node leaf1 -o wide
  waybill paths --path 5a90a9c2a8d95cb7 -o json`,
		filters: func(cmd *cobra.Command, q *client.Query) {
			addNodeFilter(cmd, q)
			cmd.Flags().StringVar(&q.Path, "path", "", "only the path with this `ID`")
		},
		ask:  (*client.Client).Paths,
		open: func(l *client.PathList) (client.Head, []telemetry.Path) { return l.Head, l.Paths },
		past: pastOf((*client.Client).PathHistory, func(l *client.PathHistory) (client.Head, client.Frame, []client.PathRecord) {
			return l.Head, l.Frame, l.Paths
		}),
		state: func(p *telemetry.Path) string { return p.ID },
		first: func(p *telemetry.Path) time.Time { return p.First },
		none:  "no paths yet: the reports that arrived tell of no hop",
		columns: []tableColumn[telemetry.Path]{
			{title: "ID", cell: func(_ *view, p *telemetry.Path) Cell { return PlainCell(p.ID) }},
			{title: "PACKETS", right: true, cell: func(_ *view, p *telemetry.Path) Cell { return countCell(p.Packets) }},
			{title: "FLOWS", right: true, cell: func(_ *view, p *telemetry.Path) Cell { return PlainCell(strconv.Itoa(p.Flows)) }},
			{title: "RESIDENCE P50", right: true, cell: func(v *view, p *telemetry.Path) Cell { return PlainCell(v.p50(p.Residence)) }},
			{title: "P99", right: true, cell: func(v *view, p *telemetry.Path) Cell { return PlainCell(v.p99(p.Residence)) }},
			{title: "END TO END P50", wide: true, right: true, cell: func(v *view, p *telemetry.Path) Cell { return PlainCell(v.p50(known(p.Delay))) }},
			{title: "P99", wide: true, right: true, cell: func(v *view, p *telemetry.Path) Cell { return PlainCell(v.p99(known(p.Delay))) }},
			{title: "WITHIN", wide: true, right: true, cell: func(v *view, p *telemetry.Path) Cell { return PlainCell(v.delayWithin(p.Delay)) }},
			{title: "CLOCK ERRORS", wide: true, right: true, cell: func(_ *view, p *telemetry.Path) Cell { return badCell(p.ClockErrors) }},
			{title: "LAST SEEN", cell: func(v *view, p *telemetry.Path) Cell { return v.age(p.Last) }},
			{title: "PATH", cell: func(v *view, p *telemetry.Path) Cell {
				c := v.path(p.Hops, true)
				if p.Uncertain {
					c.text += " (order uncertain)"
				}
				return c
			}},
		},
		fields: slices.Concat(
			[]csvField[telemetry.Path]{
				{"id", func(p *telemetry.Path) string { return p.ID }},
				{"packets", func(p *telemetry.Path) string { return csvUint(p.Packets) }},
				{"flows", func(p *telemetry.Path) string { return strconv.Itoa(p.Flows) }},
			},
			distributionFields("residence", func(p *telemetry.Path) *telemetry.Distribution { return p.Residence }),
			distributionFields("end_to_end", func(p *telemetry.Path) *telemetry.Distribution { return p.EndToEnd }),
			delayFields(func(p *telemetry.Path) *telemetry.Delay { return p.Delay }),
			[]csvField[telemetry.Path]{
				{"clock_errors", func(p *telemetry.Path) string { return csvUint(p.ClockErrors) }},
				{"uncertain", func(p *telemetry.Path) string { return strconv.FormatBool(p.Uncertain) }},
				{"first", func(p *telemetry.Path) string { return csvTime(p.First) }},
				{"last", func(p *telemetry.Path) string { return csvTime(p.Last) }},
				{"path", func(p *telemetry.Path) string { return csvPath(p.Hops) }},
				{"hops_p50_ns", func(p *telemetry.Path) string {
					return csvHops(p.Hops, func(d *telemetry.Distribution) uint64 { return d.P50 })
				}},
				{"hops_p99_ns", func(p *telemetry.Path) string {
					return csvHops(p.Hops, func(d *telemetry.Distribution) uint64 { return d.P99 })
				}},
			},
		),
	})
}

// path returns hops as one line: s1 → s2 → ?(2) → s5 ✗.
func (v *view) path(hops []telemetry.PathHop, latencies bool) Cell {
	var b strings.Builder
	c := Cell{}
	for i := range hops {
		h := &hops[i]
		if i > 0 {
			b.WriteString(v.pick(" → ", " -> "))
		}
		b.WriteString(v.hop(h))
		if latencies && h.LatencyNs != nil {
			b.WriteString(" " + v.p50(h.LatencyNs) + "/" + v.p99(h.LatencyNs))
		}
		if h.Dropped {
			b.WriteString(v.pick(" ✗", " x"))
			c.color = red
		}
	}
	c.text = b.String()
	return c
}

// hop returns a node, with its ports in a wide view.
func (v *view) hop(h *telemetry.PathHop) string {
	if h.Missing > 0 {
		return missingText(h)
	}
	text := nodeText(h.Node, h.Name)
	if v.wide {
		if h.IngressPort != nil {
			text = "(" + numberText(h.IngressPort, "") + ")" + text
		}
		if h.EgressPort != nil {
			text += "(" + numberText(h.EgressPort, "") + ")"
		}
	}
	return text
}

func missingText(h *telemetry.PathHop) string { return "?(" + strconv.Itoa(h.Missing) + ")" }

// csvPath returns hops as "s1>s2>?(2)>s5 x".
func csvPath(hops []telemetry.PathHop) string {
	texts := make([]string, len(hops))
	for i := range hops {
		h := &hops[i]
		texts[i] = nodeText(h.Node, h.Name)
		if h.Missing > 0 {
			texts[i] = missingText(h)
		}
		if h.Dropped {
			texts[i] += " x"
		}
	}
	return strings.Join(texts, ">")
}

// csvHops returns a value of each hop, separated by spaces, "-" where it is not known.
func csvHops(hops []telemetry.PathHop, get func(*telemetry.Distribution) uint64) string {
	texts := make([]string, len(hops))
	for i := range hops {
		texts[i] = unknown
		if d := hops[i].LatencyNs; hasQuantiles(d) {
			texts[i] = csvUint(get(d))
		}
	}
	return strings.Join(texts, " ")
}
