package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

// A ShimGRE stands between GRE and the INT header from INT 2.0 on (INT 2.1 §5.7.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Type  |G|Rsvd |    Length     |        Next Protocol          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ShimGRE struct {
	Type         uint8  // 4 bits: TypeMD, TypeDestination or TypeMX
	G            bool   // the INT source inserted the GRE header too, and the sink removes it
	Length       uint8  // words of INT header and stack; the shim is not counted
	NextProtocol uint16 // EtherType
}

const shimGREFlagG = 0x08 // in byte 0

// Decode reads s from the front of b and returns 4. It does not look at what follows.
// The only error is [wire.ErrTruncatedShim].
func (s *ShimGRE) Decode(b []byte) (int, error) {
	*s = ShimGRE{}
	if len(b) < shimLen {
		return 0, wire.ErrTruncatedShim
	}
	s.Type = b[0] >> 4
	s.G = b[0]&shimGREFlagG != 0
	s.Length = b[1]
	s.NextProtocol = binary.BigEndian.Uint16(b[2:])
	return shimLen, nil
}

// Append appends the 4 bytes of s to b.
func (s *ShimGRE) Append(b []byte) []byte {
	first := s.Type << 4
	if s.G {
		first |= shimGREFlagG
	}
	return binary.BigEndian.AppendUint16(append(b, first, s.Length), s.NextProtocol)
}

// Len returns 4.
func (s *ShimGRE) Len() int { return shimLen }

// End returns the offset from the start of the shim to what follows INT, in bytes.
func (s *ShimGRE) End() int { return shimLen + 4*int(s.Length) }
