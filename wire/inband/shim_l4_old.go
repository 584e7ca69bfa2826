package inband

import "github.com/waybill-int/waybill/wire"

// shimLen is the length of every shim in bytes.
const shimLen = 4

// A ShimL4Old stands between TCP or UDP and the INT header in INT 0.5 (§5.3.1) and INT 1.0 (§4.6.1).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|     Type      |   Reserved    |    Length     |    DSCP   | R |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ShimL4Old struct {
	Type   uint8 // TypeHopByHop or TypeDestination
	Length uint8 // words of shim, INT header and stack; in 0.5 of the tail as well
	DSCP   uint8 // 1.0: the original DSCP, 6 bits, or 0; 0.5: reserved, the tail has the DSCP
}

// Decode reads s from the front of b and returns 4. It does not look at what follows.
// The only error is [wire.ErrTruncatedShim].
func (s *ShimL4Old) Decode(b []byte) (int, error) {
	*s = ShimL4Old{}
	if len(b) < shimLen {
		return 0, wire.ErrTruncatedShim
	}
	s.Type = b[0]
	s.Length = b[2]
	s.DSCP = b[3] >> 2
	return shimLen, nil
}

// Append appends the 4 bytes of s to b.
func (s *ShimL4Old) Append(b []byte) []byte {
	return append(b, s.Type, 0, s.Length, s.DSCP<<2)
}

// Len returns 4.
func (s *ShimL4Old) Len() int { return shimLen }

// End returns the offset from the start of the shim to the TCP or UDP payload behind INT, in bytes.
func (s *ShimL4Old) End() int { return 4 * int(s.Length) }
