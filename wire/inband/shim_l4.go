package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

// Values of NPT, the next protocol type of a ShimL4: what the packet was marked with, and thus what the shim keeps.
const (
	// NPTDSCP: marked by DSCP or by a probe marker. The TCP or UDP payload follows INT.
	NPTDSCP uint8 = 0
	// NPTDstPort: marked by the UDP destination port. The payload of the original UDP header follows INT.
	NPTDstPort uint8 = 1
	// NPTProtocol: the UDP header was inserted with INT. A header of another protocol follows INT.
	NPTProtocol uint8 = 2
)

// A ShimL4 stands between TCP or UDP and the INT header from INT 2.0 on (INT 2.1 §5.7.2). The last two bytes depend on
// NPT; the fields that another NPT would fill are 0, and with the undefined NPT 3 all of them are.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Type  |NPT| R |    Length     |   Reserved    |    DSCP   | R |  NPT 0
//	|       |   |   |               |    UDP destination port       |  NPT 1
//	|       |   |   |               |   Reserved    |  IP protocol  |  NPT 2
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type ShimL4 struct {
	Type     uint8  // 4 bits: TypeMD, TypeDestination or TypeMX
	NPT      uint8  // 2 bits
	Length   uint8  // words of INT header and stack; the shim is not counted
	DstPort  uint16 // NPTDstPort: the original UDP destination port
	Protocol uint8  // NPTProtocol: the original IP protocol or next header
	DSCP     uint8  // NPTDSCP: the original DSCP, 6 bits, or 0
}

// Decode reads s from the front of b and returns 4. It does not look at what follows.
// The only error is [wire.ErrTruncatedShim].
func (s *ShimL4) Decode(b []byte) (int, error) {
	*s = ShimL4{}
	if len(b) < shimLen {
		return 0, wire.ErrTruncatedShim
	}
	s.Type = b[0] >> 4
	s.NPT = b[0] >> 2 & 3
	s.Length = b[1]
	switch s.NPT {
	case NPTDSCP:
		s.DSCP = b[3] >> 2
	case NPTDstPort:
		s.DstPort = binary.BigEndian.Uint16(b[2:])
	case NPTProtocol:
		s.Protocol = b[3]
	}
	return shimLen, nil
}

// Append appends the 4 bytes of s to b.
func (s *ShimL4) Append(b []byte) []byte {
	b = append(b, s.Type<<4|s.NPT&3<<2, s.Length)
	switch s.NPT & 3 {
	case NPTDSCP:
		return append(b, 0, s.DSCP<<2)
	case NPTDstPort:
		return binary.BigEndian.AppendUint16(b, s.DstPort)
	case NPTProtocol:
		return append(b, 0, s.Protocol)
	}
	return append(b, 0, 0)
}

// Len returns 4.
func (s *ShimL4) Len() int { return shimLen }

// End returns the offset from the start of the shim to what follows INT, in bytes.
func (s *ShimL4) End() int { return shimLen + 4*int(s.Length) }
