package ifa

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	hopLen       = 32
	deviceIDMask = 0xfffff
	rxSecMask    = 0xfffff
)

// A Hop is the record of one node in the common metadata template (draft-kumar-ippm-ifa). Published decoders agree on
// words 0 to 4 and call 5 to 7 either queue statistics with reserved bits or three opaque words. Word6 and Word7 are
// therefore kept whole, so that both readings lose nothing.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  LNS  |               Device ID               |      TTL      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	| Speed |Con|  Queue ID |         Rx timestamp, seconds         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Egress port          |         Ingress port          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                   Rx timestamp, nanoseconds                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                   Residence time, nanoseconds                 |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                   Queue bytes, or opaque data                 |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Reserved, or opaque data    |  Queue cells, or opaque data  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                   Reserved, or opaque data                    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Hop struct {
	LNS         uint8  // 4 bits: local name space
	DeviceID    uint32 // 20 bits
	TTL         uint8  // of the IP header at this node
	Speed       uint8  // 4 bits, of the egress port: 0 to 6 are 10, 25, 40, 50, 100, 200, 400 Gbit/s
	Congestion  uint8  // 2 bits, ECN
	QueueID     uint8  // 6 bits
	RxSec       uint32 // 20 bits: low bits of the seconds of the receive time
	EgressPort  uint16
	IngressPort uint16
	RxNsec      uint32 // ns of the receive time
	Residence   uint32 // ns
	QueueBytes  uint32 // bytes in the queue, or the first opaque word
	Word6       uint32 // QueueCells in the lower half, or the second opaque word
	Word7       uint32 // reserved, or the third opaque word
}

// Decode reads h from the front of b. Fewer than 32 bytes are wire.ErrTruncatedIFA.
func (h *Hop) Decode(b []byte) (int, error) {
	*h = Hop{}
	if len(b) < hopLen {
		return 0, wire.ErrTruncatedIFA
	}
	device := binary.BigEndian.Uint32(b)
	h.LNS = uint8(device >> 28)
	h.DeviceID = device >> 8 & deviceIDMask
	h.TTL = uint8(device)
	queue := binary.BigEndian.Uint32(b[4:])
	h.Speed = uint8(queue >> 28)
	h.Congestion = uint8(queue >> 26 & 0x03)
	h.QueueID = uint8(queue >> 20 & 0x3f)
	h.RxSec = queue & rxSecMask
	h.EgressPort = binary.BigEndian.Uint16(b[8:])
	h.IngressPort = binary.BigEndian.Uint16(b[10:])
	h.RxNsec = binary.BigEndian.Uint32(b[12:])
	h.Residence = binary.BigEndian.Uint32(b[16:])
	h.QueueBytes = binary.BigEndian.Uint32(b[20:])
	h.Word6 = binary.BigEndian.Uint32(b[24:])
	h.Word7 = binary.BigEndian.Uint32(b[28:])
	return hopLen, nil
}

// Append appends the 32 bytes of h.
func (h *Hop) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, uint32(h.LNS)<<28|h.DeviceID&deviceIDMask<<8|uint32(h.TTL))
	b = binary.BigEndian.AppendUint32(b,
		uint32(h.Speed)<<28|uint32(h.Congestion&0x03)<<26|uint32(h.QueueID&0x3f)<<20|h.RxSec&rxSecMask)
	b = binary.BigEndian.AppendUint16(b, h.EgressPort)
	b = binary.BigEndian.AppendUint16(b, h.IngressPort)
	b = binary.BigEndian.AppendUint32(b, h.RxNsec)
	b = binary.BigEndian.AppendUint32(b, h.Residence)
	b = binary.BigEndian.AppendUint32(b, h.QueueBytes)
	b = binary.BigEndian.AppendUint32(b, h.Word6)
	return binary.BigEndian.AppendUint32(b, h.Word7)
}

// Len returns 32.
func (h *Hop) Len() int { return hopLen }

// QueueCells returns the buffer cells in the queue, from the lower half of Word6.
func (h *Hop) QueueCells() uint16 { return uint16(h.Word6) }
