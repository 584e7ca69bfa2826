package report

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

const v10FixedLen = 16

// Where the flags D, Q, F stand in the first word of a V10: the distance of F from the last bit.
const (
	v10Flags      = 6  // TR 1.0: behind the reserved bits
	v10FlagsFirst = 12 // before the reserved bits
)

// A V10 is the header of a telemetry report of version 1.0 (TR 1.0 §3.2). Behind it stands the fragment, which begins
// with the header that NProt names and runs to the end of the UDP payload.
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |Length |NProt| RepMdBits |  Reserved |D|Q|F|   hw_id   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           Switch id                           |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        Sequence Number                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                       Ingress Timestamp                       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|               one word for each bit of RepMdBits              |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type V10 struct {
	Length    uint8 // 4 bits, the whole header in words, metadata included
	NProt     uint8 // 3 bits, one of NProtEthernet, NProtIPv4, NProtIPv6; otherwise the fragment is of unknown kind
	RepMdBits uint8 // 6 bits, V10Interfaces and so on: the field as it stands on the wire
	D         bool  // a packet that matches a drop watchlist was dropped
	Q         bool  // congestion on a monitored queue
	F         bool  // tracked flow; without it the fragment holds no embedded telemetry (TR 1.0 §3.4)

	HWID      uint8  // 6 bits, the reporting subsystem, unique within the switch
	SwitchID  uint32 // unique within the management domain
	Sequence  uint32 // counts the reports of one SwitchID and HWID to one destination
	IngressTS uint32 // the low 32 bits of the device's nanosecond clock; wraps every 4.29 s

	Metadata Metadata // Metadata.Bits says which words are there, in the numbering of TR 2.0
	Extra    []byte   // words that Length counts behind those of RepMdBits: unknown metadata, a view
}

// Decode reads h from the front of b, the UDP payload, and returns where the fragment begins: Length words. It does not
// look at the version nibble (see Version). It fails with ErrTruncatedFixedHeader, ErrLengthBelowFixedHeader,
// ErrLengthBelowBitmap if Length leaves no room for a word per bit, and ErrLengthOverrun if Length goes past b.
func (h *V10) Decode(b []byte) (int, error) { return h.decode(b, v10Flags, 0, (*Metadata).decodeV10) }

// DecodeFlagsFirst is Decode for senders that write the flags before the reserved bits, ...| RepMdBits | D Q F |
// Reserved | hw_id. The ONOS program int.p4 is one: its reports of tracked flows begin with 14 00 10 01, which is F
// here and a reserved bit in TR 1.0. The bytes do not tell which layout is meant: use it for a source that is
// configured so.
func (h *V10) DecodeFlagsFirst(b []byte) (int, error) {
	return h.decode(b, v10FlagsFirst, 0, (*Metadata).decodeV10)
}

// DecodeJanuary2018 is Decode for the proposal of January 2018, which has fewer metadata and other bits for them. The
// bytes do not tell which layout is meant.
func (h *V10) DecodeJanuary2018(b []byte) (int, error) {
	return h.decode(b, v10Flags, 0, (*Metadata).decodeJanuary2018)
}

// DecodeShortLength is Decode for the generator of INTCollector, whose Length does not count the words behind the first
// one of the fixed header.
func (h *V10) DecodeShortLength(b []byte) (int, error) {
	return h.decode(b, v10Flags, v10FixedLen-4, (*Metadata).decodeV10)
}

// decode reads a header with the flags at a bit, and with so many bytes that Length does not count.
func (h *V10) decode(b []byte, flags, uncounted int, metadata func(*Metadata, []byte, uint8)) (int, error) {
	*h = V10{}
	if len(b) < v10FixedLen {
		return 0, wire.ErrTruncatedFixedHeader
	}
	w := binary.BigEndian.Uint32(b)
	h.Length = uint8(w >> 24 & 0x0F)
	h.NProt = uint8(w >> 21 & 0x07)
	h.RepMdBits = uint8(w >> 15 & 0x3F)
	h.D = w>>(flags+2)&1 != 0
	h.Q = w>>(flags+1)&1 != 0
	h.F = w>>flags&1 != 0
	h.HWID = uint8(w & 0x3F)
	h.SwitchID = binary.BigEndian.Uint32(b[4:])
	h.Sequence = binary.BigEndian.Uint32(b[8:])
	h.IngressTS = binary.BigEndian.Uint32(b[12:])

	mdEnd := v10FixedLen + 4*bits.OnesCount8(h.RepMdBits)
	end := 4*int(h.Length) + uncounted
	switch {
	case end < v10FixedLen:
		return 0, wire.ErrLengthBelowFixedHeader
	case end < mdEnd:
		return 0, wire.ErrLengthBelowBitmap
	case end > len(b):
		return 0, wire.ErrLengthOverrun
	}
	metadata(&h.Metadata, b[v10FixedLen:mdEnd], h.RepMdBits)
	h.Extra = view(b, mdEnd, end)
	return end, nil
}

// Append appends h to b, in the layout of TR 1.0: the fixed header, the words of Metadata.Bits that TR 1.0 has, Extra.
func (h *V10) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint32(b, 1<<28|
		uint32(h.Length&0x0F)<<24|uint32(h.NProt&0x07)<<21|uint32(h.RepMdBits&0x3F)<<15|
		uint32(bit(h.D, 4)|bit(h.Q, 2)|bit(h.F, 1))<<v10Flags|uint32(h.HWID&0x3F))
	b = binary.BigEndian.AppendUint32(b, h.SwitchID)
	b = binary.BigEndian.AppendUint32(b, h.Sequence)
	b = binary.BigEndian.AppendUint32(b, h.IngressTS)
	b = h.Metadata.appendV10(b)
	return append(b, h.Extra...)
}

// Len returns the bytes that Append appends; a header whose Length is right has 4*Length.
func (h *V10) Len() int { return v10FixedLen + h.Metadata.lenV10() + len(h.Extra) }
