package analyze

import (
	"fmt"
	"math"
	"slices"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// Nobody tells which ports of a node share the packets to a destination. They are learned: by what ports packets leave
// a node, on paths that end at the same node. Groups of a node with the same ports are looked at together.

const (
	// A group is uneven if the port with the most has more than unevenAbove times its share of the packets, until it
	// has less than evenBelow times that.
	unevenAbove, evenBelow = 1.5, 1.25
	// unevenScans is how many scans in a row it must be so.
	unevenScans = 2
	// unevenFlows is the logarithm of how improbable the number of flows on that port must be, if each flow chose its
	// port by chance: e^-16 is one in nine million.
	unevenFlows = 16
	// unevenPackets is how few packets say nothing.
	unevenPackets = 50
	// memberNs is how long a port that carries nothing stays in its groups.
	memberNs = 600 * ScanNs
	// maxMembers bounds the ports of a group.
	maxMembers = 64
)

// A groupKey is a node and one at which paths end.
type groupKey struct{ node, to uint32 }

// An ecmpGroup are the ports by which packets leave for the same destination.
type ecmpGroup struct{ members []ecmpMember }

// An ecmpMember is a port of a group.
type ecmpMember struct {
	port           uint32
	packets, flows uint64             // since the last scan
	last           int64              // scan at which it carried some
	failed         bool               // its link was down since then, or it had stood in for one that was
	links          []topology.LinkKey // from there to the destination, as the latest packets went
}

func (g *ecmpGroup) begin() {
	for i := range g.members {
		g.members[i].packets, g.members[i].flows = 0, 0
	}
}

// member returns the member with that port, which it adds if there is room.
func (g *ecmpGroup) member(port uint32) *ecmpMember {
	for i := range g.members {
		if g.members[i].port == port {
			return &g.members[i]
		}
	}
	if len(g.members) == maxMembers {
		return nil
	}
	g.members = append(g.members, ecmpMember{port: port})
	return &g.members[len(g.members)-1]
}

// A groupDetector finds groups whose ports carry unequal shares.
type groupDetector struct {
	*scan
	links  *linkDetector
	storms *stormDetector
	groups map[groupKey]*ecmpGroup
	uneven map[eventlog.Key]*unevenness
}

// maxGroups bounds them.
const maxGroups = 1 << 14

func newGroupDetector(s *scan, links *linkDetector, storms *stormDetector) *groupDetector {
	return &groupDetector{s, links, storms, map[groupKey]*ecmpGroup{}, map[eventlog.Key]*unevenness{}}
}

func (d *groupDetector) begin() {
	for _, g := range d.groups {
		g.begin()
	}
}

func (d *groupDetector) observe(o *observation) {
	for i := range o.paths {
		if p := &o.paths[i]; !p.dropped() && !p.uncertain {
			d.take(p.path, p.n)
		}
	}
}

// take adds n packets on p to the groups of its nodes.
func (d *groupDetector) take(p *path, n uint64) {
	if !p.wholeAndSimple() {
		return
	}
	end := len(p.hops) - 1
	for i := range p.hops[:end] {
		at := &p.hops[i]
		if at.Has&telemetry.HasEgressPort == 0 {
			continue
		}
		k := groupKey{at.Node, p.hops[end].Node}
		g := d.groups[k]
		if g == nil {
			if len(d.groups) >= maxGroups {
				d.leftOut++
				continue
			}
			g = &ecmpGroup{}
			d.groups[k] = g
		}
		m := g.member(at.Out)
		if m == nil {
			d.leftOut++
			continue
		}
		if m.packets == 0 {
			m.links = m.links[:0]
			for j := i; j < end; j++ {
				link, _ := topology.LinkOf(&p.hops[j].HopKey, &p.hops[j+1].HopKey)
				m.links = append(m.links, link)
			}
		}
		m.packets += n
		if !p.dropped() { // the same flows are on the path of the packets that arrive
			m.flows += uint64(p.sinceScan.flows)
		}
	}
}

// wholeAndSimple reports whether all nodes of p are known, and different.
func (p *path) wholeAndSimple() bool {
	for i := range p.hops {
		if p.hops[i].Has&telemetry.HasNode == 0 || p.hops[i].Missing > 0 {
			return false
		}
		for j := range i {
			if p.hops[j].Node == p.hops[i].Node {
				return false
			}
		}
	}
	return true
}

// A portSet are ports of a node that share the packets to some destinations.
type portSet struct {
	node    uint32
	members []ecmpMember // sorted by port
	to      int          // destinations
}

// An unevenness is how long a port has had more than its share.
type unevenness struct {
	scans   int
	firstNs int64
	scanNs  int64 // the latest of these scans
}

func (d *groupDetector) finish() {
	d.failMembers()
	for _, set := range d.portSets() {
		d.weigh(set)
	}
	for key, u := range d.uneven {
		if u.scanNs != d.nowNs {
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
		for i := range g.members {
			m := &g.members[i]
			m.failed = m.packets == 0 && (m.failed || d.stoodIn(g, m)) || down[dropEnd{k.node, m.port}]
		}
	}
}

// stoodIn reports whether m carried its last packets while another port of g could not, and that one can again. A way
// around a link that fails is silent before and after; it has no share of the packets.
func (d *groupDetector) stoodIn(g *ecmpGroup, m *ecmpMember) bool {
	for i := range g.members {
		other := &g.members[i]
		if other.packets == 0 {
			continue
		}
		for _, k := range other.links {
			if o, ok := d.links.back[k]; ok && m.last >= o.fromNs && m.last <= o.toNs+quietNs {
				return true
			}
		}
	}
	return false
}

// portSets puts the groups of a node with the same ports together.
func (d *groupDetector) portSets() map[string]*portSet {
	sets := map[string]*portSet{}
	var live []ecmpMember
	for k, g := range d.groups {
		live = live[:0]
		g.members = slices.DeleteFunc(g.members,
			func(m ecmpMember) bool { return m.packets == 0 && d.nowNs-m.last > memberNs })
		if len(g.members) == 0 {
			delete(d.groups, k)
			continue
		}
		for i := range g.members {
			m := &g.members[i]
			if m.packets > 0 {
				m.last = d.nowNs
			} else if m.failed || d.linkFailed(m.links) {
				continue
			}
			live = append(live, *m)
		}
		if len(live) < 2 {
			continue
		}
		slices.SortFunc(live, func(a, b ecmpMember) int { return int(int64(a.port) - int64(b.port)) })
		name := fmt.Append(nil, k.node)
		for i := range live {
			name = fmt.Append(name, " ", live[i].port)
		}
		set := sets[string(name)]
		if set == nil {
			sets[string(name)] = &portSet{node: k.node, members: slices.Clone(live), to: 1}
			continue
		}
		set.to++
		for i := range live {
			set.members[i].packets += live[i].packets
			set.members[i].flows += live[i].flows
		}
	}
	return sets
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
	var packets, flows uint64
	most := &set.members[0]
	for i := range set.members {
		m := &set.members[i]
		packets += m.packets
		flows += m.flows
		if m.packets > most.packets {
			most = m
		}
	}
	ports := len(set.members)
	times := float64(most.packets) * float64(ports) / float64(max(packets, 1)) // its fair share
	key := eventlog.Key{Kind: telemetry.EventECMPImbalance, Node: set.node, Port: most.port}
	if d.log.Ongoing(key) {
		if times > evenBelow && packets >= unevenPackets {
			d.log.Note(key, d.lastNs, d.nowNs, most.packets, nil)
		}
		return
	}
	if times <= unevenAbove || packets < unevenPackets {
		return
	}
	u := d.uneven[key]
	if u == nil {
		u = &unevenness{firstNs: d.lastNs}
		d.uneven[key] = u
	}
	u.scanNs = d.nowNs
	if u.scans++; u.scans < unevenScans || unlikely(most.flows, flows, ports) < unevenFlows {
		return
	}
	d.log.Note(key, u.firstNs, d.nowNs, most.packets, func(e *telemetry.Event) {
		e.Severity = telemetry.Warning
		d.at(e, &topology.HopKey{Node: set.node, Out: most.port, Has: telemetry.HasNode | telemetry.HasEgressPort})
		e.Text = fmt.Sprintf("%s of %s carries %.0f %% of what its %d ports to the same nodes share",
			d.portName(set.node, most.port), d.name(set.node), 100*times/float64(ports), ports)
		e.Evidence = append(
			e.Evidence,
			telemetry.Evidence{Name: "share", Value: times / float64(ports)},
			telemetry.Evidence{Name: "ports", Value: float64(ports)},
			telemetry.Evidence{Name: "flows", Value: float64(most.flows)},
			telemetry.Evidence{Name: "flows_of_all", Value: float64(flows)},
			telemetry.Evidence{Name: "destinations", Value: float64(set.to)},
		)
	})
}

// unlikely returns how unlikely it is that n or more of all flows, which choose one of so many ports by chance, choose
// the same: a lower bound of minus the natural logarithm of the probability (Chernoff).
func unlikely(n, all uint64, ports int) float64 {
	x, fair := float64(n)/float64(max(all, 1)), 1/float64(ports)
	if x <= fair {
		return 0
	}
	divergence := x * math.Log(x/fair)
	if x < 1 {
		divergence += (1 - x) * math.Log((1-x)/(1-fair))
	}
	return float64(all)*divergence - math.Log(float64(ports))
}
