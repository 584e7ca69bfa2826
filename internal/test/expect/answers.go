package expect

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// Answers are all that a collector knows.
type Answers struct {
	Flows     []telemetry.Flow
	Paths     []telemetry.Path
	Nodes     []telemetry.Node
	Links     []telemetry.Link
	Drops     []telemetry.Drop
	Exporters []telemetry.Exporter

	// Of expected answers only: what is not compared, by flow and by path, and the lost reports that leave no gap.
	FlowRules, PathRules map[string]Rule
	DropRule             Rule // why the last flow of drops is not compared
	Unseen               uint64
}

func (c *collector) answers() *Answers {
	c.rules()
	a := &Answers{FlowRules: map[string]Rule{}, PathRules: map[string]Rule{}}
	for _, f := range c.order {
		if len(f.kept) > 0 {
			f.kept[0].path.flows++
		}
		if f.rule != "" {
			name := endpointsName(&f.Endpoints)
			a.FlowRules[name] = f.rule
			if len(f.taken) > keptPaths {
				a.FlowRules[name] = RuleForgotten
			}
		}
		a.Flows = append(a.Flows, f.answer(c.names))
	}
	for name, p := range c.paths {
		if p.rule != "" {
			a.PathRules[name] = p.rule
		}
		a.Paths = append(a.Paths, p.answer(c.names))
	}
	for _, d := range c.drops {
		a.Drops = append(a.Drops, *d)
	}
	if c.Unordered {
		a.DropRule = RuleWorkers
	}
	a.Nodes, a.Links = c.nodes(), c.links()
	a.Exporters, a.Unseen = c.exporterAnswers()
	return a
}

// nodes returns the switches that are on a path.
func (c *collector) nodes() []telemetry.Node {
	type gathered struct {
		telemetry.Node
		latency values
	}
	nodes := map[uint32]*gathered{}
	get := func(id uint32) *gathered {
		if nodes[id] == nil {
			nodes[id] = &gathered{Node: telemetry.Node{ID: id, Name: c.names[id], Ports: []uint32{}}}
		}
		return nodes[id]
	}
	port := func(n *gathered, id uint32) {
		if !slices.Contains(n.Ports, id) {
			n.Ports = append(n.Ports, id)
		}
	}
	for _, p := range c.paths {
		for i := range p.elements {
			s, m := &p.elements[i], &p.meters[i]
			if s.known&telemetry.HasNode == 0 {
				continue
			}
			n := get(s.node)
			n.Packets += p.packets
			n.latency.merge(&m.latency)
			if s.known&telemetry.HasIngressPort != 0 {
				port(n, s.in)
			}
			if s.known&telemetry.HasEgressPort != 0 && !s.dropped() {
				port(n, s.out)
			}
			if most := uint32(m.depth.max); m.depth.count > 0 && (n.QueueMax == nil || *n.QueueMax < most) {
				n.QueueMax = &most
			}
		}
	}
	for key, d := range c.drops {
		get(key.node).Drops += d.Packets
	}
	var list []telemetry.Node
	for _, n := range nodes {
		slices.Sort(n.Ports)
		n.LatencyNs = n.latency.answer()
		list = append(list, n.Node)
	}
	slices.SortFunc(list, func(a, b telemetry.Node) int { return cmp.Compare(a.ID, b.ID) })
	return list
}

// links returns the links between neighbours on paths.
func (c *collector) links() []telemetry.Link {
	links := map[string]*telemetry.Link{}
	for _, p := range c.paths {
		for i := 1; i < len(p.elements) && !p.uncertain; i++ {
			from, to := &p.elements[i-1], &p.elements[i]
			if !from.named() || !to.named() || from.node == to.node && to.dropped() { // dropped where it is
				continue
			}
			a, b := from.answer(c.names), to.answer(c.names)
			l := &telemetry.Link{
				From: from.node, FromName: a.Name, FromPort: a.EgressPort, To: to.node, ToName: b.Name,
				ToPort: b.IngressPort,
			}
			if known := links[linkName(l)]; known != nil {
				l = known
			} else {
				links[linkName(l)] = l
			}
			l.Packets += p.packets
		}
	}
	var list []telemetry.Link
	for _, l := range links {
		list = append(list, *l)
	}
	return list
}

func number(n *uint32) string {
	if n == nil {
		return "?"
	}
	return fmt.Sprint(*n)
}

func linkName(l *telemetry.Link) string {
	return fmt.Sprintf("%d:%s > %d:%s", l.From, number(l.FromPort), l.To, number(l.ToPort))
}

// endpointsName names a flow: "10.0.1.1:5001 > 10.0.2.2:6001 udp", and the tunnel.
func endpointsName(e *telemetry.Endpoints) string {
	if e == nil {
		return "none"
	}
	name := fmt.Sprintf("%v:%d > %v:%d %s", e.Src, e.SrcPort, e.Dst, e.DstPort, e.Protocol)
	if e.Tunnel != "" {
		name += fmt.Sprintf(" in %s %s", e.Tunnel, number(e.TunnelID))
	}
	return name
}
