package ioam

import "github.com/waybill-int/waybill/wire"

// IOAM option types (RFC 9197 §4.1, RFC 9326 §3).
const (
	TypePreallocated = 0 // pre-allocated trace
	TypeIncremental  = 1 // incremental trace
	TypePOT          = 2 // proof of transit
	TypeE2E          = 3 // edge to edge
	TypeDEX          = 4 // direct export
)

// IPv6 option types that hold IOAM (RFC 9486). The third bit of the type says that nodes change the data on the way.
const (
	OptionMutable = 0x31 // trace
	OptionFixed   = 0x11 // edge to edge, direct export, proof of transit
)

const optionLen = 2

// An Option is the data of an IPv6 option of type OptionMutable or OptionFixed, without the option type and length
// bytes (RFC 9486 §3).
//
//	                                +-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	                                |  Option-Type  |  Opt Data Len |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|   Reserved    | IOAM-Opt-Type |           Data ...            |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type Option struct {
	Type uint8  // TypePreallocated to TypeDEX, or a type that this package does not know
	Data []byte // body: Trace and data space, POT, E2E or DEX; a view into the decoded bytes
}

// Decode reads o from all of b, the option data as the IPv6 option length bounds it.
// Fewer than 2 bytes are wire.ErrTruncatedIOAM.
func (o *Option) Decode(b []byte) (int, error) {
	*o = Option{}
	if len(b) < optionLen {
		return 0, wire.ErrTruncatedIOAM
	}
	o.Type = b[1]
	if len(b) > optionLen {
		o.Data = b[optionLen:len(b):len(b)]
	}
	return len(b), nil
}

// Append appends the option data, Len bytes. The IPv6 length byte that the caller puts in front holds at most 255.
func (o *Option) Append(b []byte) []byte {
	b = append(b, 0, o.Type)
	return append(b, o.Data...)
}

// Len returns the size of the option data in bytes.
func (o *Option) Len() int { return optionLen + len(o.Data) }
