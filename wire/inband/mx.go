package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const mxLen = 12

// An MX is the INT-MX header of INT 2.1 (§5.9): it tells every node what to report and collects nothing on the way.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |D|                      Reserved                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       Instruction Bitmap      |      Domain Specific ID       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        DS Instruction         |           DS Flags            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type MX struct {
	Version       uint8  // 4 bits, 2
	D             bool   // the sink discards the packet after reporting
	Bitmap        uint16 // as in MD, but bit 15 is reserved: nothing is inserted that a complement could balance
	DomainID      uint16 // Domain Specific ID: who defines the DS fields; 0 is the default domain, which has none
	DSInstruction uint16
	DSFlags       uint16
}

const mxFlagD = 0x08 // in byte 0

// Decode reads h from the front of b and returns 12. The only error is [wire.ErrINTHeaderTruncated].
func (h *MX) Decode(b []byte) (int, error) {
	*h = MX{}
	if len(b) < mxLen {
		return 0, wire.ErrINTHeaderTruncated
	}
	h.Version = b[0] >> 4
	h.D = b[0]&mxFlagD != 0
	h.Bitmap = binary.BigEndian.Uint16(b[4:])
	h.DomainID = binary.BigEndian.Uint16(b[6:])
	h.DSInstruction = binary.BigEndian.Uint16(b[8:])
	h.DSFlags = binary.BigEndian.Uint16(b[10:])
	return mxLen, nil
}

// Append appends the 12 bytes of h to b.
func (h *MX) Append(b []byte) []byte {
	first := h.Version << 4
	if h.D {
		first |= mxFlagD
	}
	b = append(b, first, 0, 0, 0)
	b = binary.BigEndian.AppendUint16(b, h.Bitmap)
	b = binary.BigEndian.AppendUint16(b, h.DomainID)
	b = binary.BigEndian.AppendUint16(b, h.DSInstruction)
	return binary.BigEndian.AppendUint16(b, h.DSFlags)
}

// Len returns 12.
func (h *MX) Len() int { return mxLen }

// SourceInserted returns the source-inserted metadata: all of body, which is everything behind the header. They come in
// the order of the DS Instruction bits, whose widths the domain defines. The result is a view into body, or nil.
func (h *MX) SourceInserted(body []byte) []byte { return view(body) }
