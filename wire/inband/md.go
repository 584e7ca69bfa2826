package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const mdLen = 12

// An MD is the INT-MD header of INT 2.0 and 2.1 (INT 2.1 §5.8).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |D|E|M|       Reserved        | Hop ML  | Rem Hop Count |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       Instruction Bitmap      |      Domain Specific ID       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        DS Instruction         |           DS Flags            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type MD struct {
	Version           uint8 // 4 bits, 2
	D                 bool  // the sink discards the packet after extracting INT
	E                 bool  // a node added nothing because Remaining Hop Count was 0
	M                 bool  // a node added nothing because the packet would have exceeded the MTU
	HopML             uint8 // 5 bits, words per record; source-only metadata are not counted
	RemainingHopCount uint8 // hops that may still add metadata
	Bitmap            uint16
	DomainID          uint16 // Domain Specific ID: who defines the DS fields; 0 is the default domain, which has none
	DSInstruction     uint16
	DSFlags           uint16
}

// Masks in byte 0 of the header.
const (
	mdFlagD = 0x08
	mdFlagE = 0x04
	mdFlagM = 0x02
)

// Decode reads h from the front of b and returns 12. The only error is [wire.ErrINTHeaderTruncated].
func (h *MD) Decode(b []byte) (int, error) {
	*h = MD{}
	if len(b) < mdLen {
		return 0, wire.ErrINTHeaderTruncated
	}
	h.Version = b[0] >> 4
	h.D = b[0]&mdFlagD != 0
	h.E = b[0]&mdFlagE != 0
	h.M = b[0]&mdFlagM != 0
	h.HopML = b[2] & 0x1F
	h.RemainingHopCount = b[3]
	h.Bitmap = binary.BigEndian.Uint16(b[4:])
	h.DomainID = binary.BigEndian.Uint16(b[6:])
	h.DSInstruction = binary.BigEndian.Uint16(b[8:])
	h.DSFlags = binary.BigEndian.Uint16(b[10:])
	return mdLen, nil
}

// Append appends the 12 bytes of h to b.
func (h *MD) Append(b []byte) []byte {
	first := h.Version << 4
	if h.D {
		first |= mdFlagD
	}
	if h.E {
		first |= mdFlagE
	}
	if h.M {
		first |= mdFlagM
	}
	b = append(b, first, 0, h.HopML&0x1F, h.RemainingHopCount)
	b = binary.BigEndian.AppendUint16(b, h.Bitmap)
	b = binary.BigEndian.AppendUint16(b, h.DomainID)
	b = binary.BigEndian.AppendUint16(b, h.DSInstruction)
	return binary.BigEndian.AppendUint16(b, h.DSFlags)
}

// Len returns 12.
func (h *MD) Len() int { return mdLen }
