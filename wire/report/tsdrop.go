package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const tsDropLen = 40

// A TSDrop is the drop report as the controller of Transparent Security sends it every few seconds for each drop rule,
// behind the group header. It follows TR 2.0 §3.3 in the positions of the fields only: RepType is RepInnerOnly, yet the
// words of RepINT and a drop reason are there, MDLength counts the DS extension data, and D is clear.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|RepType| InType| Report Length |   MD Length   |D|Q|F|I| Rsvd  |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|           RepMdBits           |       Domain Specific ID      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|           DSMdBits            |           DSMdstatus          |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Queue id    |  Drop reason  |              Pad              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Timestamp                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                          Drop count                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                                                               |
//	+                          Drop key                             +
//	|                    (128 bits, the low 64 used)                |
//	+                                                               +
//	|                                                               |
//	+                                                               +
//	|                                                               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type TSDrop struct {
	RepType      uint8
	InType       uint8 // InDSExtension
	ReportLength uint8
	MDLength     uint8 // counts the words from the drop count on, too
	D            bool  // always clear; treat the report as if it were set
	Q            bool
	F            bool
	I            bool
	RepMdBits    uint16 // MDDrop
	DomainID     uint16 // TSDomain
	DSMdBits     uint16
	DSMdStatus   uint16
	Metadata     Metadata // DropQueueID and DropReason; Bits is MDDrop
	Timestamp    uint32   // Unix time in seconds
	DropCount    uint32   // dropped packets, ever or since the last report: the sender's configuration decides
	DropKeyHigh  uint64   // the upper half of the drop key field, 0
	DropKey      uint64   // names the drop rule, see TSDropKey
	Trailer      []byte   // what stands behind the report; the program appends 23 bytes; a view
}

// Decode reads h from b, the UDP payload behind the group header, and returns len(b). It does not look at TSKind. It
// fails with ErrTruncatedTSReport if b has less than 40 bytes.
func (h *TSDrop) Decode(b []byte) (int, error) {
	*h = TSDrop{}
	if len(b) < tsDropLen {
		return 0, wire.ErrTruncatedTSReport
	}
	h.RepType, h.InType = b[0]>>4, b[0]&0x0F
	h.ReportLength = b[1]
	h.MDLength = b[2]
	h.D = b[3]&0x80 != 0
	h.Q = b[3]&0x40 != 0
	h.F = b[3]&0x20 != 0
	h.I = b[3]&0x10 != 0
	h.RepMdBits = binary.BigEndian.Uint16(b[4:])
	h.DomainID = binary.BigEndian.Uint16(b[6:])
	h.DSMdBits = binary.BigEndian.Uint16(b[8:])
	h.DSMdStatus = binary.BigEndian.Uint16(b[10:])
	h.Metadata.decodeV20(b[12:16], MDDrop)
	h.Timestamp = binary.BigEndian.Uint32(b[16:])
	h.DropCount = binary.BigEndian.Uint32(b[20:])
	h.DropKeyHigh = binary.BigEndian.Uint64(b[24:])
	h.DropKey = binary.BigEndian.Uint64(b[32:])
	h.Trailer = view(b, tsDropLen, len(b))
	return len(b), nil
}

// Append appends h to b, Trailer included. Of Metadata it writes the drop queue id and drop reason, whatever Bits says.
func (h *TSDrop) Append(b []byte) []byte {
	b = append(b, h.RepType<<4|h.InType&0x0F, h.ReportLength, h.MDLength,
		bit(h.D, 0x80)|bit(h.Q, 0x40)|bit(h.F, 0x20)|bit(h.I, 0x10))
	b = binary.BigEndian.AppendUint16(b, h.RepMdBits)
	b = binary.BigEndian.AppendUint16(b, h.DomainID)
	b = binary.BigEndian.AppendUint16(b, h.DSMdBits)
	b = binary.BigEndian.AppendUint16(b, h.DSMdStatus)
	b = h.Metadata.appendDrop(b)
	b = binary.BigEndian.AppendUint32(b, h.Timestamp)
	b = binary.BigEndian.AppendUint32(b, h.DropCount)
	b = binary.BigEndian.AppendUint64(b, h.DropKeyHigh)
	b = binary.BigEndian.AppendUint64(b, h.DropKey)
	return append(b, h.Trailer...)
}

// Len returns 40 and the length of Trailer.
func (h *TSDrop) Len() int { return tsDropLen + len(h.Trailer) }
