package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	ipv4Len        = 20 // without options
	ipv4MaxLen     = 60 // with the most options that IHL can say
	ipv4DF         = 0x4000
	ipv4MF         = 0x2000
	ipv4OffsetMask = 0x1fff
)

// An IPv4 is an IPv4 header, IHL*4 bytes (RFC 791 §3.1; DSCP RFC 2474 §3, ECN RFC 3168 §5).
//
//	+-------+-------+-----------+---+-------------------------------+
//	|Version|  IHL  |   DSCP    |ECN|          TotalLength          |
//	+-------+-------+-----------+---+-+-+-+-------------------------+
//	|              ID               |0|D|M|     FragmentOffset      |
//	+---------------+---------------+-+-+-+-------------------------+
//	|      TTL      |   Protocol    |           Checksum            |
//	+---------------+---------------+-------------------------------+
//	|                              Src                              |
//	+---------------------------------------------------------------+
//	|                              Dst                              |
//	+---------------------------------------------------------------+
//	|                 Options (0 to 40 bytes) ...                   |
//	+---------------------------------------------------------------+
type IPv4 struct {
	IHL            uint8  // 4 bits, length of the header in words, at least 5
	DSCP           uint8  // 6 bits
	ECN            uint8  // 2 bits
	TotalLength    uint16 // bytes, header included
	ID             uint16
	DF, MF         bool   // Don't Fragment, More Fragments
	FragmentOffset uint16 // 13 bits, in units of 8 bytes
	TTL            uint8
	Protocol       uint8  // ProtoTCP and so on
	Checksum       uint16 // of the header; not verified, see HeaderChecksum
	Src, Dst       [4]byte
	Options        []byte // view; a multiple of 4 bytes
}

// IsFragment says whether the packet is any fragment, the first included, of a larger one.
func (h *IPv4) IsFragment() bool { return h.MF || h.FragmentOffset != 0 }

// IsLaterFragment says whether the packet is a fragment other than the first: no L4 header follows.
func (h *IPv4) IsLaterFragment() bool { return h.FragmentOffset != 0 }

// Decode reads h from the front of b and returns IHL*4. Errors: ErrTruncatedIPv4, ErrIPv4Version, and
// ErrIPv4HeaderLength for an IHL below 5. If only the options are cut (ErrTruncatedIPv4) or IHL is wrong, the other
// fields are filled. TotalLength is not compared with len(b): packets in captures and reports are cut.
func (h *IPv4) Decode(b []byte) (int, error) {
	if len(b) < ipv4Len {
		*h = IPv4{}
		return 0, wire.ErrTruncatedIPv4
	}
	if b[0]>>4 != 4 {
		*h = IPv4{}
		return 0, wire.ErrIPv4Version
	}
	h.IHL = b[0] & 0x0f
	h.DSCP = b[1] >> 2
	h.ECN = b[1] & 0x03
	h.TotalLength = binary.BigEndian.Uint16(b[2:])
	h.ID = binary.BigEndian.Uint16(b[4:])
	fragment := binary.BigEndian.Uint16(b[6:])
	h.DF = fragment&ipv4DF != 0
	h.MF = fragment&ipv4MF != 0
	h.FragmentOffset = fragment & ipv4OffsetMask
	h.TTL = b[8]
	h.Protocol = b[9]
	h.Checksum = binary.BigEndian.Uint16(b[10:])
	h.Src = [4]byte(b[12:16])
	h.Dst = [4]byte(b[16:20])
	h.Options = nil
	n := int(h.IHL) * 4
	if n < ipv4Len {
		return 0, wire.ErrIPv4HeaderLength
	}
	if len(b) < n {
		return 0, wire.ErrTruncatedIPv4
	}
	if n > ipv4Len {
		h.Options = b[ipv4Len:n:n]
	}
	return n, nil
}

// Append appends h to b. It writes IHL and Checksum as they are.
func (h *IPv4) Append(b []byte) []byte {
	fragment := h.FragmentOffset & ipv4OffsetMask
	if h.DF {
		fragment |= ipv4DF
	}
	if h.MF {
		fragment |= ipv4MF
	}
	b = append(b, 4<<4|h.IHL&0x0f, h.DSCP<<2|h.ECN&0x03)
	b = binary.BigEndian.AppendUint16(b, h.TotalLength)
	b = binary.BigEndian.AppendUint16(b, h.ID)
	b = binary.BigEndian.AppendUint16(b, fragment)
	b = append(b, h.TTL, h.Protocol)
	b = binary.BigEndian.AppendUint16(b, h.Checksum)
	b = append(b, h.Src[:]...)
	b = append(b, h.Dst[:]...)
	return append(b, h.Options...)
}

// Len returns 20 plus the length of Options, in bytes.
func (h *IPv4) Len() int { return ipv4Len + len(h.Options) }

// HeaderChecksum computes the checksum over what Append writes, the Checksum field taken as zero (RFC 791 §3.1).
// To verify the header of a received packet, see whether Fold(Sum(header, 0)) is 0xFFFF: that also covers the reserved
// bit, which Append does not write.
func (h *IPv4) HeaderChecksum() uint16 {
	var buf [ipv4MaxLen]byte
	header := *h
	header.Checksum = 0
	return ^Fold(Sum(header.Append(buf[:0]), 0))
}
