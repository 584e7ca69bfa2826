package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const udpLen = 8

// A UDP is a UDP header, 8 bytes (RFC 768).
//
//	+-------------------------------+-------------------------------+
//	|            SrcPort            |            DstPort            |
//	+-------------------------------+-------------------------------+
//	|            Length             |           Checksum            |
//	+-------------------------------+-------------------------------+
type UDP struct {
	SrcPort, DstPort uint16
	Length           uint16 // bytes, this header included
	Checksum         uint16 // 0: none; see UDPChecksum
}

// Decode reads h from the front of b and returns 8. Error: ErrTruncatedUDP, with the ports if they are there. Length is
// not compared with len(b): packets in captures and reports are cut, and some senders of reports get it wrong.
func (h *UDP) Decode(b []byte) (int, error) {
	if len(b) < udpLen {
		*h = UDP{}
		h.SrcPort, h.DstPort, _ = Ports(b)
		return 0, wire.ErrTruncatedUDP
	}
	h.SrcPort = binary.BigEndian.Uint16(b)
	h.DstPort = binary.BigEndian.Uint16(b[2:])
	h.Length = binary.BigEndian.Uint16(b[4:])
	h.Checksum = binary.BigEndian.Uint16(b[6:])
	return udpLen, nil
}

// Append appends the 8 bytes of h to b.
func (h *UDP) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, h.SrcPort)
	b = binary.BigEndian.AppendUint16(b, h.DstPort)
	b = binary.BigEndian.AppendUint16(b, h.Length)
	return binary.BigEndian.AppendUint16(b, h.Checksum)
}

// Len returns 8.
func (h *UDP) Len() int { return udpLen }

// Ports returns the source and the destination port, with which the headers of UDP, TCP and SCTP begin; false if b has
// fewer than 4 bytes.
func Ports(b []byte) (src, dst uint16, ok bool) {
	if len(b) < 4 {
		return 0, 0, false
	}
	return binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:]), true
}
