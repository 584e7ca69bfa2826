package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

// Flags of VXLAN and VXLANGPE.
const (
	VXLANFlagI = 0x08 // the VNI is valid
	VXLANFlagP = 0x04 // a Next Protocol is present; VXLAN-GPE only
)

const vxlanLen = 8

// A VXLAN is a VXLAN header, 8 bytes (RFC 7348 §5). An Ethernet frame follows.
//
//	+---------------+-----------------------------------------------+
//	|     Flags     |                   Reserved                    |
//	+---------------+-------------------------------+---------------+
//	|                      VNI                      |   Reserved    |
//	+-----------------------------------------------+---------------+
type VXLAN struct {
	Flags uint8  // all 8 bits; only VXLANFlagI has a meaning
	VNI   uint32 // 24 bits, VXLAN Network Identifier
}

// I says whether the VNI is valid. Senders must set it (RFC 7348 §5); Decode does not ask for it.
func (h *VXLAN) I() bool { return h.Flags&VXLANFlagI != 0 }

// Decode reads h from the front of b and returns 8. Error: ErrTruncatedVXLAN.
func (h *VXLAN) Decode(b []byte) (int, error) {
	if len(b) < vxlanLen {
		*h = VXLAN{}
		return 0, wire.ErrTruncatedVXLAN
	}
	h.Flags = b[0]
	h.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	return vxlanLen, nil
}

// Append appends the 8 bytes of h to b.
func (h *VXLAN) Append(b []byte) []byte {
	b = append(b, h.Flags, 0, 0, 0)
	return binary.BigEndian.AppendUint32(b, h.VNI<<8)
}

// Len returns 8.
func (h *VXLAN) Len() int { return vxlanLen }
