package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const sctpLen = 12

// An SCTP is the common header of an SCTP packet, 12 bytes (RFC 9260 §3.1). Chunks follow it.
//
//	+-------------------------------+-------------------------------+
//	|            SrcPort            |            DstPort            |
//	+-------------------------------+-------------------------------+
//	|                        VerificationTag                        |
//	+---------------------------------------------------------------+
//	|                           Checksum                            |
//	+---------------------------------------------------------------+
type SCTP struct {
	SrcPort, DstPort uint16
	VerificationTag  uint32
	Checksum         uint32 // CRC32c
}

// Decode reads h from the front of b and returns 12. Error: ErrTruncatedSCTP, with the ports if they are there.
func (h *SCTP) Decode(b []byte) (int, error) {
	if len(b) < sctpLen {
		*h = SCTP{}
		h.SrcPort, h.DstPort, _ = Ports(b)
		return 0, wire.ErrTruncatedSCTP
	}
	h.SrcPort = binary.BigEndian.Uint16(b)
	h.DstPort = binary.BigEndian.Uint16(b[2:])
	h.VerificationTag = binary.BigEndian.Uint32(b[4:])
	h.Checksum = binary.BigEndian.Uint32(b[8:])
	return sctpLen, nil
}

// Append appends the 12 bytes of h to b.
func (h *SCTP) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, h.SrcPort)
	b = binary.BigEndian.AppendUint16(b, h.DstPort)
	b = binary.BigEndian.AppendUint32(b, h.VerificationTag)
	return binary.BigEndian.AppendUint32(b, h.Checksum)
}

// Len returns 12.
func (h *SCTP) Len() int { return sctpLen }
