package scenario

import "fmt"

// A FatTree is the three-tier fabric of switches with K ports of Al-Fares, Loukissas and Vahdat (SIGCOMM 2008): K pods
// of K/2 edge and K/2 aggregation switches, (K/2)² core switches and K³/4 hosts.
type FatTree struct {
	K          Count    `yaml:"k"` // even
	HostLink   LinkSpec `yaml:"host_link"`
	FabricLink LinkSpec `yaml:"fabric_link"`
}

func (t *FatTree) check(c *checker) {
	const place = "topology.fat_tree"
	if t.K < 2 || t.K > 16 || t.K%2 != 0 {
		c.Say(place+".k", "got %d, want an even number from 2 to 16", t.K)
	}
	t.HostLink.check(c, place+".host_link", hostMTU)
	t.FabricLink.check(c, place+".fabric_link", switchMTU)
}

// graph names switches pod1-edge1, pod1-agg1 and core1. Aggregation switch a of each pod has links to the a-th group of
// K/2 cores.
func (t *FatTree) graph() Graph {
	var g Graph
	half := t.K / 2
	edge := func(pod, i Count) string { return fmt.Sprintf("pod%d-edge%d", pod+1, i+1) }
	agg := func(pod, i Count) string { return fmt.Sprintf("pod%d-agg%d", pod+1, i+1) }
	core := func(i Count) string { return fmt.Sprintf("core%d", i+1) }
	for pod := range t.K {
		for i := range half {
			g.Switches = append(g.Switches, SwitchSpec{Name: edge(pod, i), Role: "edge"})
		}
		for i := range half {
			g.Switches = append(g.Switches, SwitchSpec{Name: agg(pod, i), Role: "aggregation"})
		}
	}
	for i := range half * half {
		g.Switches = append(g.Switches, SwitchSpec{Name: core(i), Role: "core"})
	}
	for pod := range t.K {
		for e := range half {
			for a := range half {
				g.addLink(edge(pod, e), agg(pod, a), t.FabricLink)
			}
		}
		for a := range half {
			for i := range half {
				g.addLink(agg(pod, a), core(a*half+i), t.FabricLink)
			}
		}
		for e := range half {
			g.addHosts(edge(pod, e), half, t.HostLink)
		}
	}
	return g
}
