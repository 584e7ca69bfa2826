package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const icmpLen = 8

// An ICMP is the header of an ICMP message, 8 bytes: ICMPv4 (RFC 792) and ICMPv6 (RFC 4443 §2.1) alike.
//
//	+---------------+---------------+-------------------------------+
//	|     Type      |     Code      |           Checksum            |
//	+---------------+---------------+-------------------------------+
//	|                             Rest                              |
//	+---------------------------------------------------------------+
type ICMP struct {
	Type, Code uint8
	Checksum   uint16 // ICMPv6 covers a pseudo header, ICMPv4 does not
	Rest       uint32 // meaning depends on Type: identifier and sequence number of an echo, MTU of packet too big, ...
}

// Decode reads h from the front of b and returns 8. Error: ErrTruncatedICMP.
func (h *ICMP) Decode(b []byte) (int, error) {
	if len(b) < icmpLen {
		*h = ICMP{}
		return 0, wire.ErrTruncatedICMP
	}
	h.Type = b[0]
	h.Code = b[1]
	h.Checksum = binary.BigEndian.Uint16(b[2:])
	h.Rest = binary.BigEndian.Uint32(b[4:])
	return icmpLen, nil
}

// Append appends the 8 bytes of h to b.
func (h *ICMP) Append(b []byte) []byte {
	b = append(b, h.Type, h.Code)
	b = binary.BigEndian.AppendUint16(b, h.Checksum)
	return binary.BigEndian.AppendUint32(b, h.Rest)
}

// Len returns 8.
func (h *ICMP) Len() int { return icmpLen }
