package scan

import (
	"fmt"
	"slices"

	"github.com/waybill-int/waybill/analyze/ecmp"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A groupKey is a node and one at which paths end. Groups of a node with the same ports are looked at together.
type groupKey struct{ node, to uint32 }

// A groupDetector finds groups whose ports carry unequal shares.
type groupDetector struct {
	*scan
	links  *linkDetector
	storms *stormDetector
	groups map[groupKey]*ecmp.Group
	uneven map[eventlog.Key]*ecmp.Suspicion
}

// maxGroups bounds them.
const maxGroups = 1 << 14

func newGroupDetector(s *scan, links *linkDetector, storms *stormDetector) *groupDetector {
	return &groupDetector{s, links, storms, map[groupKey]*ecmp.Group{}, map[eventlog.Key]*ecmp.Suspicion{}}
}

func (d *groupDetector) begin() {
	for _, g := range d.groups {
		g.Begin()
	}
}

func (d *groupDetector) observe(o *Observation) {
	for i := range o.Paths {
		if p := &o.Paths[i]; !p.dropped() && !p.Uncertain {
			d.take(p)
		}
	}
}

// take adds the packets on p to the groups of its nodes.
func (d *groupDetector) take(p *Path) {
	if !p.wholeAndSimple() {
		return
	}
	end := len(p.Hops) - 1
	for i := range p.Hops[:end] {
		at := &p.Hops[i]
		if at.Has&telemetry.HasEgressPort == 0 {
			continue
		}
		k := groupKey{at.Node, p.Hops[end].Node}
		g := d.groups[k]
		if g == nil {
			if len(d.groups) >= maxGroups {
				d.leftOut++
				continue
			}
			g = &ecmp.Group{}
			d.groups[k] = g
		}
		m := g.Member(at.Out)
		if m == nil {
			d.leftOut++
			continue
		}
		if m.Packets == 0 {
			m.Links = m.Links[:0]
			for j := i; j < end; j++ {
				link, _ := topology.LinkOf(&p.Hops[j].HopKey, &p.Hops[j+1].HopKey)
				m.Links = append(m.Links, link)
			}
		}
		m.Packets += p.N
		m.Flows += uint64(p.Flows)
	}
}

// wholeAndSimple reports whether all nodes of p are known, and different.
func (p *Path) wholeAndSimple() bool {
	for i := range p.Hops {
		if p.Hops[i].Has&telemetry.HasNode == 0 || p.Hops[i].Missing > 0 {
			return false
		}
		for j := range i {
			if p.Hops[j].Node == p.Hops[i].Node {
				return false
			}
		}
	}
	return true
}

// A portSet are ports of a node that share the packets to some destinations.
type portSet struct {
	node    uint32
	members []ecmp.Member // sorted by port
	to      int           // destinations
}

func (d *groupDetector) finish() {
	d.failMembers()
	for _, set := range d.portSets() {
		d.weigh(set)
	}
	for key, u := range d.uneven {
		if u.ScanNs != d.nowNs {
			delete(d.uneven, key)
		}
	}
}

// failMembers takes ports whose link is down out of their groups, and those that stood in for such a port, until they
// carry packets again.
func (d *groupDetector) failMembers() {
	down := map[dropEnd]bool{}
	for event, found := range d.storms.storms {
		if dropreason.Of(found.Key.Table, found.Key.Reason).ID == "egress_link_down" {
			down[dropEnd{event.Node, event.Port}] = true
		}
	}
	for k, g := range d.groups {
		for i := range g.Members {
			m := &g.Members[i]
			silent := m.Packets == 0 && (m.Failed || d.stoodIn(g, m) || d.cutOff(m.Links))
			m.Failed = silent || down[dropEnd{k.node, m.Port}]
		}
	}
}

// stoodIn reports whether m carried its last packets while another port of g could not, and that one can again. A way
// around a link that fails is silent before and after; it has no share of the packets.
func (d *groupDetector) stoodIn(g *ecmp.Group, m *ecmp.Member) bool {
	for i := range g.Members {
		other := &g.Members[i]
		if other.Packets == 0 {
			continue
		}
		if slices.ContainsFunc(other.Links, func(k topology.LinkKey) bool { return d.links.wasDown(k, m.LastNs) }) {
			return true
		}
	}
	return false
}

// portSets puts the groups of a node with the same ports together.
func (d *groupDetector) portSets() map[string]*portSet {
	sets := map[string]*portSet{}
	var live []ecmp.Member
	for k, g := range d.groups {
		live = g.Live(live[:0], d.nowNs, func(m *ecmp.Member) bool { return d.linkFailed(m.Links) })
		if len(g.Members) == 0 {
			delete(d.groups, k)
		}
		if len(live) < 2 {
			continue
		}
		name := fmt.Append(nil, k.node)
		for i := range live {
			name = fmt.Append(name, " ", live[i].Port)
		}
		set := sets[string(name)]
		if set == nil {
			sets[string(name)] = &portSet{node: k.node, members: slices.Clone(live), to: 1}
			continue
		}
		set.to++
		for i := range live {
			set.members[i].Packets += live[i].Packets
			set.members[i].Flows += live[i].Flows
		}
	}
	return sets
}

// cutOff reports whether an end of one of the links has said that it is down since packets took it last.
func (d *groupDetector) cutOff(links []topology.LinkKey) bool {
	return slices.ContainsFunc(links, func(k topology.LinkKey) bool {
		back, ok := k.Reverse()
		return d.links.cut(k) || ok && d.links.cut(back)
	})
}

// linkFailed reports whether one of the links carries nothing, either way, while both ends report: it was taken out of
// service, and with it the port of whoever sends by it.
func (d *groupDetector) linkFailed(links []topology.LinkKey) bool {
	silent := func(k topology.LinkKey) bool { l := d.links.links[k]; return l == nil || l.last != d.nowNs }
	for _, k := range links {
		if !silent(k) || d.links.active[k.From] == 0 || d.links.active[k.To] == 0 {
			continue
		}
		if back, ok := k.Reverse(); !ok || silent(back) {
			return true
		}
	}
	return false
}

// weigh notes a set of which one port carries more than its share.
func (d *groupDetector) weigh(set *portSet) {
	share := ecmp.ShareOf(set.members)
	most := share.Most
	key := eventlog.Key{Kind: telemetry.EventECMPImbalance, Node: set.node, Port: most.Port}
	if d.log.Ongoing(key) {
		if share.GoesOn() {
			d.log.Note(key, d.lastNs, d.nowNs, most.Packets, nil)
		}
		return
	}
	u, certain := share.Suspect(d.uneven[key], d.lastNs, d.nowNs)
	if u != nil {
		d.uneven[key] = u
	}
	if !certain {
		return
	}
	d.log.Note(key, u.FirstNs, d.nowNs, most.Packets, func(e *telemetry.Event) {
		e.Severity = telemetry.Warning
		d.at(e, &topology.HopKey{Node: set.node, Out: most.Port, Has: telemetry.HasNode | telemetry.HasEgressPort})
		e.Text = fmt.Sprintf("%s of %s carries %.0f %% of what arrives by its %d ports to the same nodes",
			d.portName(set.node, most.Port), d.name(set.node), 100*share.Times/float64(share.Ports), share.Ports)
		for _, m := range set.members { // the way by it may be down
			if m.Packets == 0 && len(m.Links) > 0 && d.links.active[m.Links[0].To] == 0 {
				e.Text += fmt.Sprintf("; nothing comes by %s any more", d.name(m.Links[0].To))
				break
			}
		}
		e.Evidence = append(
			e.Evidence,
			telemetry.Evidence{Name: "share", Value: share.Times / float64(share.Ports)},
			telemetry.Evidence{Name: "ports", Value: float64(share.Ports)},
			telemetry.Evidence{Name: "flows", Value: float64(most.Flows)},
			telemetry.Evidence{Name: "flows_of_all", Value: float64(share.Flows)},
			telemetry.Evidence{Name: "destinations", Value: float64(set.to)},
		)
	})
}
