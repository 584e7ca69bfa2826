package clock

import "math"

// A Step says that a clock jumped against that of a neighbour.
type Step struct {
	A, B uint32 // neighbours, A < B
	// Node is the one whose clock jumped, where Known: the one that has steps against several neighbours.
	Node  uint32
	Known bool
	// The step was after one moment and not after the other, nanoseconds since 1970 by the clock here.
	AfterNs, BeforeNs int64
	// StepNs is by how much the clock of B went ahead of that of A. Of clocks that wrap it is known up to their turns.
	StepNs, UncertaintyNs int64
}

// suspect notes that a sample contradicts the estimate of a pair. A node of which two pairs say so is likely to have
// set its clock, and no pair of it is trusted any more in this window: the others may not have had a packet that shows
// it.
func (c *Estimator) suspect(p *pair) {
	if p.planted {
		c.nodes[p.nodeA].doubts++
		c.nodes[p.nodeB].doubts++
	}
}

// doubted reports whether the estimate of a pair cannot be trusted in this window.
func (c *Estimator) doubted(p *pair) bool {
	return p.doubts > 0 || p.planted && (c.nodes[p.nodeA].doubts > 1 || c.nodes[p.nodeB].doubts > 1)
}

// blame finds out whose clock each step of this window was.
func (c *Estimator) blame() {
	for i := range c.nodes {
		c.nodes[i].steps = 0
	}
	for i := range c.steps {
		c.addStep(c.steps[i].A)
		c.addStep(c.steps[i].B)
	}
	for i := range c.steps {
		s := &c.steps[i]
		switch a, b := c.stepsOf(s.A), c.stepsOf(s.B); {
		case a > b:
			s.Node, s.Known = s.A, true
		case b > a:
			s.Node, s.Known = s.B, true
		}
	}
}

func (c *Estimator) addStep(id uint32) {
	if i, ok := c.nodeAt(id); ok {
		c.nodes[i].steps++
	}
}

func (c *Estimator) stepsOf(id uint32) int {
	if i, ok := c.nodeAt(id); ok {
		return c.nodes[i].steps
	}
	return 0
}

// Shaken says why delays between two nodes that were corrected in the window that is over are not to be trusted; empty
// if they are. toldNs is up to when no clock was set on all of the way, in any case: packets of both directions came
// since, and would have shown it.
func (c *Estimator) Shaken(from, to uint32) (toldNs int64, why string) {
	toldNs = math.MaxInt64
	if from == to {
		return toldNs, ""
	}
	var legs [maxChain]leg
	way, why := c.way(from, to, &legs)
	if way == nil {
		return 0, why
	}
	for _, leg := range way {
		p := leg.pair
		if p.shaken {
			why = whyDoubted
		}
		toldNs = min(toldNs, p.latest[atMost], p.latest[atLeast], p.clearNs)
	}
	return toldNs, why
}
