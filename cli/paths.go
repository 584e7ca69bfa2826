package cli

import (
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

func newPathsCommand() *cobra.Command {
	return newQueryCommand(question[client.PathList, client.Path]{
		name:  "paths",
		short: "list the paths that packets took, with the latency of each hop",
		long: `Paths lists the paths that packets took, the most used first. Behind each node stand the median and the 99th percentile
of how long packets stayed in it; RESIDENCE is their sum over the hops. ?(2) are two nodes that sent nothing, a path that
ends in a cross is one of packets that were dropped. With -o wide the ports are shown: (in)node(out).
? is a place where nobody knows how many nodes are missing. Packets of which some postcards did not come are told behind the path,
and so is it if its beginning, middle or end is not known: then it is a part of a path. SAMPLE says which packets the times are of:
all, 1 in N, some, or those that nodes report on event; then no mean and no percentile is that of all packets.`,
		example: `  waybill paths
  waybill paths --node leaf1 -o wide
  waybill paths --path 5a90a9c2a8d95cb7 -o json`,
		flags: []fieldFlag{nodeFlag, {"path", "only the path with this `ID`", "id = %s", ""}},
		open:  func(l *client.PathList) (client.Head, []client.Path) { return l.Head, l.Paths },
		past: pastOf(func(l *client.PathHistory) (client.Head, client.Frame, []client.PathRecord) {
			return l.Head, l.Frame, l.Paths
		}),
		state: func(p *client.Path) string { return p.ID },
		first: func(p *client.Path) time.Time { return p.First },
		none:  "no paths yet: the reports that arrived tell of no hop",
		cells: map[string]func(*view, *client.Path) Cell{
			"delay.uncertainty_ns": func(v *view, p *client.Path) Cell { return PlainCell(v.delayWithin(p.Delay)) },
			"hops": func(v *view, p *client.Path) Cell {
				c := v.path(p.Hops, true)
				if len(p.Unknown) > 0 {
					c.text += " (" + strings.Join(p.Unknown, ", ") + " unknown)"
				}
				if p.Uncertain {
					c.text += " (order uncertain)"
				}
				if p.Incomplete > 0 {
					c.text += " (postcards of " + strconv.FormatUint(p.Incomplete, 10) + " more packets incomplete)"
				}
				return c
			},
		},
	})
}

// path returns hops as one line: s1 → s2 → ?(2) → s5 ✗.
func (v *view) path(hops []client.PathHop, latencies bool) Cell {
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
func (v *view) hop(h *client.PathHop) string {
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

func missingText(h *client.PathHop) string { return "?(" + strconv.Itoa(h.Missing) + ")" }
