package watch

import (
	"cmp"
	"math/bits"
	"slices"
)

const (
	// maxCandidates bounds the masks that Compile tries for each table, so that no list takes long to compile.
	maxCandidates = 64
	// maxPieces is how many rules, on average, an entry may become by splitting ranges of ports.
	maxPieces = 4
)

// A plan finds the mask of the next table.
type plan struct {
	wide   bool
	counts []uint32 // scratch: rules by a hash of their bits
	hash   uint8    // bits of that hash
}

func newPlan(rules int, wide bool) plan {
	size := uint8(bits.Len(uint(4*rules)) + 1)
	return plan{wide: wide, counts: make([]uint32, 1<<size), hash: size}
}

// gain returns about how many of the rules find room in a table with that mask: two buckets may be taken for one.
func (p *plan) gain(mask *words, rules []rule, limit int) int {
	clear(p.counts)
	placed := 0
	for i := range rules {
		r := &rules[i]
		if !mask.within(&r.mask) {
			continue
		}
		n := &p.counts[mask.hash(&r.value, p.wide)>>(64-p.hash)]
		if int(*n) < limit {
			*n++
			placed++
		}
	}
	return placed
}

// best returns the mask that places most of the rules, as far as a search that only climbs finds it: it begins with the
// mask that is best of those that the rules have, and takes away the bits that some other of them does not have, as
// long as that places more.
func (p *plan) best(rules []rule, limit int) (mask words, gain int) {
	candidates := candidates(rules)
	for i := range candidates {
		if g := p.gain(&candidates[i], rules, limit); g > gain {
			mask, gain = candidates[i], g
		}
	}
	for {
		from := mask
		for i := range candidates {
			fewer := from.and(&candidates[i])
			if fewer == from {
				continue
			}
			if g := p.gain(&fewer, rules, limit); g > gain {
				mask, gain = fewer, g
			}
		}
		if mask == from {
			return mask, gain
		}
	}
}

// candidates returns the masks of the rules, the most frequent ones if there are many.
func candidates(rules []rule) []words {
	counts := map[words]int{}
	var masks []words // in the order of the rules, so that the result does not depend on that of the map
	for i := range rules {
		m := rules[i].mask
		if counts[m] == 0 {
			masks = append(masks, m)
		}
		counts[m]++
	}
	slices.SortStableFunc(masks, func(a, b words) int { return cmp.Compare(counts[b], counts[a]) })
	return masks[:min(len(masks), maxCandidates)]
}

// tables places all rules, which are in the order of their ranks.
func tables(rules []rule, wide bool) []table {
	var all []table
	p := newPlan(len(rules), wide)
	limit, spare := bucketLimit, maxPieces*len(rules)
	for len(rules) > 0 {
		mask, gain := p.best(rules, limit)
		if gain < enough(len(rules), len(all)) {
			// Too many rules differ only in what a hash cannot tell apart.
			if pieces := split(rules); len(pieces) > len(rules) && len(pieces)-len(rules) <= spare {
				spare -= len(pieces) - len(rules)
				rules = pieces
			} else {
				limit *= 2
			}
			continue
		}
		t, rest := newTable(mask, rules, wide, limit)
		all = append(all, t)
		rules, limit = rest, bucketLimit
	}
	slices.SortStableFunc(all, func(a, b table) int { return cmp.Compare(a.best, b.best) })
	return all
}

// enough is how many of the rules a table must place to be worth the time that it costs every packet. After many tables
// longer buckets cost less.
func enough(rules, tables int) int {
	if tables < 16 {
		return rules / 32
	}
	return rules / 4
}

// split returns the rules with every range of ports that is no block cut in two.
func split(rules []rule) []rule {
	pieces := make([]rule, 0, 2*len(rules))
	for i := range rules {
		if a, b, ok := rules[i].split(); ok {
			pieces = append(pieces, a, b)
		} else {
			pieces = append(pieces, rules[i])
		}
	}
	return pieces
}
