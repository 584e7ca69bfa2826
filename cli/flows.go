package cli

import (
	"cmp"
	"context"
	"fmt"
	"net/netip"
	"reflect"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
	"github.com/waybill-int/waybill/telemetry/catalogue"
)

// flowOrders are what a server sorts flows of now by, of which there are too many for others.
var flowOrders = func() []string {
	names := []string{"latency"}
	for _, field := range []string{
		"Last", "Packets", "Drops", "First", "Bytes", "Reports", "PathChanges", "Residence.Mean", "Residence.Min",
		"Residence.P50", "Residence.P99", "Residence.Max", "EndToEnd.Mean",
	} {
		names = append(names, catalogue.NameOf(reflect.TypeFor[client.Flow](), field))
	}
	return names
}()

func newFlowsCommand() *cobra.Command { return newQueryCommand(flowsQuestion()) }

func flowsQuestion() question[client.FlowList, client.Flow] {
	return question[client.FlowList, client.Flow]{
		name:  "flows",
		short: "list flows and the path that each takes",
		long: `Flows lists flows: what telemetry saw of their packets, and the path that the latest of them took. RESIDENCE is the sum of
the time that a packet stayed in the nodes. ?(2) are two nodes that sent nothing; a path that ends in a cross is one of
packets that were dropped. With -o wide ports are shown, (in)node(out), and the median and the 99th percentile of each hop.`,
		example: `  waybill flows
  waybill flows --sort latency --limit 10
  waybill flows --src 10.0.1.0/24 --port 443 --protocol tcp -o wide
  waybill flows --sort drops --watch 2s
  waybill flows -o json | jq '.flows[] | select(.drops > 0)'`,
		flags: []fieldFlag{
			nodeFlag,
			{"src", "only flows from this `ADDRESS` or prefix", "src in %s", ""},
			{"dst", "only flows to this `ADDRESS` or prefix", "dst in %s", ""},
			{"port", "only flows with this `PORT` at either end", "port = %s", ""},
			{"protocol", "only flows of this `PROTOCOL`, name or number", "protocol = %s", ""},
			{"outer-src", "only flows in a tunnel from this `ADDRESS` or prefix", "outer.src in %s", ""},
			{"outer-dst", "only flows in a tunnel to this `ADDRESS` or prefix", "outer.dst in %s", ""},
		},
		filters: func(cmd *cobra.Command, q *client.Query) {
			cmd.Flags().StringVar(&q.OuterPort, "outer-port", "",
				"only flows in a tunnel with this `PORT` at either end")
		},
		orders: flowOrders,
		open:   func(l *client.FlowList) (client.Head, []client.Flow) { return l.Head, l.Flows },
		past: pastOf(func(l *client.FlowHistory) (client.Head, client.Frame, []client.FlowRecord) {
			return l.Head, l.Frame, l.Flows
		}, recordCells[client.FlowRecord]{
			"src": func(_ *view, r *client.FlowRecord) Cell { return recordEnd(r.Src, r.SrcPort) },
			"dst": func(_ *view, r *client.FlowRecord) Cell { return recordEnd(r.Dst, r.DstPort) },
		}),
		state: func(f *client.Flow) string { return latest(f).ID },
		live: &live[client.Flow]{
			open: func(c *client.Client, ctx context.Context, q client.Query, s client.Stream[client.Flow]) error {
				q.Limit = followAll
				return c.StreamFlows(ctx, q, s)
			},
			id: func(f *client.Flow) string { return f.ID },
		},
		none: "no flows yet: the reports that arrived do not say which flow they are about",
		cells: map[string]func(*view, *client.Flow) Cell{
			"src": func(_ *view, f *client.Flow) Cell { return PlainCell(namedEnd(f.SrcName, f.Src, f.SrcPort)) },
			"dst": func(_ *view, f *client.Flow) Cell { return PlainCell(namedEnd(f.DstName, f.Dst, f.DstPort)) },
			"tunnel": func(_ *view,
				f *client.Flow,
			) Cell {
				return PlainCell(cmp.Or(tunnelText(&f.Endpoints), unknown))
			},
			"end_to_end_ns.mean": func(v *view, f *client.Flow) Cell { return PlainCell(v.endToEnd(f)) },
			"paths": func(v *view, f *client.Flow) Cell {
				if len(f.Paths) == 0 {
					return PlainCell(unknown)
				}
				return v.path(f.Paths[0].Hops, v.wide)
			},
		},
	}
}

// namedEnd returns "h4:5001" where a host has a name.
func namedEnd(name string, addr netip.Addr, port uint16) string {
	switch {
	case name == "":
		return endText(addr, port)
	case port == 0:
		return name
	}
	return fmt.Sprint(name, ":", port)
}

// recordEnd shows an end of a flow of the past, as far as it is known.
func recordEnd(addr *netip.Addr, port *uint16) Cell {
	switch {
	case addr == nil:
		return PlainCell(unknown)
	case port == nil:
		return PlainCell(addr.String())
	}
	return PlainCell(endText(*addr, *port))
}

// latest returns the path that the latest packet of a flow took.
func latest(f *client.Flow) client.FlowPath {
	if len(f.Paths) == 0 {
		return client.FlowPath{}
	}
	return f.Paths[0]
}
