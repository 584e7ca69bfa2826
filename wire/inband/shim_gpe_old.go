package inband

import "github.com/waybill-int/waybill/wire"

// A ShimGPEOld stands between VXLAN-GPE and the INT header in INT of June 2016 (§5.3.2), INT 0.5 (§5.3.2) and
// INT 1.0 (§4.6.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|     Type      |   Reserved    |    Length     | Next Protocol |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ShimGPEOld struct {
	Type         uint8 // TypeHopByHop or TypeDestination
	Length       uint8 // words of shim, INT header and stack
	NextProtocol uint8 // of VXLAN-GPE: the value for INT if another shim follows
}

// Decode reads s from the front of b and returns 4. It does not look at what follows.
// The only error is [wire.ErrTruncatedShim].
func (s *ShimGPEOld) Decode(b []byte) (int, error) {
	*s = ShimGPEOld{}
	if len(b) < shimLen {
		return 0, wire.ErrTruncatedShim
	}
	s.Type = b[0]
	s.Length = b[2]
	s.NextProtocol = b[3]
	return shimLen, nil
}

// Append appends the 4 bytes of s to b.
func (s *ShimGPEOld) Append(b []byte) []byte {
	return append(b, s.Type, 0, s.Length, s.NextProtocol)
}

// Len returns 4.
func (s *ShimGPEOld) Len() int { return shimLen }

// End returns the offset from the start of the shim to what follows INT, in bytes.
func (s *ShimGPEOld) End() int { return 4 * int(s.Length) }
