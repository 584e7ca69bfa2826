package burst

// A gap is a time, by the clock of a node, in which samples are known to be missing: they were lost, or came when what
// they tell of was settled. Then silence of a queue does not mean that it was empty, and when a burst began or ended is
// not known to the nanosecond.
type gap struct {
	fromNs, toNs uint64
	open         int // calls of Advance up to which it goes on
}

// gapsApartNs is how far gaps are apart that are not taken for one.
const gapsApartNs = 1e9

// maxSilentGapNs is how long a queue may be silent in a gap at most for its burst to go on, besides what is usual.
const maxSilentGapNs = 5e9

// note begins a gap, or lets the last one go on. When it is over is known after the next samples.
func (g *gap) note(fromNs uint64) {
	if g.open == 0 && fromNs > g.toNs+gapsApartNs {
		g.fromNs, g.toNs = fromNs, fromNs
	}
	g.fromNs, g.open = min(g.fromNs, fromNs), 2
}

// advance lets the time pass: the clock of the node shows nowNs.
func (g *gap) advance(nowNs uint64) {
	if g.open > 0 {
		g.toNs = max(g.toNs, nowNs)
		g.open--
	}
}

// within returns how much of the time between two moments the gap is, ns.
func (g *gap) within(fromNs, toNs uint64) uint64 {
	from, to := max(fromNs, g.fromNs), min(toNs, g.toNs)
	return to - min(from, to)
}
