package watch

// bucketLimit is how many rules share a bucket, unless Compile finds no other way.
const bucketLimit = 8

// A table holds the rules that it found room for, in buckets of those with the same bits under its mask.
type table struct {
	mask words
	best uint32 // the lowest rank of its rules

	// Most packets are in no bucket of most tables. The filter tells that with one look at little memory: its bit for
	// the hash of every bucket is set, and 1 in 16 or less of the others.
	filterShift uint8 // of a hash, to a bit of filter
	slotShift   uint8 // of a hash, to a place in slots
	filter      []uint64
	slots       []slot // open addressing with linear probing; a power of two, at most half full
	rules       []rule // bucket after bucket, in each by rank
}

// A slot is a bucket. The zero slot is empty.
type slot struct {
	tag   uint32 // the lower half of the hash, bit 0 set
	first uint32 // rule
	best  uint32 // the rank of that rule: often it is not worth to look at the rule
}

// find returns the lowest rank below best of a rule that matches k, or best.
func (t *table) find(k *words, wide bool, best uint32) uint32 {
	h := t.mask.hash(k, wide)
	if bit := h >> t.filterShift; t.filter[bit/64]>>(bit%64)&1 == 0 {
		return best
	}
	tag := uint32(h) | 1
	for i := h >> t.slotShift; ; i++ {
		s := &t.slots[i&uint64(len(t.slots)-1)]
		if s.tag == 0 {
			return best
		}
		if s.tag != tag || s.best >= best {
			continue
		}
		for n := s.first; t.rules[n].rank < best; n++ {
			if t.rules[n].matches(k, wide) {
				return t.rules[n].rank
			}
			if t.rules[n].last {
				break // another bucket may have the same tag: only an empty slot ends the search
			}
		}
	}
}
