package ioam

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	legacyTraceLen  = 4
	legacyFlagShift = 7
	legacyFlagMask  = 0x0f
)

// A LegacyTrace is the trace header of the early drafts (draft-ietf-ippm-ioam-data-03), which the first VXLAN-GPE
// implementations use. It has no namespace and gives two type bits another meaning: bit 7 is the opaque state
// snapshot, bit 11 the checksum complement. Nothing on the wire tells it from a Trace, so that only configuration may
// choose it. Node records are not decoded with it.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        IOAM-Trace-Type        | NodeLen | Flags |RemainingLen |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type LegacyTrace struct {
	Type         uint16
	NodeLen      uint8 // 5 bits: words that each node adds
	Flags        uint8 // 4 bits
	RemainingLen uint8 // 7 bits: words that may still be added
}

// Decode reads t from the front of b. Fewer than 4 bytes are wire.ErrTruncatedIOAM.
func (t *LegacyTrace) Decode(b []byte) (int, error) {
	*t = LegacyTrace{}
	if len(b) < legacyTraceLen {
		return 0, wire.ErrTruncatedIOAM
	}
	lengths := binary.BigEndian.Uint16(b[2:])
	t.Type = binary.BigEndian.Uint16(b)
	t.NodeLen = uint8(lengths >> traceNodeLenShift)
	t.Flags = uint8(lengths >> legacyFlagShift & legacyFlagMask)
	t.RemainingLen = uint8(lengths & traceRemainingMask)
	return legacyTraceLen, nil
}

// Append appends the 4 bytes of t.
func (t *LegacyTrace) Append(b []byte) []byte {
	lengths := uint16(t.NodeLen&traceNodeLenMask)<<traceNodeLenShift |
		uint16(t.Flags&legacyFlagMask)<<legacyFlagShift |
		uint16(t.RemainingLen)&traceRemainingMask
	b = binary.BigEndian.AppendUint16(b, t.Type)
	return binary.BigEndian.AppendUint16(b, lengths)
}

// Len returns 4.
func (t *LegacyTrace) Len() int { return legacyTraceLen }
