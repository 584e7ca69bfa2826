package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	v20FirstWordLen = 4
	v20INTFixedLen  = 8 // RepMdBits, Domain Specific ID, DSMdBits, DSMdstatus

	// toPayloadEnd is the ReportLength of a report that runs to the end of the UDP payload.
	toPayloadEnd = 255
)

// A V20 is one individual report of version 2.0 (TR 2.0 §3.3): first word, main contents, inner contents. The main
// contents are drawn for RepINT (TR 2.0 §3.3.1); RepInnerOnly has none, those of other types are not defined.
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
//	|     baseline metadata in bit order, then domain specific      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|       inner contents: nothing, a fragment, TLVs, DS data      |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//
// ReportLength counts the words behind the first word. MDLength counts the words of baseline and domain specific
// metadata, without the two words before them. A ReportLength of 255 means 255 words or more, to the end of the UDP
// payload, and no report behind it.
//
// Three things a sender may do are legal to read but worth a counter; the fields tell them: reserved RepMdBits that
// carry nothing (RepMdBits differs from Metadata.Bits), domain specific metadata without an announcement (DSMetadata
// while DSMdBits is 0), and values that are all ones (Metadata.Invalid).
type V20 struct {
	RepType      uint8 // 4 bits, RepInnerOnly, RepINT, RepIOAM
	InType       uint8 // 4 bits, InNone, InTLV and so on
	ReportLength uint8 // in words
	MDLength     uint8 // in words; ignored unless RepType is RepINT
	D            bool  // a packet that matches a watchlist was dropped
	Q            bool  // congestion on a monitored queue
	F            bool  // tracked flow; without it the inner contents hold no embedded telemetry (TR 2.0 §3.4)
	I            bool  // intermediate report of a transit node in INT-MD mode

	RepMdBits  uint16 // the field as it stands on the wire; Metadata.Bits says which words are there
	DomainID   uint16 // Domain Specific ID, 0 is the default domain
	DSMdBits   uint16
	DSMdStatus uint16
	Metadata   Metadata // baseline metadata

	DSMetadata []byte // domain specific metadata, words that the domain's owner can split; a view
	Inner      []byte // inner contents: fragment, TLVs (see TLV) or DS extension data, as InType says; a view
	Opaque     []byte // everything behind the first word if RepType is neither RepInnerOnly nor RepINT; a view
}

// Decode reads h from the front of b. b runs from the first word of the report to the end of the UDP payload, other
// reports included. It returns where the next report begins, 4 + 4*ReportLength, or len(b) if ReportLength is 255.
//
// Some errors leave the next report readable. With ErrINTContentsMissing, ErrMDLengthExceedsReport and
// ErrMDLengthBelowBitmap this report is unusable, but the returned int is where the next one begins. With ErrNoReport
// (less than 4 bytes) and ErrReportLengthOverrun it is 0.
func (h *V20) Decode(b []byte) (int, error) {
	*h = V20{}
	if len(b) < v20FirstWordLen {
		return 0, wire.ErrNoReport
	}
	h.RepType = b[0] >> 4
	h.InType = b[0] & 0x0F
	h.ReportLength = b[1]
	h.MDLength = b[2]
	h.D = b[3]&0x80 != 0
	h.Q = b[3]&0x40 != 0
	h.F = b[3]&0x20 != 0
	h.I = b[3]&0x10 != 0

	end := len(b)
	if h.ReportLength != toPayloadEnd {
		end = v20FirstWordLen + 4*int(h.ReportLength)
		if end > len(b) {
			return 0, wire.ErrReportLengthOverrun
		}
	}
	switch h.RepType {
	case RepInnerOnly:
		h.Inner = view(b, v20FirstWordLen, end)
		return end, nil
	case RepINT:
		return end, h.decodeINT(b[v20FirstWordLen:end])
	}
	h.Opaque = view(b, v20FirstWordLen, end)
	return end, nil
}

// decodeINT reads the main contents of RepINT and the inner contents: b is the report without its first word.
func (h *V20) decodeINT(b []byte) error {
	if len(b) < v20INTFixedLen {
		return wire.ErrINTContentsMissing
	}
	h.RepMdBits = binary.BigEndian.Uint16(b)
	h.DomainID = binary.BigEndian.Uint16(b[2:])
	h.DSMdBits = binary.BigEndian.Uint16(b[4:])
	h.DSMdStatus = binary.BigEndian.Uint16(b[6:])

	b = b[v20INTFixedLen:]
	mdLen := 4 * int(h.MDLength)
	if mdLen > len(b) {
		return wire.ErrMDLengthExceedsReport
	}
	present := h.RepMdBits
	baseLen := 4 * MDWords(present)
	if baseLen > mdLen {
		// One text of TR 2.0 gives every bit a word, the other has reserved bits ignored: MDLength decides. If it
		// fits exactly without them, they carry nothing.
		present &^= mdReserved
		baseLen = 4 * MDWords(present)
		if baseLen != mdLen {
			return wire.ErrMDLengthBelowBitmap
		}
	}
	h.Metadata.decodeV20(b[:baseLen], present)
	h.DSMetadata = view(b, baseLen, mdLen)
	h.Inner = view(b, mdLen, len(b))
	return nil
}

// Append appends h to b. Metadata.Bits says which baseline metadata is written, in the order and with the widths of
// TR 2.0. With RepInnerOnly only Inner is written behind the first word, with a RepType above RepINT only Opaque.
//
// The caller sets ReportLength and MDLength, and closes Inner with 0 to 3 zero bytes up to a whole word unless
// ReportLength is 255.
func (h *V20) Append(b []byte) []byte {
	b = append(b, h.RepType<<4|h.InType&0x0F, h.ReportLength, h.MDLength,
		bit(h.D, 0x80)|bit(h.Q, 0x40)|bit(h.F, 0x20)|bit(h.I, 0x10))
	switch h.RepType & 0x0F {
	case RepInnerOnly:
		return append(b, h.Inner...)
	case RepINT:
		b = binary.BigEndian.AppendUint16(b, h.RepMdBits)
		b = binary.BigEndian.AppendUint16(b, h.DomainID)
		b = binary.BigEndian.AppendUint16(b, h.DSMdBits)
		b = binary.BigEndian.AppendUint16(b, h.DSMdStatus)
		b = h.Metadata.appendV20(b)
		b = append(b, h.DSMetadata...)
		return append(b, h.Inner...)
	}
	return append(b, h.Opaque...)
}

// Len returns the bytes that Append appends; a report whose ReportLength is right and not 255 has 4 + 4*ReportLength.
func (h *V20) Len() int {
	switch h.RepType & 0x0F {
	case RepInnerOnly:
		return v20FirstWordLen + len(h.Inner)
	case RepINT:
		return v20FirstWordLen + v20INTFixedLen + 4*MDWords(h.Metadata.Bits) + len(h.DSMetadata) + len(h.Inner)
	}
	return v20FirstWordLen + len(h.Opaque)
}
