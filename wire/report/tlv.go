package report

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const tlvFirstWordLen = 4

// A TLV is one element of the inner contents of a V20 with InTLV (TR 2.0 §3.3.2). TLVs follow each other until the
// words of the report are used up; there may be any number of fragments and of DS extension data:
//
//	for b := r.Inner; len(b) > 0; {
//		n, err := tlv.Decode(b)
//		if err != nil {
//			break // the TLVs before it are good
//		}
//		b = b[n:]
//	}
//
// The element:
//
//	 0                   1                   2                   3
//	 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1 2 3 4 5 6 7 8 9 0 1
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|TLVType| Rsvd  |   TLVLength   |       TLV Data Template       |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                           TLV data                            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type TLV struct {
	Type     uint8  // 4 bits, TLVDSExtension and so on
	Length   uint8  // words of Data
	Template uint16 // format of DS extension data, 0 if none is named; no meaning for fragments
	Data     []byte // a view
}

// Decode reads h from the front of b, which runs to the end of the report, and returns 4 + 4*Length. It fails with
// ErrTLVOverrun if there is less than that.
func (h *TLV) Decode(b []byte) (int, error) {
	*h = TLV{}
	if len(b) < tlvFirstWordLen {
		return 0, wire.ErrTLVOverrun
	}
	h.Type = b[0] >> 4
	h.Length = b[1]
	h.Template = binary.BigEndian.Uint16(b[2:])
	end := tlvFirstWordLen + 4*int(h.Length)
	if end > len(b) {
		return 0, wire.ErrTLVOverrun
	}
	h.Data = view(b, tlvFirstWordLen, end)
	return end, nil
}

// Append appends the first word of h and Data to b.
func (h *TLV) Append(b []byte) []byte {
	b = append(b, h.Type<<4, h.Length)
	b = binary.BigEndian.AppendUint16(b, h.Template)
	return append(b, h.Data...)
}

// Len returns the bytes that Append appends.
func (h *TLV) Len() int { return tlvFirstWordLen + len(h.Data) }

// InType returns what Data is in the values of V20.InType: InDSExtension, InEthernet, InIPv4, InIPv6, or InNone for a
// reserved type. The numbers of TLV types and InTypes differ.
func (h *TLV) InType() uint8 {
	switch h.Type {
	case TLVDSExtension:
		return InDSExtension
	case TLVEthernet:
		return InEthernet
	case TLVIPv4:
		return InIPv4
	case TLVIPv6:
		return InIPv6
	}
	return InNone
}

// NestedInType is InType for a peer that is configured to send the nested TLV draft of Transparent Security. There type
// 0 is a fragment too and only its first nibble tells which: 4 is IPv4, 6 is IPv6, everything else Ethernet. (An
// Ethernet destination address that begins with 4 or 6 is misread: the draft leaves no other way.)
func (h *TLV) NestedInType() uint8 {
	if h.Type != TLVDSExtension {
		return h.InType()
	}
	if len(h.Data) == 0 {
		return InNone
	}
	switch h.Data[0] >> 4 {
	case 4:
		return InIPv4
	case 6:
		return InIPv6
	}
	return InEthernet
}
