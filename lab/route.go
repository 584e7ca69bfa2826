//go:build linux

package lab

import (
	"fmt"
	"math"
	"net/netip"
	"slices"
	"strings"
)

// An override is a route of one router that a fault has made wrong; without ports there is none.
type override struct {
	router *router
	prefix netip.Prefix
	ports  []*port
}

// subnets returns the prefixes of the hosts at a switch, as the fabric has them.
func subnets(id uint32) (v4, v6 netip.Prefix) {
	a6 := [16]byte{0: 0xfd, 6: byte(id >> 8), 7: byte(id)}
	return netip.PrefixFrom(netip.AddrFrom4([4]byte{10, byte(id >> 8), byte(id)}), 24),
		netip.PrefixFrom(netip.AddrFrom16(a6), 64)
}

// converge gives all routers the routes that follow from the links that are taken for up, and from overrides: shortest
// paths, all of them.
func (l *Lab) converge() error {
	tables := make([]map[netip.Prefix][]*port, len(l.routers))
	for i, r := range l.routers {
		tables[i] = map[netip.Prefix][]*port{}
		for _, p := range r.ports {
			if h := p.peer.host; h != nil && p.link.known {
				tables[i][netip.PrefixFrom(h.v4, 32)] = []*port{p}
				tables[i][netip.PrefixFrom(h.v6, 128)] = []*port{p}
			}
		}
	}
	for _, to := range l.routers {
		prefixes := to.prefixes()
		if len(prefixes) == 0 {
			continue
		}
		distance := l.distances(to)
		for i, r := range l.routers {
			if ports := r.nearer(distance); len(ports) > 0 {
				for _, prefix := range prefixes {
					tables[i][prefix] = ports
				}
			}
		}
	}
	for _, o := range l.overrides {
		table := tables[o.router.Node-1]
		for prefix := range table {
			if o.prefix.Bits() <= prefix.Bits() && o.prefix.Contains(prefix.Addr()) {
				delete(table, prefix)
			}
		}
		table[o.prefix] = o.ports
	}
	return each(l.routers, func(r *router) error { return l.install(r, tables[r.Node-1]) })
}

// prefixes returns what a router has hosts for: its subnets, and addresses that are in none.
func (r *router) prefixes() (list []netip.Prefix) {
	v4, v6 := subnets(r.Node)
	for _, p := range r.ports {
		h := p.peer.host
		if h == nil {
			continue
		}
		if len(list) == 0 {
			list = append(list, v4, v6)
		}
		if !v4.Contains(h.v4) {
			list = append(list, netip.PrefixFrom(h.v4, 32))
		}
		if !v6.Contains(h.v6) {
			list = append(list, netip.PrefixFrom(h.v6, 128))
		}
	}
	return list
}

// distances counts the links from each router to one; routers that have no way are not in it.
func (l *Lab) distances(to *router) map[*router]int {
	distance := map[*router]int{to: 0}
	for todo := []*router{to}; len(todo) > 0; todo = todo[1:] {
		for _, p := range todo[0].ports {
			next := p.peer.router
			if next == nil || !p.link.known {
				continue
			}
			if _, seen := distance[next]; !seen {
				distance[next] = distance[todo[0]] + 1
				todo = append(todo, next)
			}
		}
	}
	return distance
}

// nearer returns the ports of a router that lead nearer.
func (r *router) nearer(distance map[*router]int) (ports []*port) {
	own, ok := distance[r]
	for _, p := range r.ports {
		if next := p.peer.router; ok && next != nil && p.link.known {
			if d, ok := distance[next]; ok && d == own-1 {
				ports = append(ports, p)
			}
		}
	}
	return ports
}

// install makes the kernel have routes.
func (l *Lab) install(r *router, routes map[netip.Prefix][]*port) error {
	var script strings.Builder
	at := l.now()
	if len(r.tables) == 0 {
		at = math.MinInt64
	}
	for prefix := range r.routes {
		if _, ok := routes[prefix]; !ok {
			fmt.Fprintf(&script, "route del %s%s\n", throws(r.routes[prefix]), prefix)
		}
	}
	for prefix, ports := range routes {
		old, ok := r.routes[prefix]
		if ok && slices.Equal(old, ports) {
			continue
		}
		if ok && (len(old) == 0) != (len(ports) == 0) { // other kinds of routes do not replace each other
			fmt.Fprintf(&script, "route del %s%s\n", throws(old), prefix)
		}
		fmt.Fprintf(&script, "route replace %s%s", throws(ports), prefix)
		for _, p := range ports {
			if len(ports) > 1 {
				script.WriteString(" nexthop")
			}
			if p.peer.host != nil {
				fmt.Fprintf(&script, " dev %s", p.device())
				continue
			}
			via := p.next()[0]
			if prefix.Addr().Is6() {
				via = p.next()[1]
			}
			fmt.Fprintf(&script, " via %s dev %s onlink", via, p.device())
		}
		script.WriteString("\n")
	}
	if err := r.ns.batch("ip", &script); err != nil {
		return err
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	r.routes = routes
	r.tables = append(r.tables, table{at, routes})
	return nil
}

// A table is what routes a router had from a moment on.
type table struct {
	sinceNs int64
	routes  map[netip.Prefix][]*port
}

// throws is what stands in front of a prefix without a route: the kernel then looks no further for a shorter one.
func throws(ports []*port) string {
	if len(ports) == 0 {
		return "throw "
	}
	return ""
}

// route returns the ports that a router had for an address at a moment.
func (r *router) route(to netip.Addr, ns int64) (ports []*port) {
	best := -1
	for _, t := range slices.Backward(r.tables) {
		if t.sinceNs > ns {
			continue
		}
		for prefix, p := range t.routes {
			if prefix.Bits() > best && prefix.Contains(to) {
				best, ports = prefix.Bits(), p
			}
		}
		break
	}
	return ports
}
