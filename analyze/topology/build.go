package topology

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Builder puts nodes and their ports together, from paths or from records.
type Builder struct {
	Names map[uint32]string                    // of nodes
	Units map[uint32]telemetry.UtilizationUnit // in which they tell the use of their ports
	Nodes map[uint32]*BuiltNode
}

// A BuiltNode is a node that is being put together.
type BuiltNode struct {
	telemetry.TopologyNode
	ports   map[uint32]*BuiltPort
	counted bool // only counters tell of it
}

// A BuiltPort is a port of it.
type BuiltPort struct {
	telemetry.NodePort
	Use Use
}

// Told adds what records tell of the use of the port.
func (p *BuiltPort) Told(u *telemetry.UtilizationSum) { p.Use.Merge(u) }

// NewBuilder returns a builder without nodes. names, and the units in which nodes tell the use of their ports,
// are only read.
func NewBuilder(names map[uint32]string, units map[uint32]telemetry.UtilizationUnit) *Builder {
	return &Builder{Names: names, Units: units, Nodes: map[uint32]*BuiltNode{}}
}

// Node returns a node that was there from first to last.
func (b *Builder) Node(id uint32, first, last time.Time) *BuiltNode {
	n := b.Nodes[id]
	if n == nil {
		n = &BuiltNode{
			TopologyNode: telemetry.TopologyNode{ID: id, Name: b.Names[id], First: first, Last: last},
			ports:        map[uint32]*BuiltPort{},
		}
		b.Nodes[id] = n
	}
	Widen(&n.First, &n.Last, first, last)
	return n
}

// Port returns the port with that number, which was in use from first to last.
func (n *BuiltNode) Port(number uint32, first, last time.Time) *BuiltPort {
	port := n.ports[number]
	if port == nil {
		port = &BuiltPort{NodePort: telemetry.NodePort{Port: number, First: first, Last: last}}
		n.ports[number] = port
	}
	Widen(&port.First, &port.Last, first, last)
	return port
}

// Counted notes what the device of a port counts there. Nodes and ports that packets show keep the times of their
// packets; others are made if add says so.
func (b *Builder) Counted(node, number uint32, c *telemetry.PortCounters, add bool) {
	n := b.Nodes[node]
	if n == nil || n.counted {
		if !add {
			return
		}
		n = b.Node(node, c.First, c.Last)
		n.counted = true
	}
	port := n.ports[number]
	if port == nil {
		if !add {
			return
		}
		port = n.Port(number, c.First, c.Last)
	}
	port.Counters, port.Speed = c, c.Speed
}

// Widen makes the time from first to last one that has that from a to b in it, too.
func Widen(first, last *time.Time, a, b time.Time) {
	if a.Before(*first) {
		*first = a
	}
	if b.After(*last) {
		*last = b
	}
}

// Finish adds to the ports what the links and hosts of t say, and the nodes to t, in order.
func (b *Builder) Finish(t *telemetry.Topology) {
	// Of several links at a port the one that most packets show counts: a loop that went on after INT had no more room
	// makes others.
	byPackets := slices.SortedStableFunc(slices.Values(t.Links),
		func(a, b telemetry.Link) int { return cmp.Compare(a.Packets, b.Packets) })
	for i := range byPackets {
		l := &byPackets[i]
		from, to := b.Nodes[l.From], b.Nodes[l.To]
		if from == nil || to == nil {
			continue // its paths gave way to others meanwhile
		}
		if l.FromPort != nil {
			port := from.Port(*l.FromPort, l.First, l.Last)
			port.ToNode, port.ToName, port.ToPort = &l.To, l.ToName, l.ToPort
		}
		if l.ToPort != nil {
			port := to.Port(*l.ToPort, l.First, l.Last)
			port.ToNode, port.ToName, port.ToPort = &l.From, l.FromName, l.FromPort
		}
	}
	for i := range t.Hosts {
		if at := &t.Hosts[i].Places[0]; at.Port != nil && b.Nodes[at.Node] != nil {
			b.Nodes[at.Node].Port(*at.Port, at.First, at.Last).Hosts++
		}
	}
	t.Nodes = make([]telemetry.TopologyNode, 0, len(b.Nodes))
	for _, n := range b.Nodes {
		n.Ports = make([]telemetry.NodePort, 0, len(n.ports))
		for _, port := range n.ports {
			port.Utilization = port.Use.Answer(b.Units[n.ID])
			n.Ports = append(n.Ports, port.NodePort)
		}
		slices.SortFunc(n.Ports, func(a, b telemetry.NodePort) int { return cmp.Compare(a.Port, b.Port) })
		t.Nodes = append(t.Nodes, n.TopologyNode)
	}
	slices.SortFunc(t.Nodes, func(a, b telemetry.TopologyNode) int { return cmp.Compare(a.ID, b.ID) })
}
