package inband

import "github.com/waybill-int/waybill/wire"

// A ShimGPE stands between VXLAN-GPE and the INT header from INT 2.0 on (INT 2.1 §5.7.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Type  | Rsvd  |    Length     |G|  Reserved   | Next Protocol |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ShimGPE struct {
	Type         uint8 // 4 bits: TypeMD, TypeDestination or TypeMX
	Length       uint8 // words of INT header and stack; the shim is not counted
	G            bool  // the packet was VXLAN before INT, and is VXLAN again behind the sink
	NextProtocol uint8 // of VXLAN-GPE: the value for INT if another shim follows
}

const shimGPEFlagG = 0x80 // in byte 2

// Decode reads s from the front of b and returns 4. It does not look at what follows.
// The only error is [wire.ErrTruncatedShim].
func (s *ShimGPE) Decode(b []byte) (int, error) {
	*s = ShimGPE{}
	if len(b) < shimLen {
		return 0, wire.ErrTruncatedShim
	}
	s.Type = b[0] >> 4
	s.Length = b[1]
	s.G = b[2]&shimGPEFlagG != 0
	s.NextProtocol = b[3]
	return shimLen, nil
}

// Append appends the 4 bytes of s to b.
func (s *ShimGPE) Append(b []byte) []byte {
	var flags uint8
	if s.G {
		flags = shimGPEFlagG
	}
	return append(b, s.Type<<4, s.Length, flags, s.NextProtocol)
}

// Len returns 4.
func (s *ShimGPE) Len() int { return shimLen }

// End returns the offset from the start of the shim to what follows INT, in bytes.
func (s *ShimGPE) End() int { return shimLen + 4*int(s.Length) }
