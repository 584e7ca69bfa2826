package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	mplsLen    = 4
	mplsBottom = 0x00000100
)

// An MPLS is one label stack entry, 4 bytes (RFC 3032 §2.1, TC renamed by RFC 5462). Entries repeat up to the one with
// Bottom set. Nothing says what follows the stack: the first nibble tells IPv4 (4) from IPv6 (6).
//
//	+---------------------------------------+-----+-+---------------+
//	|                 Label                 | TC  |S|      TTL      |
//	+---------------------------------------+-----+-+---------------+
type MPLS struct {
	Label  uint32 // 20 bits
	TC     uint8  // 3 bits, Traffic Class
	Bottom bool   // S, Bottom of Stack
	TTL    uint8
}

// Decode reads h from the front of b and returns 4. Error: ErrTruncatedMPLS.
func (h *MPLS) Decode(b []byte) (int, error) {
	if len(b) < mplsLen {
		*h = MPLS{}
		return 0, wire.ErrTruncatedMPLS
	}
	entry := binary.BigEndian.Uint32(b)
	h.Label = entry >> 12
	h.TC = uint8(entry>>9) & 0x07
	h.Bottom = entry&mplsBottom != 0
	h.TTL = uint8(entry)
	return mplsLen, nil
}

// Append appends the 4 bytes of h to b.
func (h *MPLS) Append(b []byte) []byte {
	entry := h.Label<<12 | uint32(h.TC&0x07)<<9 | uint32(h.TTL)
	if h.Bottom {
		entry |= mplsBottom
	}
	return binary.BigEndian.AppendUint32(b, entry)
}

// Len returns 4.
func (h *MPLS) Len() int { return mplsLen }
