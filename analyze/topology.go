package analyze

import (
	"time"

	"github.com/waybill-int/waybill/analyze/portcount"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Topology returns nodes with their ports and what is behind these, links, and hosts: all that paths show.
func (c *Collector) Topology() telemetry.Topology { return c.topology(false) }

// Ports is Topology with the nodes and ports too that only counters of devices tell of.
func (c *Collector) Ports() telemetry.Topology { return c.topology(true) }

func (c *Collector) topology(counted bool) telemetry.Topology {
	t := telemetry.Topology{Links: c.Links()}
	t.Hosts, t.HostsLeftOut = c.Hosts()
	paths := c.mergedPaths()
	b := topology.NewBuilder(c.Names(), c.utilizationUnits(paths))
	for _, p := range paths {
		for i := range p.hops {
			if p.hops[i].Has&telemetry.HasNode != 0 {
				addToNode(b, p, &p.hops[i])
			}
		}
	}
	for _, p := range c.countedPorts() {
		b.Counted(p.Node, p.Port, &p.PortCounters, counted)
	}
	b.Finish(&t)
	return t
}

// countedPorts returns what devices count at their ports.
func (c *Collector) countedPorts() (list []portcount.Port) {
	for _, s := range c.Owners {
		list = append(list, s.countedPorts()...)
	}
	return list
}

// countedPorts returns what devices count at their ports.
func (s *Shard) countedPorts() []portcount.Port {
	s.mu.Lock()
	nowNs := s.lastNs
	s.mu.Unlock()
	return s.counted.Ports(&s.mu, nowNs)
}

// addToNode adds what a path tells of a node.
func addToNode(b *topology.Builder, p *path, h *pathHop) {
	first, last := time.Unix(0, p.first).UTC(), time.Unix(0, p.last).UTC()
	n := b.Node(h.Node, first, last)
	n.Packets += p.packets + p.incomplete
	if h.Has&telemetry.HasIngressPort != 0 {
		n.Port(h.In, first, last).Received += p.packets + p.incomplete
	}
	if h.Has&telemetry.HasEgressPort == 0 || h.Has&telemetry.HasDrop != 0 {
		return
	}
	port := n.Port(h.Out, first, last)
	port.Sent += p.packets + p.incomplete
	port.Use.MergeUse(&h.utilization)
}
