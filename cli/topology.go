package cli

import (
	"cmp"
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/waybill-int/waybill/api/client"
)

// A topologyRow is a node, or a port of the node above it.
type topologyRow struct {
	node    *client.TopologyNode
	port    *client.NodePort // nil: the node itself
	last    bool             // of the ports of its node
	behind  string
	packets uint64
	seen    [2]time.Time // first and last
}

// shownHosts is how many hosts are named behind a port.
const shownHosts = 4

func newTopologyCommand() *cobra.Command {
	return newQueryCommand(question[client.Topology, topologyRow]{
		name:  "topology",
		short: "show the nodes, their ports, and what is behind each",
		long: `Topology shows the nodes with their ports, and behind each port the node or the hosts that packets came from or went to. It is
what packets showed: a link without packets is not in it, and neither is a switch that tells nothing of itself.`,
		example: `  waybill topology
  waybill topology --watch 2s
  waybill topology --follow --filter 'name like "leaf%"'
  waybill topology --at 2026-11-17T09:00:00Z
  waybill topology -o json | jq '.hosts[] | select(.places | length > 1)'`,
		ask: func(c *client.Client, ctx context.Context, q client.Query) (*client.Topology, error) {
			return client.Get[client.Topology](ctx, c, "topology",
				client.Query{At: q.At, Since: q.Since, Until: q.Until, Filter: q.Filter})
		},
		attached: true,
		rows:     "ports",
		open:     topologyRows,
		state:    (*topologyRow).state,
		first:    func(r *topologyRow) time.Time { return r.seen[0] },
		object: func(r *topologyRow) any {
			if r.port != nil {
				return nil // its node has it
			}
			return r.node
		},
		none: "no nodes yet: the reports that arrived name no node",
		columns: []tableColumn[topologyRow]{
			{title: "NODE", cell: func(v *view, r *topologyRow) Cell {
				if r.port == nil {
					return Cell{nodeText(&r.node.ID, r.node.Name), bold}
				}
				if v.alone {
					return PlainCell(nodeText(&r.node.ID, r.node.Name) + " " + portText(&r.port.Port, r.port.PortName))
				}
				branch := v.pick("├─ ", "|- ")
				if r.last {
					branch = v.pick("└─ ", "`- ")
				}
				return PlainCell(branch + cmp.Or(r.port.PortName, uintText(r.port.Port)))
			}},
			{title: "BEHIND", cell: func(_ *view, r *topologyRow) Cell { return PlainCell(r.behind) }},
			{title: "SPEED", wide: true, right: true, cell: func(_ *view, r *topologyRow) Cell {
				return PlainCell(r.ofPort(func(p *client.NodePort) string {
					if p.Speed == 0 {
						return unknown
					}
					return bitRate(p.Speed)
				}))
			}},
			{title: "PACKETS", right: true, cell: func(_ *view, r *topologyRow) Cell { return countCell(r.packets) }},
			{title: "IN", wide: true, right: true, cell: func(_ *view, r *topologyRow) Cell {
				return PlainCell(r.ofPort(func(p *client.NodePort) string { return uintText(p.Received) }))
			}},
			{title: "OUT", wide: true, right: true, cell: func(_ *view, r *topologyRow) Cell {
				return PlainCell(r.ofPort(func(p *client.NodePort) string { return uintText(p.Sent) }))
			}},
			{
				title: "USE", wide: true, right: true,
				cell: func(_ *view, r *topologyRow) Cell { return PlainCell(r.use()) },
			},
			{title: "COUNTED IN", wide: true, right: true, cell: func(_ *view, r *topologyRow) Cell {
				return PlainCell(r.ofPort(func(p *client.NodePort) string {
					c := cmp.Or(p.Counters, &client.PortCounters{})
					return countedText(c.InBPS, c.InUse, c.InDiscards, c.InErrors)
				}))
			}},
			{title: "COUNTED OUT", wide: true, right: true, cell: func(_ *view, r *topologyRow) Cell {
				return PlainCell(r.ofPort(func(p *client.NodePort) string {
					c := cmp.Or(p.Counters, &client.PortCounters{})
					return countedText(c.OutBPS, c.OutUse, c.OutDiscards, c.OutErrors)
				}))
			}},
			{title: "FIRST SEEN", wide: true, cell: func(v *view, r *topologyRow) Cell { return v.age(r.seen[0]) }},
			{title: "LAST SEEN", cell: func(v *view, r *topologyRow) Cell { return v.age(r.seen[1]) }},
		},
	})
}

// state says what is attached: of a port what is behind it, of a node all of that.
func (r *topologyRow) state() string {
	text := fmt.Sprint(r.node.ID)
	for i := range r.node.Ports {
		if p := &r.node.Ports[i]; r.port == nil || r.port == p {
			text += fmt.Sprintf(" %d>%s:%s,%d", p.Port, numberText(p.ToNode, unknown), numberText(p.ToPort, unknown),
				p.Hosts)
		}
	}
	if r.port != nil {
		text = "port of " + text + " " + r.behind
	}
	return text
}

// ofPort returns a text about the port, if the row is one.
func (r *topologyRow) ofPort(text func(*client.NodePort) string) string {
	if r.port == nil {
		return ""
	}
	return text(r.port)
}

// use returns the utilization of the port: the latest, or of the past the mean.
func (r *topologyRow) use() string {
	if r.port == nil {
		return ""
	}
	return useText(r.port.Utilization)
}

// portOf returns a port, 0 if it is not known.
func portOf(p *uint32) uint32 {
	if p == nil {
		return 0
	}
	return *p
}

// topologyRows makes a table of a topology: nodes, and below each its ports.
func topologyRows(t *client.Topology) (client.Head, []topologyRow) {
	type place struct{ node, port uint32 }
	hosts := map[place][]string{}
	for i := range t.Hosts {
		h := &t.Hosts[i]
		if at := &h.Places[0]; at.Port != nil {
			k := place{at.Node, *at.Port}
			hosts[k] = append(hosts[k], cmp.Or(h.HostName, h.Address.String()))
		}
	}
	names := map[place]string{}
	for i := range t.Nodes {
		for j := range t.Nodes[i].Ports {
			p := &t.Nodes[i].Ports[j]
			names[place{t.Nodes[i].ID, p.Port}] = p.PortName
		}
	}
	var rows []topologyRow
	for i := range t.Nodes {
		n := &t.Nodes[i]
		rows = append(rows, topologyRow{node: n, packets: n.Packets, seen: [2]time.Time{n.First, n.Last}})
		for j := range n.Ports {
			p := &n.Ports[j]
			row := topologyRow{
				node: n, port: p, last: j == len(n.Ports)-1, packets: p.Received + p.Sent,
				seen: [2]time.Time{p.First, p.Last},
			}
			switch behind := hosts[place{n.ID, p.Port}]; {
			case p.ToNode != nil:
				row.behind = nodeText(p.ToNode, p.ToName) + " " +
					portText(p.ToPort, names[place{*p.ToNode, portOf(p.ToPort)}])
			case len(behind) > shownHosts:
				row.behind = fmt.Sprintf("%s and %d more", strings.Join(behind[:shownHosts], ", "),
					len(behind)-shownHosts)
			default:
				row.behind = strings.Join(behind, ", ")
			}
			rows = append(rows, row)
		}
	}
	head := t.Head
	head.Total = len(rows)
	return head, rows
}
