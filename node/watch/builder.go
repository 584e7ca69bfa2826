package watch

import (
	"math/bits"
	"slices"
)

// A bucket is a bucket of a table that is being built.
type bucket struct {
	key   words // the bits under the mask of the table
	rules []rule
}

// newTable takes the rules that find room in a table with that mask and returns it, and the rest. rules are in the
// order of their ranks, and so is the rest. A rule that a better one in its bucket covers is in neither.
func newTable(mask words, rules []rule, wide bool, limit int) (t table, rest []rule) {
	byKey := map[words]*bucket{}
	var buckets []*bucket
	for i := range rules {
		r := &rules[i]
		if !mask.within(&r.mask) {
			rest = append(rest, *r)
			continue
		}
		key := mask.and(&r.value)
		b := byKey[key]
		if b == nil {
			b = &bucket{key: key}
			byKey[key] = b
			buckets = append(buckets, b)
		}
		switch {
		case slices.ContainsFunc(b.rules, func(better rule) bool { return better.covers(r) }):
		case len(b.rules) == limit:
			rest = append(rest, *r)
		default:
			b.rules = append(b.rules, *r)
		}
	}
	t = table{mask: mask, best: noRank}
	t.fill(buckets, wide)
	return t, rest
}

// fill makes slots and filter of t and puts the buckets in.
func (t *table) fill(buckets []*bucket, wide bool) {
	size := bits.Len(uint(2*len(buckets)) | 8) // of the number of slots, in bits
	t.slots = make([]slot, 1<<size)
	t.slotShift = uint8(64 - size)
	t.filter = make([]uint64, len(t.slots)*8/64)
	t.filterShift = t.slotShift - 3
	for _, b := range buckets {
		h := t.mask.hash(&b.key, wide)
		bit := h >> t.filterShift
		t.filter[bit/64] |= 1 << (bit % 64)
		i := h >> t.slotShift
		for t.slots[i].tag != 0 {
			i = (i + 1) & uint64(len(t.slots)-1)
		}
		t.slots[i] = slot{tag: uint32(h) | 1, first: uint32(len(t.rules)), best: b.rules[0].rank}
		t.rules = append(t.rules, b.rules...)
		t.rules[len(t.rules)-1].last = true
		t.best = min(t.best, b.rules[0].rank)
	}
}
