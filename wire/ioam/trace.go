package ioam

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const traceLen = 8

// Flags in the 16 bits that also hold NodeLen (the upper 5) and RemainingLen (the lower 7).
const (
	traceOverflow      = 0x0400
	traceLoopback      = 0x0200
	traceActive        = 0x0100
	traceRemainingMask = 0x007f
	traceNodeLenShift  = 11
	traceNodeLenMask   = 0x1f
)

// A Trace is the header of the pre-allocated and of the incremental trace option (RFC 9197 §4.4.1, flags L and A from
// RFC 9322). The data space follows it.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Namespace-ID         | NodeLen |O|L|A|-|RemainingLen |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|               IOAM-Trace-Type                 |    Reserved   |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Trace struct {
	NamespaceID  uint16
	NodeLen      uint8  // 5 bits: words that each node adds, the opaque state snapshot not counted
	Overflow     bool   // a node could not add its data; nobody adds any more
	Loopback     bool   // nodes send a copy back to the source
	Active       bool   // the packet is a measurement packet
	RemainingLen uint8  // 7 bits: words that may still be added
	Type         uint32 // 24 bits: IOAM-Trace-Type, the Bit constants
}

// Decode reads t from the front of b. Fewer than 8 bytes are wire.ErrTruncatedIOAM. It does not call Check, so that a
// header that breaks a rule can still be shown.
func (t *Trace) Decode(b []byte) (int, error) {
	*t = Trace{}
	if len(b) < traceLen {
		return 0, wire.ErrTruncatedIOAM
	}
	lengths := binary.BigEndian.Uint16(b[2:])
	t.NamespaceID = binary.BigEndian.Uint16(b)
	t.NodeLen = uint8(lengths >> traceNodeLenShift)
	t.Overflow = lengths&traceOverflow != 0
	t.Loopback = lengths&traceLoopback != 0
	t.Active = lengths&traceActive != 0
	t.RemainingLen = uint8(lengths & traceRemainingMask)
	t.Type = binary.BigEndian.Uint32(b[4:]) >> 8
	return traceLen, nil
}

// Append appends the 8 bytes of t.
func (t *Trace) Append(b []byte) []byte {
	lengths := uint16(t.NodeLen&traceNodeLenMask)<<traceNodeLenShift | uint16(t.RemainingLen)&traceRemainingMask
	if t.Overflow {
		lengths |= traceOverflow
	}
	if t.Loopback {
		lengths |= traceLoopback
	}
	if t.Active {
		lengths |= traceActive
	}
	b = binary.BigEndian.AppendUint16(b, t.NamespaceID)
	b = binary.BigEndian.AppendUint16(b, lengths)
	return binary.BigEndian.AppendUint32(b, t.Type<<8)
}

// Len returns 8.
func (t *Trace) Len() int { return traceLen }

// Check reports whether NodeLen agrees with the trace type. It returns wire.ErrIOAMNodeLenZero,
// wire.ErrIOAMNodeLenMismatch or nil.
func (t *Trace) Check() error {
	if t.NodeLen == 0 {
		return wire.ErrIOAMNodeLenZero
	}
	if int(t.NodeLen) != NodeLen(t.Type) {
		return wire.ErrIOAMNodeLenMismatch
	}
	return nil
}
