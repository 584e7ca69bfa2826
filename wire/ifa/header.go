package ifa

import "github.com/waybill-int/waybill/wire"

// Versions that Header.Decode accepts: their headers are the same.
const (
	Version  = 2
	Version3 = 3
)

// Flags of a Header. Two published decoders list them in opposite order; this is the order of the later one and of a
// switch vendor's header file.
const (
	FlagMF = 0x10
	FlagTS = 0x08
	FlagI  = 0x04
	FlagTA = 0x02
	FlagC  = 0x01
)

const headerLen = 4

// A Header is the IFA header between the IP and the transport header (draft-kumar-ippm-ifa).
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|  Ver  |  GNS  |  Next Header  |R R R M T I T C|   Max Length  |
//	|       |       |               |      F S   A  |               |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Header struct {
	Version    uint8 // 4 bits
	GNS        uint8 // 4 bits: global name space, the metadata template
	NextHeader uint8 // IP protocol of the packet without IFA
	MF         bool  // metadata fragment
	TS         bool  // tail stamp
	I          bool  // inband
	TA         bool  // turn around
	C          bool  // checksum present
	MaxLength  uint8 // words of 4 bytes that the stack may grow to
}

// Decode reads h from the front of b. Fewer than 4 bytes are wire.ErrTruncatedIFA, a Version other than 2 and 3 is
// wire.ErrIFAVersion.
func (h *Header) Decode(b []byte) (int, error) {
	*h = Header{}
	if len(b) < headerLen {
		return 0, wire.ErrTruncatedIFA
	}
	h.Version = b[0] >> 4
	if h.Version != Version && h.Version != Version3 {
		return 0, wire.ErrIFAVersion
	}
	h.GNS = b[0] & 0x0f
	h.NextHeader = b[1]
	h.MF = b[2]&FlagMF != 0
	h.TS = b[2]&FlagTS != 0
	h.I = b[2]&FlagI != 0
	h.TA = b[2]&FlagTA != 0
	h.C = b[2]&FlagC != 0
	h.MaxLength = b[3]
	return headerLen, nil
}

// Append appends the 4 bytes of h.
func (h *Header) Append(b []byte) []byte {
	return append(b, h.Version<<4|h.GNS&0x0f, h.NextHeader, h.Flags(), h.MaxLength)
}

// Len returns 4.
func (h *Header) Len() int { return headerLen }

// Flags returns MF to C in one byte, the Flag constants.
func (h *Header) Flags() uint8 {
	var flags uint8
	if h.MF {
		flags |= FlagMF
	}
	if h.TS {
		flags |= FlagTS
	}
	if h.I {
		flags |= FlagI
	}
	if h.TA {
		flags |= FlagTA
	}
	if h.C {
		flags |= FlagC
	}
	return flags
}
