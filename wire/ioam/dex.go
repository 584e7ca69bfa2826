package ioam

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
)

// Bits of the DEX Extension-Flags: the words that follow, in this order.
const (
	DEXFlowID   = 0x80
	DEXSequence = 0x40
)

const dexLen = 8

// A DEX is the direct export option: it asks each node to export the data of TraceType instead of adding them to the
// packet (RFC 9326 §3). A node does not change the packet.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        Namespace-ID           |     Flags     |Extension-Flags|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|               IOAM-Trace-Type                 |   Reserved    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                         Flow ID (optional)                    |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                     Sequence Number (optional)                |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type DEX struct {
	NamespaceID uint16
	Flags       uint8
	ExtFlags    uint8  // the DEX constants; each other bit stands for one word of Extra
	TraceType   uint32 // 24 bits: what to export, the Bit constants
	FlowID      uint32 // there if DEXFlowID is set
	Sequence    uint32 // there if DEXSequence is set
	Extra       []byte // words of the other extension flags, in bit order; a view into the decoded bytes
}

// Decode reads d from the front of b. It returns wire.ErrTruncatedIOAM if b does not hold a word for each extension
// flag.
func (d *DEX) Decode(b []byte) (int, error) {
	*d = DEX{}
	if len(b) < dexLen {
		return 0, wire.ErrTruncatedIOAM
	}
	d.NamespaceID = binary.BigEndian.Uint16(b)
	d.Flags, d.ExtFlags = b[2], b[3]
	d.TraceType = binary.BigEndian.Uint32(b[4:]) >> 8
	size := dexLen + 4*bits.OnesCount8(d.ExtFlags)
	if len(b) < size {
		return 0, wire.ErrTruncatedIOAM
	}
	at := dexLen
	if d.ExtFlags&DEXFlowID != 0 {
		d.FlowID = binary.BigEndian.Uint32(b[at:])
		at += 4
	}
	if d.ExtFlags&DEXSequence != 0 {
		d.Sequence = binary.BigEndian.Uint32(b[at:])
		at += 4
	}
	if at < size {
		d.Extra = b[at:size:size]
	}
	return size, nil
}

// Append appends d, Len bytes: the words that ExtFlags names and all of Extra.
func (d *DEX) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, d.NamespaceID)
	b = append(b, d.Flags, d.ExtFlags)
	b = binary.BigEndian.AppendUint32(b, d.TraceType<<8)
	if d.ExtFlags&DEXFlowID != 0 {
		b = binary.BigEndian.AppendUint32(b, d.FlowID)
	}
	if d.ExtFlags&DEXSequence != 0 {
		b = binary.BigEndian.AppendUint32(b, d.Sequence)
	}
	return append(b, d.Extra...)
}

// Len returns the size in bytes.
func (d *DEX) Len() int {
	return dexLen + 4*bits.OnesCount8(d.ExtFlags&(DEXFlowID|DEXSequence)) + len(d.Extra)
}
