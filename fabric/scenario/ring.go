package scenario

import "fmt"

// A Ring is a wide-area network: each switch has a link to the next one and the last to the first.
type Ring struct {
	Nodes    Count    `yaml:"nodes"` // pop1, pop2, ...
	Hosts    Count    `yaml:"hosts"` // of each switch; h1, ...
	HostLink LinkSpec `yaml:"host_link"`
	RingLink LinkSpec `yaml:"ring_link"`
}

func (t *Ring) check(c *checker) {
	const place = "topology.ring"
	within(c, place+".nodes", t.Nodes, 3, maxRingNodes)
	within(c, place+".hosts", t.Hosts, 1, 100)
	t.HostLink.check(c, place+".host_link", hostMTU)
	t.RingLink.check(c, place+".ring_link", switchMTU)
}

func (t *Ring) graph() Graph {
	var g Graph
	pop := func(i Count) string { return fmt.Sprintf("pop%d", i%t.Nodes+1) }
	for i := range t.Nodes {
		g.Switches = append(g.Switches, SwitchSpec{Name: pop(i), Role: "pop"})
	}
	for i := range t.Nodes {
		g.addLink(pop(i), pop(i+1), t.RingLink)
	}
	for i := range t.Nodes {
		g.addHosts(pop(i), t.Hosts, t.HostLink)
	}
	return g
}
