package analyze

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Topology returns nodes with their ports and what is behind these, links, and hosts: all that paths show.
func (c *Collector) Topology() telemetry.Topology {
	t := telemetry.Topology{Links: c.Links()}
	t.Hosts, t.HostsLeftOut = c.Hosts()
	paths := c.mergedPaths()
	b := NewTopologyBuilder(c.Names(), c.utilizationUnits(paths))
	for _, p := range paths {
		for i := range p.hops {
			if p.hops[i].has&telemetry.HasNode != 0 {
				b.take(p, &p.hops[i])
			}
		}
	}
	b.Finish(&t)
	return t
}

// take adds what a path tells of a node.
func (b *TopologyBuilder) take(p *path, h *pathHop) {
	first, last := time.Unix(0, p.first).UTC(), time.Unix(0, p.last).UTC()
	n := b.Node(h.node, first, last)
	n.Packets += p.packets + p.incomplete
	if h.has&telemetry.HasIngressPort != 0 {
		n.Port(h.in, first, last).Received += p.packets + p.incomplete
	}
	if h.has&telemetry.HasEgressPort == 0 || h.has&telemetry.HasDrop != 0 {
		return
	}
	port := n.Port(h.out, first, last)
	port.Sent += p.packets + p.incomplete
	port.use.merge(&h.utilization)
}
