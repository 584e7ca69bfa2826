package attack

import "math/bits"

// ways is how many places what is counted may be in: those of a set.
const ways = 8

// tags are of the places of a set, a byte each: a part of the hash of what is there, 0 if nothing is. All are compared
// at once, as nobody can foresee which one it will be.
type tags uint64

const (
	ones = 0x0101010101010101
	tops = 0x80 * ones
)

// tagOf returns the tag of what has a hash.
func tagOf(hash uint64) uint8 { return max(uint8(hash>>56), 1) }

// like returns the places with a tag, in the top bits of their bytes. The first one is right; one behind it may be
// there although its tag is another one.
func (t tags) like(tag uint8) uint64 {
	differ := uint64(t) ^ ones*uint64(tag)
	return (differ - ones) &^ differ & tops
}

// firstOf returns the first of some places.
func firstOf(places uint64) int { return bits.TrailingZeros64(places) / 8 }

func (t tags) has(place int) bool { return t>>(8*place)&0xff != 0 }

func (t *tags) set(place int, tag uint8) {
	*t = *t&^(0xff<<(8*place)) | tags(tag)<<(8*place)
}
