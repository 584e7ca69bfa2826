package api

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

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
