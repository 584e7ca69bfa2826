package inband

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

const header05Len = 8

// A Header05 is the metadata header of INT 0.5 (§5.3.4).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |Rep|C|E|  R  | Ins Cnt | Max Hop Count |Total Hop Count|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       Instruction Bitmap      |           Reserved            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Header05 struct {
	Version          uint8 // 4 bits, 0
	Rep              uint8 // 2 bits: replication allowed; 1 on each port, 2 on each next hop, 3 both
	C                bool  // a copy made by replication
	E                bool  // a node added nothing because Total Hop Count had reached Max Hop Count
	InstructionCount uint8 // 5 bits, number of bits set in Bitmap
	MaxHopCount      uint8 // hops that may add metadata
	TotalHopCount    uint8 // hops that have added metadata
	Bitmap           uint16
}

// Masks in byte 0 of the header.
const (
	header05FlagC = 0x02
	header05FlagE = 0x01
)

// Decode reads h from the front of b and returns 8. The only error is [wire.ErrINTHeaderTruncated].
func (h *Header05) Decode(b []byte) (int, error) {
	*h = Header05{}
	if len(b) < header05Len {
		return 0, wire.ErrINTHeaderTruncated
	}
	h.Version = b[0] >> 4
	h.Rep = b[0] >> 2 & 3
	h.C = b[0]&header05FlagC != 0
	h.E = b[0]&header05FlagE != 0
	h.InstructionCount = b[1] & 0x1F
	h.MaxHopCount = b[2]
	h.TotalHopCount = b[3]
	h.Bitmap = binary.BigEndian.Uint16(b[4:])
	return header05Len, nil
}

// Decode04 is Decode for INT 0.4, which keeps the 2 bit Ver of June 2016 and with it the places of Rep, C and E.
// Nothing in the bytes tells 0.4 from 0.5: the sender must be known. GEANT writes Ver 1, ONOS (fabric.p4) 0.
func (h *Header05) Decode04(b []byte) (int, error) {
	var old Header2016
	n, err := old.Decode(b)
	*h = Header05(old)
	return n, err
}

// Append appends the 8 bytes of h to b, in the layout of 0.5.
func (h *Header05) Append(b []byte) []byte {
	first := h.Version<<4 | h.Rep&3<<2
	if h.C {
		first |= header05FlagC
	}
	if h.E {
		first |= header05FlagE
	}
	b = append(b, first, h.InstructionCount&0x1F, h.MaxHopCount, h.TotalHopCount)
	return append(binary.BigEndian.AppendUint16(b, h.Bitmap), 0, 0)
}

// Len returns 8.
func (h *Header05) Len() int { return header05Len }

// Stack returns the records in body, which is everything between the header and the tail. w is Widths05, or
// Widths04Long for GEANT. Errors:
//   - [wire.ErrInstructionCountMismatch]: Instruction Count is not the number of bits in the bitmap
//   - [wire.ErrStackLengthMismatch]: body is not Total Hop Count records
//
// Total Hop Count above Max Hop Count is no error: fabric.p4 of ONOS counts hops and ignores the maximum.
func (h *Header05) Stack(body []byte, w *Widths) (Stack, error) {
	return h.CutStack(body, len(body), w)
}

// CutStack is Stack for a packet that may have been cut off: length is what the carrier says there should be, body what
// is there. With less than length bytes it returns the whole records and [wire.ErrShimLengthOverrun].
func (h *Header05) CutStack(body []byte, length int, w *Widths) (Stack, error) {
	if int(h.InstructionCount) != bits.OnesCount16(h.Bitmap) {
		return Stack{}, wire.ErrInstructionCountMismatch
	}
	recordLen := w.Bytes(h.Bitmap)
	if length != recordLen*int(h.TotalHopCount) {
		return Stack{}, wire.ErrStackLengthMismatch
	}
	return NewCutStack(body, length, recordLen)
}
