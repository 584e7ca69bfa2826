package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	vlanLen    = 4
	vlanDEI    = 0x1000
	vlanIDMask = 0x0fff
)

// A VLAN is the part of a VLAN tag behind the EtherType that announces it, 4 bytes: the Tag Control Information and the
// next EtherType (IEEE 802.1Q §9.6). Tags repeat (QinQ) as long as IsVLAN(EtherType).
//
//	+-----+-+-----------------------+-------------------------------+
//	| PCP |D|          ID           |           EtherType           |
//	+-----+-+-----------------------+-------------------------------+
type VLAN struct {
	PCP       uint8  // 3 bits, Priority Code Point
	DEI       bool   // D, Drop Eligible Indicator
	ID        uint16 // 12 bits, VLAN Identifier; 0 is a tag that carries a priority only
	EtherType uint16 // of what follows
}

// IsVLAN says whether a VLAN follows an EtherType: the customer tag 0x8100, the service tag 0x88A8, or 0x9100, which
// was the outer tag of QinQ before it had a standard.
func IsVLAN(etherType uint16) bool {
	return etherType == EtherTypeVLAN || etherType == EtherTypeServiceVLAN || etherType == EtherTypeQinQ
}

// Decode reads h from the front of b and returns 4. Error: ErrTruncatedVLAN.
func (h *VLAN) Decode(b []byte) (int, error) {
	if len(b) < vlanLen {
		*h = VLAN{}
		return 0, wire.ErrTruncatedVLAN
	}
	tci := binary.BigEndian.Uint16(b)
	h.PCP = uint8(tci >> 13)
	h.DEI = tci&vlanDEI != 0
	h.ID = tci & vlanIDMask
	h.EtherType = binary.BigEndian.Uint16(b[2:])
	return vlanLen, nil
}

// Append appends the 4 bytes of h to b.
func (h *VLAN) Append(b []byte) []byte {
	tci := uint16(h.PCP)<<13 | h.ID&vlanIDMask
	if h.DEI {
		tci |= vlanDEI
	}
	b = binary.BigEndian.AppendUint16(b, tci)
	return binary.BigEndian.AppendUint16(b, h.EtherType)
}

// Len returns 4.
func (h *VLAN) Len() int { return vlanLen }
