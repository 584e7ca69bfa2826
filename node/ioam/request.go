package ioam

import (
	"errors"

	"github.com/waybill-int/waybill/wire/ioam"
)

// MaxWords is the largest data space of a trace in words: Opt Data Len counts no more than 255 bytes.
const MaxWords = (maxOptDataLen - (optionLen - 2) - traceLen) / 4

const maxOptDataLen = 255

// A Request is what a source asks of the nodes behind it.
type Request struct {
	Type        uint8  // ioam.TypePreallocated, ioam.TypeIncremental or ioam.TypeDEX
	NamespaceID uint16 // one of the domain
	// TraceType is 24 bits, the Bit constants of package wire/ioam. Undefined bits and bit 23 are not written.
	TraceType uint32

	// Of a trace.
	RemainingLen uint8 // words that nodes may add, the source included; pre-allocated: the size of the data space
	Loopback     bool  // L (RFC 9322)
	Active       bool  // A (RFC 9322)

	// Of direct export.
	HasFlowID, HasSequence bool
	FlowID, Sequence       uint32
}

var (
	errType         = errors.New("type is none that a source inserts: want pre-allocated or incremental trace, or direct export")
	errTraceType    = errors.New("trace type asks for no data")
	errRemainingLen = errors.New("remaining length holds not even one record")
	errMaxWords     = errors.New("remaining length exceeds 61 words, the most that an IPv6 option holds")
)

// Check says why Encapsulate would refuse q; nil if it would not.
func (q *Request) Check() error {
	trace := q.Type == ioam.TypePreallocated || q.Type == ioam.TypeIncremental
	switch {
	case !trace && q.Type != ioam.TypeDEX:
		return errType
	case ioam.NodeLen(q.traceType()) == 0: // a snapshot alone has NodeLen 0, which no trace may have
		return errTraceType
	case trace && int(q.RemainingLen) < ioam.NodeLen(q.traceType()):
		return errRemainingLen
	case trace && q.RemainingLen > MaxWords:
		return errMaxWords
	}
	return nil
}

// traceType is TraceType with the bits that a source may set (RFC 9197 §4.4.1).
func (q *Request) traceType() uint32 {
	const reserved = 1 // bit 23
	return q.TraceType & 0xFFFFFF &^ (ioam.BitsUndefined | reserved)
}

// bodyLen is the bytes that the option has behind IOAM-Opt-Type, records not counted.
func (q *Request) bodyLen() int {
	switch q.Type {
	case ioam.TypeDEX:
		dex := q.dex()
		return dex.Len()
	case ioam.TypePreallocated:
		return traceLen + 4*int(q.RemainingLen)
	}
	return traceLen
}

// append appends the option, optionLen and bodyLen bytes.
func (q *Request) append(b []byte) []byte {
	optionType := byte(ioam.OptionMutable)
	if q.Type == ioam.TypeDEX {
		optionType = ioam.OptionFixed
	}
	b = append(b, optionType, uint8(optionLen-2+q.bodyLen()), 0, q.Type)
	if q.Type == ioam.TypeDEX {
		dex := q.dex()
		return dex.Append(b)
	}
	trace := ioam.Trace{
		NamespaceID: q.NamespaceID, NodeLen: uint8(ioam.NodeLen(q.traceType())), Loopback: q.Loopback, Active: q.Active,
		RemainingLen: q.RemainingLen, Type: q.traceType(),
	}
	b = trace.Append(b)
	for range q.bodyLen() - traceLen { // the data space, zero (RFC 9197 §4.4)
		b = append(b, 0)
	}
	return b
}

func (q *Request) dex() ioam.DEX {
	dex := ioam.DEX{NamespaceID: q.NamespaceID, TraceType: q.traceType(), FlowID: q.FlowID, Sequence: q.Sequence}
	if q.HasFlowID {
		dex.ExtFlags |= ioam.DEXFlowID
	}
	if q.HasSequence {
		dex.ExtFlags |= ioam.DEXSequence
	}
	return dex
}
