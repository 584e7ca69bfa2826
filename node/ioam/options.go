package ioam

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

const (
	optionLen    = 4 // Option Type, Opt Data Len, Reserved, IOAM-Opt-Type (RFC 9486 §3)
	namespaceLen = 2
	traceLen     = 8
)

// An Option is an IOAM option of a packet. Its bytes are views into the frame.
type Option struct {
	Start, End  int    // of the whole option, offsets in the frame
	Mutable     bool   // its Option Type says that nodes on the way may change it
	Type        uint8  // ioam.TypePreallocated to ioam.TypeDEX, or another one
	NamespaceID uint16 // 0 if Data are too short
	Data        []byte // behind IOAM-Opt-Type

	Trace ioam.Trace // of ioam.TypePreallocated and ioam.TypeIncremental
	Space []byte     // the data space behind Trace; Trace.Nodes reads it
	DEX   ioam.DEX   // of ioam.TypeDEX

	Malformed wire.Error // why Data are not what Type says; 0: they are
}

// IsTrace reports whether o is a trace, of either type.
func (o *Option) IsTrace() bool {
	return o.Type == ioam.TypePreallocated || o.Type == ioam.TypeIncremental
}

// Nodes returns the records of a trace, newest first. The errors are those of ioam.Trace.Nodes.
func (o *Option) Nodes() (ioam.Nodes, error) {
	return o.Trace.Nodes(o.Space, o.Type == ioam.TypePreallocated)
}

// Options reads the IOAM options of a packet one after the other:
//
//	options := p.Options()
//	var option Option
//	for options.Next(&option) { … }
type Options struct {
	frame   []byte
	at, end int
}

// Next reads the next IOAM option into o, all of whose fields it overwrites, and reports whether there was one.
func (s *Options) Next(o *Option) bool {
	var option packet.IPv6Option
	for s.at < s.end {
		n, err := option.Decode(s.frame[s.at:s.end])
		if err != nil {
			break // Parse has read it
		}
		start := s.at
		s.at += n
		if option.Type == ioam.OptionMutable || option.Type == ioam.OptionFixed {
			*o = Option{Start: start, End: s.at, Mutable: option.Type == ioam.OptionMutable}
			o.read(option.Data)
			return true
		}
	}
	return false
}

// read fills o from the bytes behind Opt Data Len.
func (o *Option) read(data []byte) {
	var body ioam.Option
	if _, err := body.Decode(data); err != nil {
		o.Malformed = wire.ErrTruncatedIOAM
		o.Type = 0xFF // none: without its type byte it must not pass for a pre-allocated trace
		return
	}
	o.Type, o.Data = body.Type, body.Data
	if len(o.Data) < namespaceLen {
		o.Malformed = wire.ErrTruncatedIOAM
		return
	}
	o.NamespaceID = binary.BigEndian.Uint16(o.Data)
	switch {
	case o.IsTrace():
		o.readTrace()
	case o.Type == ioam.TypeDEX:
		if _, err := o.DEX.Decode(o.Data); err != nil {
			o.Malformed = wire.ErrTruncatedIOAM
		}
	}
}

func (o *Option) readTrace() {
	n, err := o.Trace.Decode(o.Data)
	if err != nil {
		o.Malformed = wire.ErrTruncatedIOAM
		return
	}
	o.Space = o.Data[n:]
	switch _, err := o.Nodes(); {
	case err == wire.ErrIOAMRemainingLen:
		o.Malformed = wire.ErrIOAMRemainingLen
	case err != nil:
		o.Malformed = wire.ErrIOAMNodeLenMismatch
		if o.Trace.NodeLen == 0 {
			o.Malformed = wire.ErrIOAMNodeLenZero
		}
	case len(o.Space)%4 != 0:
		o.Malformed = wire.ErrIOAMNodesNotMultiple
	}
}
