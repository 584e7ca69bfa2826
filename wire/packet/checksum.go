package packet

import (
	"encoding/binary"
	"math/bits"
)

// The Internet checksum (RFC 1071) is the complement of the ones' complement sum of 16-bit words. Here a sum is a
// uint32 that is congruent to that sum modulo 0xFFFF and still unfolded, so that parts of a packet can be summed one
// after the other:
//
//	sum := PseudoIPv4(src, dst, ProtoTCP, len(segment))
//	checksum := ^Fold(Sum(segment, sum))
//
// with the checksum field inside segment set to zero. With the field left as it is, Fold returns 0xFFFF if it is right.

// Sum adds the ones' complement sum of b to initial, which is 0, the sum of a pseudo header or of the bytes before b.
// b starts at an even offset of the packet. If its length is odd, it is padded with a zero byte: only the last part of
// a packet may be odd. The result is below 2^18.
func Sum(b []byte, initial uint32) uint32 {
	// 2^64 is 1 modulo 0xFFFF: words of 64 bits are summed as they are, each carry is added at the lower end, and the
	// sum is folded when all are in. Four at a time, because a carry goes from word to word for free but not around a
	// loop. Adding the last carry cannot overflow: in a chain that starts without one, a sum that carried is at most
	// 2^64-2.
	sum, carry := uint64(initial), uint64(0)
	for len(b) >= 32 {
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b), 0)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b[8:]), carry)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b[16:]), carry)
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b[24:]), carry)
		sum += carry
		b = b[32:]
	}
	for len(b) >= 8 {
		sum, carry = bits.Add64(sum, binary.BigEndian.Uint64(b), 0)
		sum += carry
		b = b[8:]
	}
	sum = sum>>32 + sum&0xffffffff
	if len(b) >= 4 {
		sum += uint64(binary.BigEndian.Uint32(b))
		b = b[4:]
	}
	if len(b) >= 2 {
		sum += uint64(binary.BigEndian.Uint16(b))
		b = b[2:]
	}
	if len(b) == 1 {
		sum += uint64(b[0]) << 8
	}
	sum = sum>>32 + sum&0xffffffff
	sum = sum>>16 + sum&0xffff
	return uint32(sum)
}

// Fold returns a sum as 16 bits. It does not complement it: a checksum is ^Fold(sum).
func Fold(sum uint32) uint16 {
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return uint16(sum)
}

// PseudoIPv4 returns the sum of the pseudo header that checksums of TCP and UDP over IPv4 begin with (RFC 9293 §3.1).
// length is that of the L4 header and payload, in bytes.
func PseudoIPv4(src, dst [4]byte, proto uint8, length int) uint32 {
	sum := Sum(src[:], uint32(proto))
	sum = Sum(dst[:], sum)
	return sum + uint32(uint16(length))
}

// PseudoIPv6 returns the sum of the pseudo header that checksums of TCP, UDP and ICMPv6 over IPv6 begin with (RFC 8200
// §8.1). next is the number of the L4 protocol, not of an extension header. length is that of the L4 header and
// payload, in bytes.
func PseudoIPv6(src, dst [16]byte, next uint8, length int) uint32 {
	sum := Sum(src[:], uint32(next))
	sum = Sum(dst[:], sum)
	return sum + uint32(length)>>16 + uint32(length)&0xffff
}

// UpdateChecksum returns the checksum of a packet in which before was replaced by after, from its old checksum and
// without a look at the rest (RFC 1624 §3, equation 3). Both start at an even offset of the packet and have an even
// length. The lengths may differ: an empty before is an insertion, an empty after a removal; length fields that change
// with it, also the length in a pseudo header, are replacements of their own. An error in the old checksum is still
// there in the new one, so that damaged packets stay recognisable. For UDP, do not call it for an old checksum of 0 and
// pass the result through UDPChecksum.
func UpdateChecksum(old uint16, before, after []byte) uint16 {
	sum := uint32(^old) + uint32(^Fold(Sum(before, 0)))
	return ^Fold(Sum(after, sum))
}

// UDPChecksum returns what the checksum field of a UDP header says for a computed checksum: 0 is sent as 0xFFFF, which
// is the same number in ones' complement, because a field of 0 means that there is no checksum (RFC 768).
func UDPChecksum(checksum uint16) uint16 {
	if checksum == 0 {
		return 0xffff
	}
	return checksum
}
