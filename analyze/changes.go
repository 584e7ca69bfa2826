package analyze

import "github.com/waybill-int/waybill/telemetry"

// A changeKey is a way out of a node that packets took before, and the one that they take now.
type changeKey struct {
	node, port, toNode uint32 // the node where the paths part, its old egress port, and the node behind that
	newPort            uint32
}

// A change counts the flows that changed their path in the same way.
type change struct {
	flows       uint64
	first, last int64
	flow        telemetry.FlowKey // one of them
	path        uint64            // the new path
}

// maxChanges bounds the different changes between two scans.
const maxChanges = 1024

// changeTable counts path changes by the place where the paths part, until a Scanner takes them.
type changeTable struct {
	changes  map[changeKey]*change
	overflow uint64
}

// note counts that the flow with that key went from one path to another.
func (t *changeTable) note(key *telemetry.FlowKey, from, to *path, nowNs int64) {
	k, ok := parting(from.hops, to.hops)
	if !ok {
		return
	}
	c := t.changes[k]
	if c == nil {
		if len(t.changes) >= maxChanges {
			t.overflow++
			return
		}
		c = &change{first: nowNs}
		t.changes[k] = c
	}
	c.flows++
	c.last, c.flow, c.path = nowNs, *key, to.hash
}

// parting returns where two paths part; false if they do not, or if it is not known which node that is.
func parting(from, to []pathHop) (k changeKey, ok bool) {
	i := 0
	for i < min(len(from), len(to)) && from[i].station == to[i].station {
		i++
	}
	if i == len(from) || i == len(to) || from[i].missing > 0 || to[i].missing > 0 {
		return k, false
	}
	if from[i].node != to[i].node || from[i].has&telemetry.HasNode != to[i].has&telemetry.HasNode || from[i].out == to[i].out {
		if i == 0 {
			return k, false // they came into the network elsewhere, or by another port
		}
		i-- // its ports are not known, or say nothing
	}
	at := &from[i]
	if at.has&telemetry.HasNode == 0 {
		return k, false
	}
	k = changeKey{node: at.node, port: at.out, newPort: to[i].out}
	if i+1 < len(from) {
		k.toNode = from[i+1].node
	}
	return k, true
}
