package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const hostGapLen = 24

// Values of V05.NProto in the reports of Intel's Host-INT. They mean nothing in TR 0.5.
const (
	NProtoHostGap  uint8 = 3 // a HostGap, then IPv4
	NProtoHostIPv4 uint8 = 4 // IPv4; some versions put the node id of the sink in front
)

// A HostGap tells of packets of a flow that the sink of Host-INT missed: a gap in the sequence numbers of the source.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Source node id                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Sink node id                          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ingress port of the source   |    Egress port of the sink    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Gap timestamp                         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Gap sequence number                      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Gap count                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type HostGap struct {
	SourceID, SinkID        uint32
	IngressPort, EgressPort uint16
	Timestamp               uint32 // when it was detected, Unix time in seconds
	Sequence                uint32 // of the first packet that is missing
	Count                   uint32 // packets that are missing
}

// Decode reads h from the front of b and returns 24. It fails with ErrTruncatedDropHeader.
func (h *HostGap) Decode(b []byte) (int, error) {
	*h = HostGap{}
	if len(b) < hostGapLen {
		return 0, wire.ErrTruncatedDropHeader
	}
	h.SourceID, h.SinkID = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	h.IngressPort, h.EgressPort = binary.BigEndian.Uint16(b[8:]), binary.BigEndian.Uint16(b[10:])
	h.Timestamp, h.Sequence = binary.BigEndian.Uint32(b[12:]), binary.BigEndian.Uint32(b[16:])
	h.Count = binary.BigEndian.Uint32(b[20:])
	return hostGapLen, nil
}

// Append appends the 24 bytes of h to b.
func (h *HostGap) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, h.SourceID), h.SinkID)
	b = binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, h.IngressPort), h.EgressPort)
	b = binary.BigEndian.AppendUint32(binary.BigEndian.AppendUint32(b, h.Timestamp), h.Sequence)
	return binary.BigEndian.AppendUint32(b, h.Count)
}

// Len returns 24.
func (h *HostGap) Len() int { return hostGapLen }

// HostNode returns the node id that some versions of Host-INT put between the header of a report and its IPv4 packet,
// and how many bytes it takes: 0 if b begins with IPv4.
func HostNode(b []byte) (id uint32, n int) {
	if len(b) < 8 || b[0]>>4 == 4 && b[0]&0x0F >= 5 {
		return 0, 0
	}
	return binary.BigEndian.Uint32(b), 4
}
