package ecmp

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/analyze/topology"
)

// Nobody tells which ports of a node share the packets to a destination. They are learned: by what ports packets leave
// a node, on paths that end at the same node.

// scanNs is how often groups are looked at, in nanoseconds.
const scanNs = int64(time.Second)

const (
	// memberNs is how long a port that carries nothing stays in its groups.
	memberNs = 600 * scanNs
	// memberPart is how much less than its share of the packets a port must have carried in a scan to be in a group:
	// what is on its way while routes change leaves by ports that others do not take.
	memberPart = 16
	// standInNs is how long before it fell silent a port carried packets while another one did not in two scans in a
	// row, which it stood in for.
	standInNs = 2 * scanNs
	// maxMembers bounds the ports of a group.
	maxMembers = 64
)

// A Group are the ports by which packets leave a node for the same destination.
type Group struct{ Members []Member }

// A Member is a port of a group.
type Member struct {
	Port           uint32
	Packets, Flows uint64             // since the last scan
	LastNs         int64              // scan at which it carried some
	Failed         bool               // its link was down since then, or it had stood in for one that was
	Links          []topology.LinkKey // from there to the destination, as the latest packets went

	shares  bool  // packets with others, by how many it carried in some scan
	stoodNs int64 // the latest scan in which it stood in for another one, which had carried nothing for two
}

// Begin forgets what members carried since the last scan.
func (g *Group) Begin() {
	for i := range g.Members {
		g.Members[i].Packets, g.Members[i].Flows = 0, 0
	}
}

// Member returns the member with that port, which it adds if there is room; nil if there is none.
func (g *Group) Member(port uint32) *Member {
	for i := range g.Members {
		if g.Members[i].Port == port {
			return &g.Members[i]
		}
	}
	if len(g.Members) == maxMembers {
		return nil
	}
	g.Members = append(g.Members, Member{Port: port})
	return &g.Members[len(g.Members)-1]
}

// Live appends to list the members that share packets at a scan, by their ports, and removes those that carried nothing
// for long. failed says of one that carries nothing that its link does not work.
func (g *Group) Live(list []Member, nowNs int64, failed func(*Member) bool) []Member {
	g.Members = slices.DeleteFunc(g.Members,
		func(m Member) bool { return m.Packets == 0 && nowNs-m.LastNs > memberNs })
	idle, packets := false, uint64(0)
	for i := range g.Members {
		m := &g.Members[i]
		packets += m.Packets
		idle = idle || m.shares && m.Packets == 0 && nowNs-m.LastNs > scanNs
	}
	first := len(list)
	for i := range g.Members {
		m := &g.Members[i]
		m.shares = m.shares || m.Packets*memberPart*uint64(len(g.Members)) >= packets
		switch {
		case m.Packets > 0:
			m.LastNs = nowNs
			if idle {
				m.stoodNs = nowNs
			}
		case m.Failed || m.LastNs-m.stoodNs < standInNs || failed(m):
			continue
		}
		if m.shares {
			list = append(list, *m)
		}
	}
	slices.SortFunc(list[first:], func(a, b Member) int { return int(int64(a.Port) - int64(b.Port)) })
	return list
}
