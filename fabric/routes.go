package fabric

import (
	"encoding/binary"
	"net/netip"
)

// subnets returns the prefixes of the hosts at a switch: 10.S.S.0/24 and fd00:0:0:S::/64.
func subnets(id uint32) (v4, v6 netip.Prefix) {
	a4 := [4]byte{10, byte(id >> 8), byte(id)}
	a6 := [16]byte{0: 0xfd}
	binary.BigEndian.PutUint16(a6[6:], uint16(id))
	return netip.PrefixFrom(netip.AddrFrom4(a4), 24), netip.PrefixFrom(netip.AddrFrom16(a6), 64)
}

// An override is a route of one switch that a fault has made wrong.
type override struct {
	fault  int
	node   *node
	prefix netip.Prefix
	route  *route
}

// converge computes the routes of all switches from the links that they take for up: shortest paths, all of them.
func (f *Fabric) converge() {
	for _, n := range f.switches {
		n.table4, n.table6 = newTable(), newTable()
	}
	distance := make([]int, len(f.nodes))
	for _, to := range f.switches {
		prefixes := f.prefixes(to)
		if len(prefixes) == 0 {
			continue
		}
		f.distances(to, distance)
		for _, n := range f.switches {
			if r := nextHops(n, distance); r != nil {
				for _, prefix := range prefixes {
					f.install(n, prefix, r)
				}
			}
		}
	}
	for _, h := range f.hosts {
		if access := h.node.ports[0].peer; access.link.known {
			r := &route{ports: []*port{access}}
			f.install(access.node, netip.PrefixFrom(netip.AddrFrom4(h.v4), 32), r)
			f.install(access.node, netip.PrefixFrom(netip.AddrFrom16(h.v6), 128), r)
		}
	}
	for i := range f.overrides { // a prefix that is longer than all routes
		o := &f.overrides[i]
		o.node.insert(o.prefix, o.route)
	}
}

// prefixes returns what a switch has hosts for: its subnets, and addresses that are in none.
func (f *Fabric) prefixes(n *node) (list []netip.Prefix) {
	v4, v6 := subnets(n.id)
	for _, p := range n.ports {
		h := p.peer.node.host
		if h == nil {
			continue
		}
		if len(list) == 0 {
			list = append(list, v4, v6)
		}
		if a := netip.AddrFrom4(h.v4); !v4.Contains(a) {
			list = append(list, netip.PrefixFrom(a, 32))
		}
		if a := netip.AddrFrom16(h.v6); !v6.Contains(a) {
			list = append(list, netip.PrefixFrom(a, 128))
		}
	}
	return list
}

// distances counts the links from each switch to one; -1 if there is no way.
func (f *Fabric) distances(to *node, distance []int) {
	for i := range distance {
		distance[i] = -1
	}
	distance[to.index] = 0
	for todo := []*node{to}; len(todo) > 0; todo = todo[1:] {
		for _, p := range todo[0].ports {
			next := p.peer.node
			if p.link.known && next.host == nil && distance[next.index] < 0 {
				distance[next.index] = distance[todo[0].index] + 1
				todo = append(todo, next)
			}
		}
	}
}

// nextHops returns the ports of a switch that lead nearer; nil if none does.
func nextHops(n *node, distance []int) *route {
	r := &route{}
	for _, p := range n.ports {
		if next := p.peer.node; p.link.known && next.host == nil && distance[next.index] >= 0 &&
			distance[next.index] == distance[n.index]-1 {
			r.ports = append(r.ports, p)
		}
	}
	if len(r.ports) == 0 {
		return nil
	}
	return r
}

// install gives a switch a route, unless a fault has a wrong one for all of the prefix.
func (f *Fabric) install(n *node, prefix netip.Prefix, r *route) {
	for i := range f.overrides {
		o := &f.overrides[i]
		if o.node == n && o.prefix.Bits() <= prefix.Bits() && o.prefix.Contains(prefix.Addr()) {
			r = o.route
		}
	}
	n.insert(prefix, r)
}

func (n *node) insert(prefix netip.Prefix, r *route) {
	if prefix.Addr().Is4() {
		n.table4.insert(prefix, r)
	} else {
		n.table6.insert(prefix, r)
	}
}

// learn lets routes follow the state of a link.
func (f *Fabric) learn(ft *fault) {
	l := ft.trouble.(*linkDown).link
	l.known = l.down == 0
	f.converge()
	f.writeFault(ft, "converged")
}
