package fabric

import "net/netip"

// A table finds the route of the longest prefix that an address is in. It is a trie of whole bytes: a prefix that ends
// inside a byte has all entries that begin with it, so that a lookup is one load for each byte.
type table struct {
	nodes []tableNode
}

type tableNode [256]tableEntry

type tableEntry struct {
	route *route // of the longest prefix that ends in this byte; nil if there is none
	bits  uint8  // how much of the byte it covers
	child int32  // node of the next byte; 0 if there is none
}

// A route says what becomes of packets.
type route struct {
	ports  []*port // equally good; empty: they are dropped
	silent bool    // and nobody is told
}

func newTable() *table { return &table{nodes: make([]tableNode, 1)} }

// insert adds a route, or replaces that of the same prefix.
func (t *table) insert(prefix netip.Prefix, r *route) {
	address, bits, n := prefix.Addr().AsSlice(), prefix.Bits(), int32(0)
	for bits > 8 {
		child := t.nodes[n][address[0]].child
		if child == 0 {
			child = int32(len(t.nodes))
			t.nodes = append(t.nodes, tableNode{})
			t.nodes[n][address[0]].child = child
		}
		n = child
		address, bits = address[1:], bits-8
	}
	first := int(address[0])
	for i := first; i < first+1<<(8-bits); i++ {
		if e := &t.nodes[n][i]; e.route == nil || int(e.bits) <= bits {
			e.route, e.bits = r, uint8(bits)
		}
	}
}

// lookup returns the route of an address, nil if there is none.
func (t *table) lookup(address []byte) *route {
	var best *route
	n := int32(0)
	for _, b := range address {
		e := &t.nodes[n][b]
		if e.route != nil {
			best = e.route
		}
		if e.child == 0 {
			break
		}
		n = e.child
	}
	return best
}
