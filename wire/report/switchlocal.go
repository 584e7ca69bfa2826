package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const switchLocalLen = 16

// A SwitchLocal is the telemetry switch local header, which stands behind the fixed header of a V05 with
// NProtoSwitchLocal (TR 0.5 §3.2.3).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Switch id                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        Ingress port id        |        Egress port id         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Queue id    |                Queue occupancy                |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Egress timestamp                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type SwitchLocal struct {
	SwitchID       uint32
	IngressPort    uint16
	EgressPort     uint16
	QueueID        uint8
	QueueOccupancy uint32 // 24 bits
	EgressTS       uint32 // the low 32 bits of the device's nanosecond clock; wraps every 4.29 s
}

// Decode reads h from the front of b and returns 16. It fails with ErrTruncatedLocalHeader.
func (h *SwitchLocal) Decode(b []byte) (int, error) {
	if len(b) < switchLocalLen {
		*h = SwitchLocal{}
		return 0, wire.ErrTruncatedLocalHeader
	}
	queue := binary.BigEndian.Uint32(b[8:])
	*h = SwitchLocal{
		SwitchID:       binary.BigEndian.Uint32(b),
		IngressPort:    binary.BigEndian.Uint16(b[4:]),
		EgressPort:     binary.BigEndian.Uint16(b[6:]),
		QueueID:        uint8(queue >> 24),
		QueueOccupancy: queue & 0xFFFFFF,
		EgressTS:       binary.BigEndian.Uint32(b[12:]),
	}
	return switchLocalLen, nil
}

// Append appends the 16 bytes of h to b.
func (h *SwitchLocal) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, h.SwitchID)
	b = binary.BigEndian.AppendUint16(b, h.IngressPort)
	b = binary.BigEndian.AppendUint16(b, h.EgressPort)
	b = binary.BigEndian.AppendUint32(b, uint32(h.QueueID)<<24|h.QueueOccupancy&0xFFFFFF)
	return binary.BigEndian.AppendUint32(b, h.EgressTS)
}

// Len returns 16.
func (h *SwitchLocal) Len() int { return switchLocalLen }
