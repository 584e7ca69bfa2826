package inband

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

const header2016Len = 8

// A Header2016 is the metadata header of INT of June 2016 (§5.3.3), hop-by-hop and destination alike.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|Ver|Rep|C|E|    R    | Ins Cnt | Max Hop Count |Total Hop Count|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       Instruction Bitmap      |           Reserved            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Header2016 struct {
	Version          uint8 // 2 bits, 0
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
	header2016FlagC = 0x08
	header2016FlagE = 0x04
)

// Decode reads h from the front of b and returns 8. The only error is [wire.ErrINTHeaderTruncated].
func (h *Header2016) Decode(b []byte) (int, error) {
	*h = Header2016{}
	if len(b) < header2016Len {
		return 0, wire.ErrINTHeaderTruncated
	}
	h.Version = b[0] >> 6
	h.Rep = b[0] >> 4 & 3
	h.C = b[0]&header2016FlagC != 0
	h.E = b[0]&header2016FlagE != 0
	h.InstructionCount = b[1] & 0x1F
	h.MaxHopCount = b[2]
	h.TotalHopCount = b[3]
	h.Bitmap = binary.BigEndian.Uint16(b[4:])
	return header2016Len, nil
}

// Append appends the 8 bytes of h to b.
func (h *Header2016) Append(b []byte) []byte {
	first := h.Version<<6 | h.Rep&3<<4
	if h.C {
		first |= header2016FlagC
	}
	if h.E {
		first |= header2016FlagE
	}
	b = append(b, first, h.InstructionCount&0x1F, h.MaxHopCount, h.TotalHopCount)
	return append(binary.BigEndian.AppendUint16(b, h.Bitmap), 0, 0)
}

// Len returns 8.
func (h *Header2016) Len() int { return header2016Len }

// Stack returns the records in body, which is everything behind the header. Use Format2016 to read them. Errors:
//   - [wire.ErrInstructionCountMismatch]: Instruction Count is not the number of bits in the bitmap
//   - [wire.ErrStackLengthMismatch]: body is not Instruction Count * 4 * Total Hop Count bytes
//   - [wire.ErrBOSBeforeBottom], [wire.ErrBOSMissing]: the bottom of stack bit is not in the last word alone
//   - [wire.ErrTotalHopCountExceedsMax]
func (h *Header2016) Stack(body []byte) (Stack, error) {
	return h.CutStack(body, len(body))
}

// CutStack is Stack for a packet that may have been cut off: length is what the carrier says there should be, body what
// is there. With less than length bytes it returns the whole records and [wire.ErrShimLengthOverrun].
func (h *Header2016) CutStack(body []byte, length int) (Stack, error) {
	if int(h.InstructionCount) != bits.OnesCount16(h.Bitmap) {
		return Stack{}, wire.ErrInstructionCountMismatch
	}
	recordLen := 4 * int(h.InstructionCount)
	if length != recordLen*int(h.TotalHopCount) {
		return Stack{}, wire.ErrStackLengthMismatch
	}
	bos, bottom := BOSIndex(body[:min(len(body), length)]), length/4-1
	switch {
	case bos >= 0 && bos < bottom:
		return Stack{}, wire.ErrBOSBeforeBottom
	case bos < 0 && length > 0 && len(body) >= length:
		return Stack{}, wire.ErrBOSMissing
	case h.TotalHopCount > h.MaxHopCount:
		return Stack{}, wire.ErrTotalHopCountExceedsMax
	}
	return NewCutStack(body, length, recordLen)
}
