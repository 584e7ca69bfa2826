package analyze

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Topology returns nodes with their ports and what is behind these, links, and hosts: all that paths show.
func (c *Collector) Topology() telemetry.Topology {
	t := telemetry.Topology{Links: c.Links()}
	t.Hosts, t.HostsLeftOut = c.Hosts()
	b := NewTopologyBuilder(c.Names)
	for _, p := range c.mergedPaths() {
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
	if u := &h.utilization; u.known {
		if port.Utilization == nil {
			port.Utilization = &telemetry.Utilization{}
		}
		port.Utilization.Max = max(port.Utilization.Max, u.max)
		if !last.Before(port.Last) {
			port.Utilization.Last = u.last
		}
	}
}

// A utilization is what a node says of the use of an egress port.
type utilization struct {
	last, max uint32
	known     bool
}

func (u *utilization) add(v uint32) {
	u.last, u.max, u.known = v, max(u.max, v), true
}

func (u *utilization) merge(o *utilization) {
	if o.known {
		u.last, u.max, u.known = o.last, max(u.max, o.max), true
	}
}
