package api

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// topologyTable is for filters of the nodes of a topology.
var topologyTable = filter.NewTable(mustSchema("topology", append([]filter.Field{
	{Name: "node", Aliases: []string{"id"}, Kind: filter.Node, Doc: "the node"},
	{Name: "name", Kind: filter.Text, Doc: "its name, if it has one"},
	{Name: "packets", Kind: filter.Uint, Doc: "packets on paths through it"},
	{Name: "port", Kind: filter.Uint, Many: true, Doc: "each of its ports"},
	{Name: "to", Kind: filter.Node, Many: true, Doc: "each node behind its ports"},
}, seenFields()...)...),
	map[string]filter.ValueOf[telemetry.TopologyNode]{
		"node":    filter.Number(func(n *telemetry.TopologyNode) uint32 { return n.ID }),
		"name":    filter.MaybeText(func(n *telemetry.TopologyNode) string { return n.Name }),
		"packets": filter.Number(func(n *telemetry.TopologyNode) uint64 { return n.Packets }),
		"port": func(n *telemetry.TopologyNode, i int) (filter.Value, bool) {
			if i >= len(n.Ports) {
				return filter.Value{}, false
			}
			return filter.FromUint(uint64(n.Ports[i].Port)), true
		},
		"to": func(n *telemetry.TopologyNode, i int) (filter.Value, bool) {
			for _, p := range n.Ports {
				if p.ToNode == nil {
					continue
				}
				if i == 0 {
					return filter.FromUint(uint64(*p.ToNode)), true
				}
				i--
			}
			return filter.Value{}, false
		},
		"first": filter.At(func(n *telemetry.TopologyNode) time.Time { return n.First }),
		"last":  filter.At(func(n *telemetry.TopologyNode) time.Time { return n.Last }),
	})

// selectNodes keeps of t the nodes that match, and the links and hosts at them. It changes the lists of t.
func selectNodes(t *telemetry.Topology, match func(*telemetry.TopologyNode) bool) {
	kept := map[uint32]bool{}
	t.Nodes = slices.DeleteFunc(t.Nodes, func(n telemetry.TopologyNode) bool {
		kept[n.ID] = match(&n)
		return !kept[n.ID]
	})
	t.Links = slices.DeleteFunc(t.Links, func(l telemetry.Link) bool { return !kept[l.From] && !kept[l.To] })
	t.Hosts = slices.DeleteFunc(t.Hosts, func(h telemetry.Host) bool {
		return !slices.ContainsFunc(h.Places, func(at telemetry.HostPlace) bool { return kept[at.Node] })
	})
}
