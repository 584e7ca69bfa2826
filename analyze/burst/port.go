package burst

// A portKey names a port of a node.
type portKey struct{ node, port uint32 }

// A port is where some queues lead to. What a packet waits there when they are all empty is the base latency of each of
// them. It is shared, as a packet that finds its queue empty may wait for those of another one, for long if that goes
// first.
type port struct {
	queues        int    // that lead to it
	least, before uint32 // ns that packets waited, of this epoch and the one before
	epoch         uint64
}

const (
	epochBits = 33 // 8.6 s
	noWait    = 1<<32 - 1
)

// note notes what a packet waited that came at a moment. If it is quick, it may have met no other: else that is no more
// than a bound.
func (p *port) note(in uint64, wait uint32, quick bool) {
	if epoch := in >> epochBits; epoch != p.epoch && epoch+1 != p.epoch { // it may be late
		p.before, p.least = p.least, noWait
		p.epoch = epoch
	}
	if quick || wait < p.base() {
		p.least = min(p.least, wait)
	}
}

// base returns the base latency, ns. Before the first packet that waited it is 0.
func (p *port) base() uint32 {
	if least := min(p.least, p.before); least != noWait {
		return least
	}
	return 0
}
