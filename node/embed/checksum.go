package embed

import "github.com/waybill-int/waybill/wire/packet"

// A summed says what kind of checksum covers INT.
type summed uint8

const (
	sumNone summed = iota
	sumUDP         // and a pseudo header; 0: there is none
	sumTCP         // and a pseudo header
	sumGRE
)

// A checksum is where the checksum stands that covers INT.
type checksum struct {
	at int // offset of the field
	of summed
}

// A delta is how much the ones' complement sum of a part of a packet has changed (RFC 1624). It is congruent to that
// modulo 0xFFFF, and not folded: there is room for more changes than a packet has words.
type delta uint64

// replace notes that a word was changed.
func (c *delta) replace(before, after uint16) { *c += delta(^before) + delta(after) }

// insert notes that b was inserted at an even offset; its length is even.
func (c *delta) insert(b []byte) { *c += delta(packet.Fold(packet.Sum(b, 0))) }

// remove notes that b was removed at an even offset; its length is even.
func (c *delta) remove(b []byte) { *c += delta(^packet.Fold(packet.Sum(b, 0))) }

// fold returns c as 16 bits.
func (c delta) fold() uint16 {
	for c > 0xFFFF {
		c = c>>16 + c&0xFFFF
	}
	return uint16(c)
}

// apply returns the checksum after the change (RFC 1624 §3, equation 3).
func (c delta) apply(old uint16) uint16 { return ^(c + delta(^old)).fold() }

// complement returns the checksum complement that makes up for the change (INT 2.1 §5.6).
func (c delta) complement() uint32 {
	folded := c.fold()
	if folded == 0 {
		folded = 0xFFFF // the same number, and the one that a sum over the whole packet gives
	}
	return uint32(^folded)
}
