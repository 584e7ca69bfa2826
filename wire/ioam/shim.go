package ioam

import "github.com/waybill-int/waybill/wire"

const shimLen = 4

// A Shim stands before the IOAM body behind VXLAN-GPE and NSH (RFC 9452 §3).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   IOAM-Type   | IOAM HDR Len  |   Reserved    | Next Protocol |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Shim struct {
	Type         uint8 // TypePreallocated to TypeDEX, or a type that this package does not know
	HdrLen       uint8 // words of 4 bytes, the shim included
	NextProtocol uint8 // what follows the body, a VXLAN-GPE or NSH value
}

// Decode reads s from the front of b. Fewer than 4 bytes are wire.ErrTruncatedIOAM.
func (s *Shim) Decode(b []byte) (int, error) {
	*s = Shim{}
	if len(b) < shimLen {
		return 0, wire.ErrTruncatedIOAM
	}
	s.Type, s.HdrLen, s.NextProtocol = b[0], b[1], b[3]
	return shimLen, nil
}

// Append appends the 4 bytes of s.
func (s *Shim) Append(b []byte) []byte {
	return append(b, s.Type, s.HdrLen, 0, s.NextProtocol)
}

// Len returns 4.
func (s *Shim) Len() int { return shimLen }

// BodyLen returns the size in bytes of the body between the shim and the next protocol. available is the number of
// bytes behind the shim. A HdrLen that does not cover the shim or runs past them is wire.ErrIOAMShimLength.
//
// The text does not say clearly whether the length counts the shim; known senders count it. With a sender that does
// not, the body comes out 4 bytes short and the node records of a trace do not fit (wire.ErrIOAMNodesNotMultiple).
func (s *Shim) BodyLen(available int) (int, error) {
	n := 4*int(s.HdrLen) - shimLen
	if n < 0 || n > available {
		return 0, wire.ErrIOAMShimLength
	}
	return n, nil
}
