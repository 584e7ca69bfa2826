package scenario

import "fmt"

// A LeafSpine is a fabric of two tiers: every leaf has a link to every spine, and hosts are at the leaves.
type LeafSpine struct {
	Leaves     Count    `yaml:"leaves"` // leaf1, leaf2, ...
	Spines     Count    `yaml:"spines"` // spine1, ...
	Hosts      Count    `yaml:"hosts"`  // of each leaf; h1, ...
	HostLink   LinkSpec `yaml:"host_link"`
	FabricLink LinkSpec `yaml:"fabric_link"`
}

func (t *LeafSpine) check(c *checker) {
	const place = "topology.leaf_spine"
	within(c, place+".leaves", t.Leaves, 1, 200)
	within(c, place+".spines", t.Spines, 1, 64)
	within(c, place+".hosts", t.Hosts, 1, 100)
	t.HostLink.check(c, place+".host_link", hostMTU)
	t.FabricLink.check(c, place+".fabric_link", switchMTU)
}

// graph makes leaves first, so that port s of a leaf leads to spine s and port l of a spine to leaf l.
func (t *LeafSpine) graph() Graph {
	var g Graph
	for l := range t.Leaves {
		g.Switches = append(g.Switches, SwitchSpec{Name: fmt.Sprintf("leaf%d", l+1), Role: "leaf"})
	}
	for s := range t.Spines {
		g.Switches = append(g.Switches, SwitchSpec{Name: fmt.Sprintf("spine%d", s+1), Role: "spine"})
	}
	for l := range t.Leaves {
		for s := range t.Spines {
			g.addLink(fmt.Sprintf("leaf%d", l+1), fmt.Sprintf("spine%d", s+1), t.FabricLink)
		}
	}
	for l := range t.Leaves {
		g.addHosts(fmt.Sprintf("leaf%d", l+1), t.Hosts, t.HostLink)
	}
	return g
}
