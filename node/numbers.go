package node

// numbers has a number for each of a bounded number of flows: at a source that of the latest packet, at a sink the one
// that is next. A flow that takes the place of another begins with 0.
type numbers struct {
	sets [][4]flowNumber
}

type flowNumber struct {
	flow   uint64 // hash of the flow; 0: free
	number uint32
}

// newNumbers returns room for that many flows, rounded up to a power of two.
func newNumbers(flows uint32) numbers {
	sets := 1
	for 4*sets < int(flows) {
		sets *= 2
	}
	return numbers{make([][4]flowNumber, sets)}
}

// of returns the number of a flow, which stays valid until the next call, and whether it was there already. In a set
// the flow that was asked for longest ago gives way.
func (n *numbers) of(flow uint64) (*uint32, bool) {
	set := &n.sets[flow&uint64(len(n.sets)-1)]
	at, known := len(set)-1, false
	for i := range set {
		if set[i].flow == flow {
			at, known = i, true
			break
		}
	}
	found := set[at]
	if !known {
		found = flowNumber{flow: flow}
	}
	copy(set[1:at+1], set[:at])
	set[0] = found
	return &set[0].number, known
}
