package scenario

import (
	"fmt"
	"net/netip"
	"regexp"
)

// A Graph is a topology in full. The number of a switch is its place in Switches, from 1; the ports of a switch are
// numbered from 1 in the order of Links.
type Graph struct {
	Switches []SwitchSpec
	Hosts    []Host
	Links    []Link // those of hosts too
}

// A GraphSpec is a Graph in a file. Links of hosts are in Hosts there.
type GraphSpec struct {
	Switches []SwitchSpec `yaml:"switches"`
	Links    []Link       `yaml:"links"` // between switches
	Hosts    []Host       `yaml:"hosts"`
}

// A SwitchSpec is one switch of a graph.
type SwitchSpec struct {
	Name string `yaml:"name"`
	Role string `yaml:"role"` // free text for telemetry configuration and people
}

// A Host is one host of a graph.
type Host struct {
	Name     string   `yaml:"name"`
	At       string   `yaml:"at"`       // switch
	Address  Address  `yaml:"address"`  // IPv4; default 10.S.S.n at switch S as its n-th host
	Address6 Address  `yaml:"address6"` // IPv6; default fd00:0:0:S::n
	MAC      MAC      `yaml:"mac"`      // default 02:00:00:x:x:x
	Link     LinkSpec `yaml:"link"`
}

// A Link joins two nodes. Several between the same two are a port channel.
type Link struct {
	Between  Ends `yaml:"between"`
	LinkSpec `yaml:",inline"`
}

func (t *GraphSpec) check(c *checker) {
	switches := map[string]bool{}
	for _, s := range t.Switches {
		switches[s.Name] = true
	}
	for i := range t.Links {
		place := fmt.Sprintf("topology.graph.links[%d]", i)
		t.Links[i].check(c, place, switchMTU)
		a, b := t.Links[i].Between[0], t.Links[i].Between[1]
		if !switches[a] || !switches[b] || a == b {
			c.Say(place+".between", "got [%s, %s], want two switches", a, b)
		}
	}
	for i := range t.Hosts {
		t.Hosts[i].Link.check(c, fmt.Sprintf("topology.graph.hosts[%d].link", i), hostMTU)
	}
}

func (t *GraphSpec) graph() Graph {
	g := Graph{Switches: t.Switches, Hosts: t.Hosts, Links: t.Links[:len(t.Links):len(t.Links)]}
	for _, h := range t.Hosts {
		g.addLink(h.At, h.Name, h.Link)
	}
	return g
}

// index returns the names of all nodes; true is a switch, false a host.
func (g *Graph) index() map[string]bool {
	names := map[string]bool{}
	for _, h := range g.Hosts {
		names[h.Name] = false
	}
	for _, s := range g.Switches {
		names[s.Name] = true
	}
	return names
}

// links returns how many links are between two nodes.
func (g *Graph) links(a, b string) (n int) {
	for i := range g.Links {
		if l := g.Links[i].Between; l == (Ends{a, b}) || l == (Ends{b, a}) {
			n++
		}
	}
	return n
}

// validName fits names that can be a part of the name of a file.
var validName = regexp.MustCompile(`^[A-Za-z0-9_][A-Za-z0-9._-]*$`)

// check reports what only a graph from a file can have wrong.
func (g *Graph) check(c *checker) {
	const place = "topology.graph"
	if len(g.Switches) == 0 || len(g.Switches) > maxSwitches || len(g.Hosts) > maxHosts {
		c.Say("topology", "got %d switches and %d hosts, want 1 to %d and at most %d", len(g.Switches), len(g.Hosts),
			maxSwitches, maxHosts)
	}
	names := map[string]bool{}
	name := func(place, name string) {
		if names[name] || !validName.MatchString(name) {
			c.Say(place, "got %q, want a name of letters, digits, '.', '_' and '-' that no other switch or host has",
				name)
		}
		names[name] = true
	}
	switches := map[string]int{} // name, number of its hosts
	for i, s := range g.Switches {
		name(fmt.Sprintf("%s.switches[%d].name", place, i), s.Name)
		switches[s.Name] = 0
	}
	addresses := map[netip.Addr]bool{}
	for i, h := range g.Hosts {
		place := fmt.Sprintf("%s.hosts[%d]", place, i)
		name(place+".name", h.Name)
		if _, known := switches[h.At]; !known {
			c.Say(place+".at", "got %q, want the name of a switch", h.At)
		}
		if switches[h.At]++; switches[h.At] > maxHostsOfOne {
			c.Say(place+".at", "%s has more than %d hosts", h.At, maxHostsOfOne)
		}
		if a := h.Address.Addr; a.IsValid() && (!a.Is4() || addresses[a]) {
			c.Say(place+".address", "got %s, want an IPv4 address that no other host has", a)
		}
		if a := h.Address6.Addr; a.IsValid() && (!a.Is6() || a.Is4In6() || addresses[a]) {
			c.Say(place+".address6", "got %s, want an IPv6 address that no other host has", a)
		}
		if h.MAC[0]&1 != 0 {
			c.Say(place+".mac", "is a group address")
		}
		addresses[h.Address.Addr], addresses[h.Address6.Addr] = true, true
	}
}
