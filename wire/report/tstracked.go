package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const tsTrackedLen = 16

// A TSTracked is the tracked flow report as the core switch of Transparent Security sends it, behind the group header.
// It follows TR 2.0 §3.3 in the positions of the fields only:
//
//   - RepType is RepInnerOnly, yet the words of RepINT are there.
//   - ReportLength and MDLength are wrong; the report is the only one and runs to the end of the UDP payload.
//   - InType is InIPv4 or InIPv6 by the version of the packet, yet the fragment begins with Ethernet.
//   - F is clear, yet the fragment holds embedded INT.
//   - In the group header the sequence number stands in the upper 16 of its 22 bits and never moves.
//
// The bytes:
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
//	|                  variable optional metadata                   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type TSTracked struct {
	RepType      uint8
	InType       uint8 // not the kind of Fragment
	ReportLength uint8 // not the length of the report
	MDLength     uint8 // the Length of the INT shim in the fragment
	D            bool
	Q            bool
	F            bool // always clear; treat the report as if it were set
	I            bool
	RepMdBits    uint16
	DomainID     uint16 // TSDomain
	DSMdBits     uint16
	DSMdStatus   uint16
	VarOptMD     uint32 // one word that nothing announces, 0
	Fragment     []byte // begins with Ethernet, runs to the end of the UDP payload; a view
}

// Decode reads h from b, the UDP payload behind the group header, and returns len(b). It does not look at TSKind. It
// fails with ErrTruncatedTSReport if b has less than 16 bytes.
func (h *TSTracked) Decode(b []byte) (int, error) {
	*h = TSTracked{}
	if len(b) < tsTrackedLen {
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
	h.VarOptMD = binary.BigEndian.Uint32(b[12:])
	h.Fragment = view(b, tsTrackedLen, len(b))
	return len(b), nil
}

// Append appends h to b, Fragment included.
func (h *TSTracked) Append(b []byte) []byte {
	b = append(b, h.RepType<<4|h.InType&0x0F, h.ReportLength, h.MDLength,
		bit(h.D, 0x80)|bit(h.Q, 0x40)|bit(h.F, 0x20)|bit(h.I, 0x10))
	b = binary.BigEndian.AppendUint16(b, h.RepMdBits)
	b = binary.BigEndian.AppendUint16(b, h.DomainID)
	b = binary.BigEndian.AppendUint16(b, h.DSMdBits)
	b = binary.BigEndian.AppendUint16(b, h.DSMdStatus)
	b = binary.BigEndian.AppendUint32(b, h.VarOptMD)
	return append(b, h.Fragment...)
}

// Len returns 16 and the length of Fragment.
func (h *TSTracked) Len() int { return tsTrackedLen + len(h.Fragment) }
