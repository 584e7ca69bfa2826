package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const vxlanGPEVersionMask = 0x30 // in Flags

// A VXLANGPE is a VXLAN-GPE header, 8 bytes (draft-ietf-nvo3-vxlan-gpe).
//
//	+---+---+-+-+-+-+-------------------------------+---------------+
//	| R |Ver|I|P|B|O|           Reserved            | NextProtocol  |
//	+---+---+-+-+-+-+-------------------------------+---------------+
//	|                      VNI                      |   Reserved    |
//	+-----------------------------------------------+---------------+
type VXLANGPE struct {
	Flags        uint8  // the first byte, all 8 bits; see VXLANFlagI and VXLANFlagP
	NextProtocol uint8  // NextIPv4 and so on, or that of an INT or IOAM shim; without meaning unless P
	VNI          uint32 // 24 bits, VXLAN Network Identifier
}

// I says whether the VNI is valid.
func (h *VXLANGPE) I() bool { return h.Flags&VXLANFlagI != 0 }

// P says whether NextProtocol is present. Without it the header is plain VXLAN: an Ethernet frame follows.
func (h *VXLANGPE) P() bool { return h.Flags&VXLANFlagP != 0 }

// Carries2016 reports whether NextProtocol is 5 by any reading of INT of June 2016 (§5.3.2, §5.4, appendix 2): its text
// draws P as bit 5, its picture nine flags, and its program tests the I bit. Its senders also set bits that later
// became Ver.
func (h *VXLANGPE) Carries2016() bool {
	return h.Flags&(VXLANFlagI|VXLANFlagP) != 0 && h.NextProtocol == NextINT2016
}

// Decode reads h from the front of b and returns 8. Errors: ErrTruncatedVXLAN; ErrVXLANGPEVersion for a Ver other than
// 0, with 8 and the fields filled: what was sent for INT of June 2016 may be read all the same, see Carries2016.
func (h *VXLANGPE) Decode(b []byte) (int, error) {
	if len(b) < vxlanLen {
		*h = VXLANGPE{}
		return 0, wire.ErrTruncatedVXLAN
	}
	h.Flags = b[0]
	h.NextProtocol = b[3]
	h.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	if h.Flags&vxlanGPEVersionMask != 0 {
		return vxlanLen, wire.ErrVXLANGPEVersion
	}
	return vxlanLen, nil
}

// Append appends the 8 bytes of h to b.
func (h *VXLANGPE) Append(b []byte) []byte {
	b = append(b, h.Flags, 0, 0, h.NextProtocol)
	return binary.BigEndian.AppendUint32(b, h.VNI<<8)
}

// Len returns 8.
func (h *VXLANGPE) Len() int { return vxlanLen }
