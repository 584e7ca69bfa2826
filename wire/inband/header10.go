package inband

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const header10Len = 8

// A Header10 is the metadata header of INT 1.0 (§4.7).
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |Rep|C|E|M|     Reserved      | Hop ML  | Rem Hop Count |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       Instruction Bitmap      |           Reserved            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Header10 struct {
	Version           uint8 // 4 bits, 1; ONOS sends 0 and Montimage 2
	Rep               uint8 // 2 bits: replication allowed; 1 on each port, 2 on each next hop, 3 both
	C                 bool  // a copy made by replication
	E                 bool  // a node added nothing because Remaining Hop Count was 0
	M                 bool  // a node added nothing because the packet would have exceeded the MTU
	HopML             uint8 // 5 bits, words per record
	RemainingHopCount uint8 // hops that may still add metadata
	Bitmap            uint16
	Reserved16        uint16 // the second Reserved field; GEANT numbers the packets of a source in it
}

// Masks in bytes 0 and 1 of the header.
const (
	header10FlagC = 0x02
	header10FlagE = 0x01
	header10FlagM = 0x80
)

// Decode reads h from the front of b and returns 8. The only error is [wire.ErrINTHeaderTruncated].
func (h *Header10) Decode(b []byte) (int, error) {
	*h = Header10{}
	if len(b) < header10Len {
		return 0, wire.ErrINTHeaderTruncated
	}
	h.Version = b[0] >> 4
	h.Rep = b[0] >> 2 & 3
	h.C = b[0]&header10FlagC != 0
	h.E = b[0]&header10FlagE != 0
	h.M = b[1]&header10FlagM != 0
	h.HopML = b[2] & 0x1F
	h.RemainingHopCount = b[3]
	h.Bitmap = binary.BigEndian.Uint16(b[4:])
	h.Reserved16 = binary.BigEndian.Uint16(b[6:])
	return header10Len, nil
}

// Append appends the 8 bytes of h to b. It writes Reserved16 as it is; the specification asks for 0.
func (h *Header10) Append(b []byte) []byte {
	first, second := h.Version<<4|h.Rep&3<<2, uint8(0)
	if h.C {
		first |= header10FlagC
	}
	if h.E {
		first |= header10FlagE
	}
	if h.M {
		second = header10FlagM
	}
	b = append(b, first, second, h.HopML&0x1F, h.RemainingHopCount)
	return binary.BigEndian.AppendUint16(binary.BigEndian.AppendUint16(b, h.Bitmap), h.Reserved16)
}

// Len returns 8.
func (h *Header10) Len() int { return header10Len }

// Format returns the record format whose length agrees with Hop ML: Format10, or else Format10Long, which GEANT and
// Montimage send. If neither agrees the error is [wire.ErrHopMLMismatch]. Where both have the same length it is
// Format10: without timestamps and level 2 interfaces they do not differ, but with level 2 interfaces and exactly one
// timestamp they do, and only knowing the sender helps.
func (h *Header10) Format() (Format, error) {
	switch 4 * int(h.HopML) {
	case Widths10.Bytes(h.Bitmap):
		return Format10, nil
	case Widths10Long.Bytes(h.Bitmap):
		return Format10Long, nil
	}
	return Format10, wire.ErrHopMLMismatch
}

// Stack returns the records in body, which is everything behind the header. w is Widths10 or Widths10Long: see Format.
// Errors:
//   - [wire.ErrHopMLMismatch]: Hop ML is not the length of the bitmap's metadata
//   - [wire.ErrStackNotMultiple]: body is not whole records
func (h *Header10) Stack(body []byte, w *Widths) (Stack, error) {
	return h.CutStack(body, len(body), w)
}

// CutStack is Stack for a packet that may have been cut off: length is what the carrier says there should be, body what
// is there. With less than length bytes it returns the whole records and [wire.ErrShimLengthOverrun].
func (h *Header10) CutStack(body []byte, length int, w *Widths) (Stack, error) {
	recordLen := w.Bytes(h.Bitmap)
	if recordLen != 4*int(h.HopML) {
		return Stack{}, wire.ErrHopMLMismatch
	}
	return NewCutStack(body, length, recordLen)
}
