package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Topology returns nodes with their ports and what is behind these, links, and hosts: all that paths show.
func (c *Collector) Topology() telemetry.Topology {
	t := telemetry.Topology{Links: c.Links()}
	t.Hosts, t.HostsLeftOut = c.Hosts()
	nodes := map[uint32]*topologyNode{}
	for _, p := range c.mergedPaths() {
		for i := range p.hops {
			if p.hops[i].has&telemetry.HasNode == 0 {
				continue
			}
			id := p.hops[i].node
			if nodes[id] == nil {
				nodes[id] = &topologyNode{
					TopologyNode: telemetry.TopologyNode{ID: id, Name: c.Names[id], First: time.Unix(0, p.first).UTC()},
					ports:        map[uint32]*telemetry.NodePort{},
				}
			}
			nodes[id].take(p, &p.hops[i])
		}
	}
	// Of several links at a port the one that most packets show counts: a loop that went on after INT had no more room makes others.
	byPackets := slices.SortedStableFunc(slices.Values(t.Links), func(a, b telemetry.Link) int { return cmp.Compare(a.Packets, b.Packets) })
	for i := range byPackets {
		l := &byPackets[i]
		if nodes[l.From] == nil || nodes[l.To] == nil {
			continue // its paths gave way to others meanwhile
		}
		if l.FromPort != nil {
			port := nodes[l.From].port(*l.FromPort, l.First, l.Last)
			port.ToNode, port.ToName, port.ToPort = &l.To, l.ToName, l.ToPort
		}
		if l.ToPort != nil {
			port := nodes[l.To].port(*l.ToPort, l.First, l.Last)
			port.ToNode, port.ToName, port.ToPort = &l.From, l.FromName, l.FromPort
		}
	}
	for i := range t.Hosts {
		if at := &t.Hosts[i].Places[0]; at.Port != nil && nodes[at.Node] != nil {
			nodes[at.Node].port(*at.Port, at.First, at.Last).Hosts++
		}
	}
	t.Nodes = make([]telemetry.TopologyNode, 0, len(nodes))
	for _, n := range nodes {
		n.Ports = make([]telemetry.NodePort, 0, len(n.ports))
		for _, port := range n.ports {
			n.Ports = append(n.Ports, *port)
		}
		slices.SortFunc(n.Ports, func(a, b telemetry.NodePort) int { return cmp.Compare(a.Port, b.Port) })
		t.Nodes = append(t.Nodes, n.TopologyNode)
	}
	slices.SortFunc(t.Nodes, func(a, b telemetry.TopologyNode) int { return cmp.Compare(a.ID, b.ID) })
	return t
}

// A topologyNode is a node that is being put together.
type topologyNode struct {
	telemetry.TopologyNode
	ports map[uint32]*telemetry.NodePort
}

// take adds what a path tells of the node.
func (n *topologyNode) take(p *path, h *pathHop) {
	first, last := time.Unix(0, p.first).UTC(), time.Unix(0, p.last).UTC()
	n.Packets += p.packets + p.incomplete
	n.First, n.Last = earliest(n.First, first), latest(n.Last, last)
	if h.has&telemetry.HasIngressPort != 0 {
		n.port(h.in, first, last).Received += p.packets + p.incomplete
	}
	if h.has&telemetry.HasEgressPort == 0 || h.has&telemetry.HasDrop != 0 {
		return
	}
	port := n.port(h.out, first, last)
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

// port returns the port with that number, which was in use from first to last.
func (n *topologyNode) port(number uint32, first, last time.Time) *telemetry.NodePort {
	port := n.ports[number]
	if port == nil {
		port = &telemetry.NodePort{Port: number, First: first, Last: last}
		n.ports[number] = port
	}
	port.First, port.Last = earliest(port.First, first), latest(port.Last, last)
	return port
}

func earliest(a, b time.Time) time.Time {
	if b.Before(a) {
		return b
	}
	return a
}

func latest(a, b time.Time) time.Time {
	if b.After(a) {
		return b
	}
	return a
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
