package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const groupLen = 8

// A Group is the telemetry report group header, once at the front of every packet of version 2.0 (TR 2.0 §3.2; "outer
// header" in its first text). Individual reports follow.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |   hw_id   |              Sequence Number              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                            Node ID                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Group struct {
	HWID     uint8  // 6 bits, the reporting subsystem, unique within the node
	Sequence uint32 // 22 bits, counts the packets of one NodeID and HWID to one destination
	NodeID   uint32 // the node that sends the report, unique within the management domain
}

// Decode reads h from the front of b, the UDP payload, and returns 8. It does not look at the version nibble (see
// Version). It fails with ErrTruncatedGroupHeader.
func (h *Group) Decode(b []byte) (int, error) {
	if len(b) < groupLen {
		*h = Group{}
		return 0, wire.ErrTruncatedGroupHeader
	}
	w := binary.BigEndian.Uint32(b)
	h.HWID = uint8(w >> 22 & 0x3F)
	h.Sequence = w & 0x3FFFFF
	h.NodeID = binary.BigEndian.Uint32(b[4:])
	return groupLen, nil
}

// Append appends the 8 bytes of h to b.
func (h *Group) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, 2<<28|uint32(h.HWID&0x3F)<<22|h.Sequence&0x3FFFFF)
	return binary.BigEndian.AppendUint32(b, h.NodeID)
}

// Len returns 8.
func (h *Group) Len() int { return groupLen }
