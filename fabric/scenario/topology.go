package scenario

import "fmt"

// A Topology is one of a few shapes by their parameters, or any graph.
type Topology struct {
	LeafSpine *LeafSpine `yaml:"leaf_spine"`
	FatTree   *FatTree   `yaml:"fat_tree"`
	Ring      *Ring      `yaml:"ring"`
	Graph     *GraphSpec `yaml:"graph"`
}

// A LinkSpec is what a kind of link is like.
type LinkSpec struct {
	Rate  Rate     `yaml:"rate"`  // each way; default 1G
	Delay Duration `yaml:"delay"` // of propagation, one way; default 1us
	MTU   Bytes    `yaml:"mtu"`   // of the largest IP packet; default 1500 to hosts and 9000 between switches
}

const (
	minMTU, maxMTU         = 1280, 9216
	hostMTU, switchMTU     = 1500, 9000
	defaultRate            = 1e9
	defaultDelay           = 1000
	maxSwitches, maxHosts  = 2000, 20000
	maxHostsOfOne          = 250
	maxDelay, maxRingNodes = 10e9, 200
)

func (l *LinkSpec) check(c *checker, place string, mtu Bytes) {
	if l.Rate == 0 {
		l.Rate = defaultRate
	}
	if l.Delay == 0 {
		l.Delay = defaultDelay
	}
	if l.MTU == 0 {
		l.MTU = mtu
	}
	if l.Delay > maxDelay {
		c.Say(place+".delay", "want 1ns to 10s")
	}
	if l.MTU < minMTU || l.MTU > maxMTU {
		c.Say(place+".mtu", "got %d, want %d (the least that IPv6 needs) to %d", l.MTU, minMTU, maxMTU)
	}
}

func (t *Topology) check(c *checker) {
	shapes := 0
	if t.LeafSpine != nil {
		shapes++
		t.LeafSpine.check(c)
	}
	if t.FatTree != nil {
		shapes++
		t.FatTree.check(c)
	}
	if t.Ring != nil {
		shapes++
		t.Ring.check(c)
	}
	if t.Graph != nil {
		shapes++
		t.Graph.check(c)
	}
	if shapes != 1 {
		c.Say("topology", "got %d shapes, want one of leaf_spine, fat_tree, ring and graph", shapes)
	}
}

func (t *Topology) graph() Graph {
	switch {
	case t.LeafSpine != nil:
		return t.LeafSpine.graph()
	case t.FatTree != nil:
		return t.FatTree.graph()
	case t.Ring != nil:
		return t.Ring.graph()
	default:
		return t.Graph.graph()
	}
}

// within reports a number that is too small or too large.
func within(c *checker, place string, got, least, most Count) {
	if got < least || got > most {
		c.Say(place, "got %d, want %d to %d", got, least, most)
	}
}

// addHosts attaches n hosts to a switch. They are h1, h2 and so on in the whole graph.
func (g *Graph) addHosts(at string, n Count, link LinkSpec) {
	for range n {
		name := fmt.Sprintf("h%d", len(g.Hosts)+1)
		g.Hosts = append(g.Hosts, Host{Name: name, At: at})
		g.Links = append(g.Links, Link{Between: [2]string{at, name}, LinkSpec: link})
	}
}

func (g *Graph) addLink(a, b string, link LinkSpec) {
	g.Links = append(g.Links, Link{Between: [2]string{a, b}, LinkSpec: link})
}
