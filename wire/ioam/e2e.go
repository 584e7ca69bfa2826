package ioam

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

// Bits of the E2E-Type: the fields that follow, in this order.
const (
	E2ESeq64  = 0x8000
	E2ESeq32  = 0x4000
	E2ETsSec  = 0x2000
	E2ETsFrac = 0x1000
)

const e2eLen = 4

// An E2E is the edge to edge option (RFC 9197 §4.6). A field is there if its bit in Type is set.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|          Namespace-ID         |         IOAM-E2E-Type         |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                     E2E Option data fields                    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type E2E struct {
	NamespaceID uint16
	Type        uint16 // the E2E constants; other bits are undefined and stand for no field
	Seq64       uint64
	Seq32       uint32
	TsSec       uint32 // seconds of PTP, NTP or POSIX time, as the namespace defines
	TsFrac      uint32 // ns (PTP), 2^-32 s (NTP) or µs (POSIX)
}

// Decode reads e from the front of b. It returns wire.ErrTruncatedIOAM if b does not hold all fields of Type.
func (e *E2E) Decode(b []byte) (int, error) {
	*e = E2E{}
	if len(b) < e2eLen {
		return 0, wire.ErrTruncatedIOAM
	}
	e.NamespaceID = binary.BigEndian.Uint16(b)
	e.Type = binary.BigEndian.Uint16(b[2:])
	size := e.Len()
	if len(b) < size {
		return 0, wire.ErrTruncatedIOAM
	}
	at := e2eLen
	if e.Type&E2ESeq64 != 0 {
		e.Seq64 = binary.BigEndian.Uint64(b[at:])
		at += 8
	}
	if e.Type&E2ESeq32 != 0 {
		e.Seq32 = binary.BigEndian.Uint32(b[at:])
		at += 4
	}
	if e.Type&E2ETsSec != 0 {
		e.TsSec = binary.BigEndian.Uint32(b[at:])
		at += 4
	}
	if e.Type&E2ETsFrac != 0 {
		e.TsFrac = binary.BigEndian.Uint32(b[at:])
	}
	return size, nil
}

// Append appends e, Len bytes: the fields that Type names.
func (e *E2E) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, e.NamespaceID)
	b = binary.BigEndian.AppendUint16(b, e.Type)
	if e.Type&E2ESeq64 != 0 {
		b = binary.BigEndian.AppendUint64(b, e.Seq64)
	}
	if e.Type&E2ESeq32 != 0 {
		b = binary.BigEndian.AppendUint32(b, e.Seq32)
	}
	if e.Type&E2ETsSec != 0 {
		b = binary.BigEndian.AppendUint32(b, e.TsSec)
	}
	if e.Type&E2ETsFrac != 0 {
		b = binary.BigEndian.AppendUint32(b, e.TsFrac)
	}
	return b
}

// Len returns the size in bytes that follows from Type, 4 to 24.
func (e *E2E) Len() int {
	words := bits.OnesCount16(e.Type & (E2ESeq32 | E2ETsSec | E2ETsFrac))
	if e.Type&E2ESeq64 != 0 {
		words += 2
	}
	return e2eLen + 4*words
}
