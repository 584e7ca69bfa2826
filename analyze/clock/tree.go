package clock

import (
	"cmp"
	"math"
	"slices"
)

// maxChain is the longest chain of neighbours over which two clocks are compared.
const maxChain = 32

// A node is a node in the tree of its reference, the node with the smallest id among all that are joined to it by pairs
// whose difference is known.
type node struct {
	id        uint32
	reference int32 // place in nodes
	parent    int32 // place in nodes; -1 of a reference
	pair      int32 // with the parent, place in pairs
	depth     int32
	cost      float64 // ns, uncertainty against the reference
	steps     int
	doubts    int // pairs in which a sample contradicts the estimate
}

// A Node is the clock of a node against that of its reference.
type Node struct {
	Node      uint32
	Reference uint32
	Hops      int // from the reference
	Link
}

// nodeAt returns the place of a node.
func (c *Estimator) nodeAt(id uint32) (int32, bool) {
	i, ok := slices.BinarySearchFunc(c.nodes, id, func(n node, id uint32) int { return cmp.Compare(n.id, id) })
	return int32(i), ok
}

// plant makes the trees: from each reference the ways of least uncertainty, which add up along the way.
func (c *Estimator) plant() {
	c.nodes = c.nodes[:0]
	for i := range c.pairs {
		if p := &c.pairs[i]; p.used {
			c.nodes = append(c.nodes, node{id: p.a}, node{id: p.b})
		}
	}
	slices.SortFunc(c.nodes, func(a, b node) int { return cmp.Compare(a.id, b.id) })
	c.nodes = slices.CompactFunc(c.nodes, func(a, b node) bool { return a.id == b.id })
	for i := range c.nodes {
		c.nodes[i].reference, c.nodes[i].parent = int32(i), -1
	}
	for i := range c.pairs {
		if p := &c.pairs[i]; p.used {
			p.nodeA, _ = c.nodeAt(p.a)
			p.nodeB, _ = c.nodeAt(p.b)
			p.planted = true
			if p.doubts > 0 { // only by Merge: the window goes on
				c.suspect(p)
			}
		}
	}
	c.untilStill(func(_ int32, a, b *node, _ float64) bool {
		if b.reference < a.reference {
			a.reference = b.reference
			return true
		}
		return false
	})
	for i := range c.nodes {
		n := &c.nodes[i]
		n.cost = math.Inf(1)
		if n.reference == int32(i) {
			n.cost = 0
		}
	}
	c.untilStill(func(pair int32, a, b *node, uncertainty float64) bool {
		if cost := b.cost + uncertainty; cost < a.cost {
			parent, _ := c.nodeAt(b.id)
			a.cost, a.parent, a.pair = cost, parent, pair
			return true
		}
		return false
	})
	c.untilStill(func(pair int32, a, b *node, _ float64) bool {
		if a.parent >= 0 && a.pair == pair && a.depth != b.depth+1 && c.nodes[a.parent].id == b.id {
			a.depth = b.depth + 1
			return true
		}
		return false
	})
}

// untilStill calls better for both directions of each pair whose difference is known, until it is false for all.
func (c *Estimator) untilStill(better func(pair int32, a, b *node, uncertainty float64) bool) {
	for changed := true; changed; {
		changed = false
		for i := range c.pairs {
			p := &c.pairs[i]
			if !p.used || p.state != good {
				continue
			}
			a, b := &c.nodes[p.nodeA], &c.nodes[p.nodeB]
			there := better(int32(i), a, b, p.fit.uncertainty)
			back := better(int32(i), b, a, p.fit.uncertainty)
			changed = changed || there || back
		}
	}
}

// Nodes returns the clock of every node against that of its reference, by id. A node without a neighbour whose clock is
// known is its own reference.
func (c *Estimator) Nodes() []Node {
	list := make([]Node, 0, len(c.nodes))
	for i := range c.nodes {
		n := &c.nodes[i]
		reference := c.nodes[n.reference].id
		clock := Node{Node: n.id, Reference: reference, Hops: int(n.depth)}
		if n.parent < 0 {
			clock.Link = Link{Trusted: true, Why: whyReference}
		} else {
			clock.Link = c.Link(reference, n.id)
		}
		list = append(list, clock)
	}
	return list
}

// A leg is one pair on the way from one node to another.
type leg struct {
	pair *pair
	from uint32
}

// reading returns what the clock at the begin of a leg showed at a moment here.
func (l *leg) reading(atNs int64) uint64 {
	at := atNs - l.pair.lagNs
	if l.from != l.pair.a {
		at += l.pair.fit.offsetAt(at)
	}
	return uint64(at)
}

// way returns the pairs that lead from one node to another: the one of the two if it is known, else those of the tree.
func (c *Estimator) way(from, to uint32, legs *[maxChain]leg) ([]leg, string) {
	if p := c.pairOf(from, to); p != nil && p.state == good {
		legs[0] = leg{p, from}
		return legs[:1], ""
	}
	a, okA := c.nodeAt(from)
	b, okB := c.nodeAt(to)
	if !okA || !okB || c.nodes[a].reference != c.nodes[b].reference {
		if okA && okB && c.pairOf(from, to) == nil {
			return nil, whyApart
		}
		return nil, c.whyNot(from, to)
	}
	up, down := 0, maxChain // from climbs at the front of legs, to at their end
	for a != b {
		if up == down {
			return nil, whyTooFar
		}
		if na, nb := &c.nodes[a], &c.nodes[b]; na.depth >= nb.depth {
			legs[up] = leg{&c.pairs[na.pair], na.id}
			up++
			a = na.parent
		} else {
			down--
			legs[down] = leg{&c.pairs[nb.pair], c.nodes[nb.parent].id}
			b = nb.parent
		}
	}
	n := copy(legs[up:], legs[down:])
	return legs[:up+n], ""
}
