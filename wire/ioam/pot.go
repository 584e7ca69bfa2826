package ioam

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	potLen     = 4
	potDataLen = 16 // PktID and Cumulative
)

// A POT is the proof of transit option (RFC 9197 §4.5). PktID and Cumulative are the data of POT type 0.
//
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|        Namespace-ID           | IOAM-POT-Type | IOAM-POT flags|
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                        PktID (64 bits)                        |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
//	|                      Cumulative (64 bits)                     |
//	+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+-+
type POT struct {
	NamespaceID uint16
	Type        uint8
	Flags       uint8
	PktID       uint64 // type 0
	Cumulative  uint64 // type 0
	Extra       []byte // data of another type; a view into the decoded bytes
}

// Decode reads p from the front of b. The data of a type other than 0 have no length of their own: they are all of b,
// which must be the body as its carrier bounds it. It returns wire.ErrTruncatedIOAM if the header or the data of type 0
// are not all there.
func (p *POT) Decode(b []byte) (int, error) {
	*p = POT{}
	if len(b) < potLen {
		return 0, wire.ErrTruncatedIOAM
	}
	p.NamespaceID = binary.BigEndian.Uint16(b)
	p.Type, p.Flags = b[2], b[3]
	if p.Type != 0 {
		if len(b) > potLen {
			p.Extra = b[potLen:len(b):len(b)]
		}
		return len(b), nil
	}
	if len(b) < potLen+potDataLen {
		return 0, wire.ErrTruncatedIOAM
	}
	p.PktID = binary.BigEndian.Uint64(b[4:])
	p.Cumulative = binary.BigEndian.Uint64(b[12:])
	return potLen + potDataLen, nil
}

// Append appends p, Len bytes.
func (p *POT) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, p.NamespaceID)
	b = append(b, p.Type, p.Flags)
	if p.Type != 0 {
		return append(b, p.Extra...)
	}
	b = binary.BigEndian.AppendUint64(b, p.PktID)
	return binary.BigEndian.AppendUint64(b, p.Cumulative)
}

// Len returns the size in bytes.
func (p *POT) Len() int {
	if p.Type != 0 {
		return potLen + len(p.Extra)
	}
	return potLen + potDataLen
}
