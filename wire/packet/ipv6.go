package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	ipv6Len           = 40
	ipv6FlowLabelMask = 0x000fffff
)

// An IPv6 is an IPv6 header, 40 bytes (RFC 8200 §3; DSCP and ECN are the Traffic Class, RFC 2474 §3, RFC 3168 §5).
//
//	+-------+-----------+---+---------------------------------------+
//	|Version|   DSCP    |ECN|               FlowLabel               |
//	+-------+-----------+---+-------+---------------+---------------+
//	|         PayloadLength         |  NextHeader   |   HopLimit    |
//	+-------------------------------+---------------+---------------+
//	|                        Src (16 bytes) ...                     |
//	+---------------------------------------------------------------+
//	|                        Dst (16 bytes) ...                     |
//	+---------------------------------------------------------------+
type IPv6 struct {
	DSCP          uint8  // 6 bits
	ECN           uint8  // 2 bits
	FlowLabel     uint32 // 20 bits
	PayloadLength uint16 // bytes behind this header, extension headers included; 0 in a jumbogram (RFC 2675)
	NextHeader    uint8  // ProtoTCP, ProtoHopByHop and so on
	HopLimit      uint8
	Src, Dst      [16]byte
}

// Decode reads h from the front of b and returns 40. Errors: ErrTruncatedIPv6, ErrIPv6Version. PayloadLength is not
// compared with len(b): packets in captures and reports are cut.
func (h *IPv6) Decode(b []byte) (int, error) {
	if len(b) < ipv6Len {
		*h = IPv6{}
		return 0, wire.ErrTruncatedIPv6
	}
	first := binary.BigEndian.Uint32(b)
	if first>>28 != 6 {
		*h = IPv6{}
		return 0, wire.ErrIPv6Version
	}
	h.DSCP = uint8(first>>22) & 0x3f
	h.ECN = uint8(first>>20) & 0x03
	h.FlowLabel = first & ipv6FlowLabelMask
	h.PayloadLength = binary.BigEndian.Uint16(b[4:])
	h.NextHeader = b[6]
	h.HopLimit = b[7]
	h.Src = [16]byte(b[8:24])
	h.Dst = [16]byte(b[24:40])
	return ipv6Len, nil
}

// Append appends the 40 bytes of h to b.
func (h *IPv6) Append(b []byte) []byte {
	first := 6<<28 | uint32(h.DSCP&0x3f)<<22 | uint32(h.ECN&0x03)<<20 | h.FlowLabel&ipv6FlowLabelMask
	b = binary.BigEndian.AppendUint32(b, first)
	b = binary.BigEndian.AppendUint16(b, h.PayloadLength)
	b = append(b, h.NextHeader, h.HopLimit)
	b = append(b, h.Src[:]...)
	return append(b, h.Dst[:]...)
}

// Len returns 40.
func (h *IPv6) Len() int { return ipv6Len }
