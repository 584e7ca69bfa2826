//go:build linux

package lab

import (
	"fmt"
	"net/netip"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
)

// spare is what a frame may have beyond the largest packet of a host: headers, and INT of 16 bytes and 11 records.
const spare = 14 + 16 + 11*32

// build makes namespaces, interfaces and queues. Everything has its neighbours' addresses, so that nobody asks for any.
func (l *Lab) build() error {
	var script strings.Builder
	l.wires = l.id.namespace("wire")
	spaces := []*namespace{l.wires}
	for _, r := range l.routers {
		r.ns = l.id.namespace(r.Name)
		spaces = append(spaces, r.ns)
	}
	for _, h := range l.hosts {
		h.ns = l.id.namespace(h.Name)
		spaces = append(spaces, h.ns)
	}
	for _, n := range spaces {
		fmt.Fprintf(&script, "netns add %s\n", n.name)
	}
	if err := (*namespace)(nil).batch("ip", &script); err != nil {
		return err
	}
	if err := each(spaces, func(n *namespace) error {
		// INT changes lengths on the way, and the ways of packets need not be symmetric.
		return n.set("ipv4/ip_forward=1", "ipv6/conf/all/forwarding=1", "ipv4/conf/all/rp_filter=0",
			"ipv4/conf/default/rp_filter=0", "ipv6/conf/default/accept_dad=0", "ipv6/conf/default/addr_gen_mode=1",
			"ipv4/fib_multipath_hash_policy=1", "ipv6/fib_multipath_hash_policy=1",
			"ipv4/ip_local_port_range=60000 65535", "core/txrehash=0") // a flow keeps its way
	}); err != nil {
		return err
	}
	script.Reset()
	for i, k := range l.links {
		k.script(&script, i, l.wires)
	}
	if err := (*namespace)(nil).batch("ip", &script); err != nil {
		return err
	}
	if err := each(l.routers, (*router).build); err != nil {
		return err
	}
	if err := each(l.hosts, func(h *host) error { return h.build(l.routers[h.Node-1]) }); err != nil {
		return err
	}
	for i, k := range l.links {
		if k.gray != nil {
			if err := k.gray.open(l.wires, i); err != nil {
				return fmt.Errorf("link %s: %w", k.Name, err)
			}
		}
	}
	return each(l.routers, func(r *router) error { return l.seed(r, uint64(r.Node)) })
}

// each calls f for all, several at a time.
func each[T any](list []T, f func(T) error) error {
	var group errgroup.Group
	group.SetLimit(8)
	for _, v := range list {
		group.Go(func() error { return f(v) })
	}
	return group.Wait()
}

// script adds what makes the veth pairs of link i.
func (k *link) script(b *strings.Builder, i int, wires *namespace) {
	end := func(name string, n *namespace, mac string) string {
		if mac != "" {
			mac = " address " + mac
		}
		return fmt.Sprintf("name %s netns %s mtu %d%s", name, n.name, k.MTU, mac)
	}
	a, z := end(k.a.veth(), k.a.ns(), k.a.mac), end(k.b.veth(), k.b.ns(), k.b.mac)
	if k.gray == nil {
		fmt.Fprintf(b, "link add %s type veth peer %s\n", a, z)
		return
	}
	fmt.Fprintf(b, "link add %s type veth peer %s\n", a, end(fmt.Sprintf("a%d", i), wires, ""))
	fmt.Fprintf(b, "link add %s type veth peer %s\n", z, end(fmt.Sprintf("b%d", i), wires, ""))
}

// build gives a router its ports. Routes come later.
func (r *router) build() error {
	var script, queues strings.Builder
	address6 := routerAddress6(r.Node)
	fmt.Fprintf(&script, "link set lo up\naddr add %s/32 dev lo\naddr add %s/128 dev lo nodad\n", r.Address, address6)
	for _, p := range r.ports {
		fmt.Fprintf(&script, "link add name %s address %s type bridge mcast_snooping 0\n", p.device(), p.mac)
		fmt.Fprintf(&script, "link set dev %s master %s\nlink set dev %[1]s up\n", p.veth(), p.device())
		fmt.Fprintf(&script, "link set dev %s mtu %d\nlink set dev %[1]s up\n", p.device(), p.link.MTU)
		for _, address := range p.next() {
			fmt.Fprintf(&script, "neigh replace %s lladdr %s dev %s nud permanent\n", address, p.peer.mac, p.device())
		}
		fmt.Fprintf(&queues, "qdisc add dev %s root %s\n", p.device(), p.tbf(p.limit))
	}
	return r.ns.finish(&script, &queues, r.ports...)
}

// build gives a host its interface, and its router as the way to everybody.
func (h *host) build(r *router) error {
	var script, queues strings.Builder
	fmt.Fprintf(&script, "link set lo up\naddr add %s/32 dev eth0\naddr add %s/128 dev eth0 nodad\nlink set eth0 up\n",
		h.v4, h.v6)
	for _, gateway := range []string{r.Address, routerAddress6(r.Node).String()} {
		fmt.Fprintf(&script, "neigh replace %s lladdr %s dev eth0 nud permanent\n", gateway, h.port.peer.mac)
		fmt.Fprintf(&script, "route add default via %s dev eth0 onlink\n", gateway)
	}
	fmt.Fprintf(&queues, "qdisc add dev eth0 root %s\n", h.port.tbf(h.port.limit))
	return h.ns.finish(&script, &queues, h.port)
}

// silence lets a host send nothing more, also what TCP would send again.
func (h *host) silence() error {
	var script strings.Builder
	script.WriteString("route del default\nroute del ::/0\n")
	return h.ns.batch("ip", &script)
}

// longestQueue is how long the last packet of the slowest queue of a switch may wait.
func (l *Lab) longestQueue() (longest time.Duration) {
	for _, r := range l.routers {
		for _, p := range r.ports {
			longest = max(longest, time.Duration(p.limit*8e9/p.link.RateBps))
		}
	}
	return longest
}

// finish runs scripts of ip and tc. Checksums have to be in the packets, since INT is part of what they cover.
func (n *namespace) finish(script, queues *strings.Builder, ports ...*port) error {
	if err := n.batch("ip", script); err != nil {
		return err
	}
	if err := n.batch("tc", queues); err != nil {
		return err
	}
	return n.do(func() error {
		for _, p := range ports {
			if err := run("", "ethtool", "-K", p.veth(), "tx", "off"); err != nil {
				return err
			}
		}
		return nil
	})
}

// tbf is the queueing discipline of a port with room for limit bytes. Half a millisecond of its rate passes at once, so
// that a timer that is late costs nothing.
func (p *port) tbf(limit uint64) string {
	burst := max(p.link.RateBps/8/2000, uint64(min(p.link.MTU, 1500)+spare))
	return fmt.Sprintf("tbf rate %dbit burst %d limit %d", p.link.RateBps, burst, max(limit, burst))
}

// next returns the addresses behind a port of a router: those of the next router, or of the host.
func (p *port) next() [2]netip.Addr {
	if h := p.peer.host; h != nil {
		return [2]netip.Addr{h.v4, h.v6}
	}
	r := p.peer.router
	return [2]netip.Addr{netip.MustParseAddr(r.Address), routerAddress6(r.Node)}
}

// routerAddress6 returns the IPv6 address of a switch, as the fabric has it.
func routerAddress6(id uint32) netip.Addr {
	a := [16]byte{0: 0xfd, 6: 0xff, 7: 0xff}
	a[12], a[13], a[14], a[15] = byte(id>>24), byte(id>>16), byte(id>>8), byte(id)
	return netip.AddrFrom16(a)
}

// seed makes the choices of a router among equal routes follow from the seed of the scenario.
func (l *Lab) seed(r *router, salt uint64) error {
	seed := uint32((l.run.Seed*0x9e3779b97f4a7c15 + salt*0xbf58476d1ce4e5b9) >> 32)
	return r.ns.set(fmt.Sprintf("ipv4/fib_multipath_hash_seed=%d", seed|1))
}
