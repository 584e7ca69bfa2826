package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const dropHeaderLen = 12

// A DropHeader is the telemetry drop header, which stands behind the fixed header of a V05 with NProtoDrop
// (TR 0.5 §3.2.2).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Switch id                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        Ingress port id        |        Egress port id         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Queue id    |  Drop reason  |              Pad              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type DropHeader struct {
	SwitchID    uint32
	IngressPort uint16
	EgressPort  uint16 // 0 from some senders if the packet was dropped before its egress port was known
	QueueID     uint8
	Reason      uint8 // its meaning depends on the sender, see DropReasons
}

// Decode reads h from the front of b and returns 12. It fails with ErrTruncatedDropHeader.
func (h *DropHeader) Decode(b []byte) (int, error) {
	if len(b) < dropHeaderLen {
		*h = DropHeader{}
		return 0, wire.ErrTruncatedDropHeader
	}
	*h = DropHeader{
		SwitchID:    binary.BigEndian.Uint32(b),
		IngressPort: binary.BigEndian.Uint16(b[4:]),
		EgressPort:  binary.BigEndian.Uint16(b[6:]),
		QueueID:     b[8],
		Reason:      b[9],
	}
	return dropHeaderLen, nil
}

// Append appends the 12 bytes of h to b.
func (h *DropHeader) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.SwitchID)
	b = binary.BigEndian.AppendUint16(b, h.IngressPort)
	b = binary.BigEndian.AppendUint16(b, h.EgressPort)
	return append(b, h.QueueID, h.Reason, 0, 0)
}

// Len returns 12.
func (h *DropHeader) Len() int { return dropHeaderLen }
