package watch

import "math/bits"

// within says whether the bits of m are bits of o.
func (m *words) within(o *words) bool {
	extra := uint64(0)
	for i := range m {
		extra |= m[i] &^ o[i]
	}
	return extra == 0
}

// and returns the bits that m and o have in common.
func (m *words) and(o *words) words {
	var both words
	for i := range m {
		both[i] = m[i] & o[i]
	}
	return both
}

// equal says whether a and b are the same in the bits of m.
func (m *words) equal(a, b *words) bool {
	differ := uint64(0)
	for i := range m {
		differ |= (a[i] ^ b[i]) & m[i]
	}
	return differ == 0
}

// hash returns a well spread hash of the bits of m in k. Unless wide, words 4 and 5 are taken to be 0.
func (m *words) hash(k *words, wide bool) uint64 {
	h := mix(k[0]&m[0]^0xa0761d6478bd642f, k[1]&m[1]^0xe7037ed1a0b428db) ^
		mix(k[2]&m[2]^0x8ebc6af09c88c6e3, k[3]&m[3]^0x589965cc75374cc3)
	if wide {
		h ^= mix(k[4]&m[4]^0x1d8e4e27c47d124f, k[5]&m[5]^0xeb44accab455d165)
	}
	return h * golden
}

// mix is the folded 64x64 multiplication of wyhash.
func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}
