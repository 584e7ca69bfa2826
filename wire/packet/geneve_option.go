package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	geneveOptionLen        = 4 // the fields in front of Data
	geneveOptionLengthMask = 0x1f
)

// A GeneveOption is one option of a Geneve header, 4 + Length*4 bytes (RFC 8926 §3.5).
//
//	+-------------------------------+---------------+-----+---------+
//	|             Class             |     Type      |  R  | Length  |
//	+-------------------------------+---------------+-----+---------+
//	|                  Data (0 to 124 bytes) ...                    |
//	+---------------------------------------------------------------+
//
// All options of a header:
//
//	for rest := header.Options; len(rest) > 0; {
//		n, err := option.Decode(rest)
//		if err != nil {
//			return err
//		}
//		rest = rest[n:]
//	}
type GeneveOption struct {
	Class  uint16 // who defines Type
	Type   uint8  // all 8 bits; the top one (0x80) marks a critical option
	Length uint8  // 5 bits, words of Data
	Data   []byte // view
}

// Decode reads o from the front of b, which ends where the options of the Geneve header end, and returns 4 + Length*4.
// Error: ErrGeneveOptionOverrun if the option goes on behind b; if only Data is cut, the other fields are filled.
func (o *GeneveOption) Decode(b []byte) (int, error) {
	*o = GeneveOption{}
	if len(b) < geneveOptionLen {
		return 0, wire.ErrGeneveOptionOverrun
	}
	o.Class = binary.BigEndian.Uint16(b)
	o.Type = b[2]
	o.Length = b[3] & geneveOptionLengthMask
	n := geneveOptionLen + int(o.Length)*4
	if len(b) < n {
		return 0, wire.ErrGeneveOptionOverrun
	}
	o.Data = view(b, geneveOptionLen, n)
	return n, nil
}

// Append appends o to b. It writes Length as it is.
func (o *GeneveOption) Append(b []byte) []byte {
	b = binary.BigEndian.AppendUint16(b, o.Class)
	b = append(b, o.Type, o.Length&geneveOptionLengthMask)
	return append(b, o.Data...)
}

// Len returns 4 plus the length of Data, in bytes.
func (o *GeneveOption) Len() int { return geneveOptionLen + len(o.Data) }
