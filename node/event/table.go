package event

import "math/bits"

// places returns the two buckets that a flow may be in.
func (d *Detector) places(flow uint64) (a, b *bucket) {
	// Folded multiplication: every bit of the flow and of the seed counts for both places.
	hi, lo := bits.Mul64(flow^d.config.Seed^0xa0761d6478bd642f, 0xe7037ed1a0b428db)
	h := hi ^ lo
	last := uint64(len(d.buckets) - 1)
	return &d.buckets[h&last], &d.buckets[h>>32&last]
}

// find returns the slot of a flow, nil if it is not known.
func (d *Detector) find(flow uint64) *slot {
	a, b := d.places(flow)
	for i := range a {
		if s := &a[i]; s.flow == flow && s.used {
			return s
		}
	}
	for i := range b {
		if s := &b[i]; s.flow == flow && s.used {
			return s
		}
	}
	return nil
}

// place returns a slot for a flow that has none, in the bucket with more free ones. If there is none, the flow that has
// been quiet for the longest is forgotten.
func (d *Detector) place(o *Observation) *slot {
	a, b := d.places(o.Flow)
	s, free := a.vacancy()
	if other, otherFree := b.vacancy(); otherFree > free || free == 0 && other.seenNs < s.seenNs {
		s = other
	}
	if s.used {
		idle := d.idle(s, o.NowNs)
		d.end(s, !idle)
		if !idle {
			d.forgotten++
		}
		d.flows--
	}
	d.flows++
	*s = slot{flow: o.Flow, used: true}
	return s
}

// vacancy returns a free slot and how many there are; if there is none, the slot whose flow was seen last the longest
// ago.
func (b *bucket) vacancy() (s *slot, free int) {
	s = &b[0]
	for i := range b {
		switch {
		case !b[i].used:
			s = &b[i]
			free++
		case free == 0 && b[i].seenNs < s.seenNs:
			s = &b[i]
		}
	}
	return s, free
}
