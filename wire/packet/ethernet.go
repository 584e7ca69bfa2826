package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const ethernetLen = 14

// An Ethernet is the header of an Ethernet II frame, 14 bytes (IEEE 802.3 §3.2). Preamble and frame check sequence are
// not part of it.
//
//	+-------------------------------+-------------------------------+
//	|                              Dst                              |
//	+-------------------------------+-------------------------------+
//	|          Dst (cont.)          |              Src              |
//	+-------------------------------+-------------------------------+
//	|                          Src (cont.)                          |
//	+-------------------------------+-------------------------------+
//	|           EtherType           |
//	+-------------------------------+
type Ethernet struct {
	Dst, Src  [6]byte
	EtherType uint16 // EtherTypeIPv4 and so on; below 0x0600 it is the length of an IEEE 802.3 frame
}

// Decode reads h from the front of b and returns 14. Error: ErrTruncatedEthernet.
func (h *Ethernet) Decode(b []byte) (int, error) {
	if len(b) < ethernetLen {
		*h = Ethernet{}
		return 0, wire.ErrTruncatedEthernet
	}
	h.Dst = [6]byte(b[0:6])
	h.Src = [6]byte(b[6:12])
	h.EtherType = binary.BigEndian.Uint16(b[12:])
	return ethernetLen, nil
}

// Append appends the 14 bytes of h to b.
func (h *Ethernet) Append(b []byte) []byte {
	b = append(b, h.Dst[:]...)
	b = append(b, h.Src[:]...)
	return binary.BigEndian.AppendUint16(b, h.EtherType)
}

// Len returns 14.
func (h *Ethernet) Len() int { return ethernetLen }
