package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	ipv6FragmentLen  = 8
	ipv6FragmentMore = 0x0001
)

// An IPv6Fragment is a fragment header, 8 bytes (next header 44, RFC 8200 §4.5). One with Offset 0 and without More is
// a whole packet (an atomic fragment, RFC 6946).
//
//	+---------------+---------------+-------------------------+---+-+
//	|  NextHeader   |   Reserved    |         Offset          |Res|M|
//	+---------------+---------------+-------------------------+---+-+
//	|                              ID                               |
//	+---------------------------------------------------------------+
type IPv6Fragment struct {
	NextHeader uint8  // first header of the fragmentable part; what follows is that header only if !IsLater()
	Offset     uint16 // 13 bits, in units of 8 bytes
	More       bool   // M, more fragments
	ID         uint32 // Identification
}

// IsLater says whether the packet is a fragment other than the first: no L4 header follows.
func (h *IPv6Fragment) IsLater() bool { return h.Offset != 0 }

// Decode reads h from the front of b and returns 8. Error: ErrTruncatedIPv6Extension.
func (h *IPv6Fragment) Decode(b []byte) (int, error) {
	if len(b) < ipv6FragmentLen {
		*h = IPv6Fragment{}
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.NextHeader = b[0]
	fragment := binary.BigEndian.Uint16(b[2:])
	h.Offset = fragment >> 3
	h.More = fragment&ipv6FragmentMore != 0
	h.ID = binary.BigEndian.Uint32(b[4:])
	return ipv6FragmentLen, nil
}

// Append appends the 8 bytes of h to b.
func (h *IPv6Fragment) Append(b []byte) []byte {
	fragment := h.Offset << 3
	if h.More {
		fragment |= ipv6FragmentMore
	}
	b = append(b, h.NextHeader, 0)
	b = binary.BigEndian.AppendUint16(b, fragment)
	return binary.BigEndian.AppendUint32(b, h.ID)
}

// Len returns 8.
func (h *IPv6Fragment) Len() int { return ipv6FragmentLen }
