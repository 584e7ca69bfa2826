package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	geneveLen        = 8 // without options
	geneveOptLenMask = 0x3f
	geneveO          = 0x80 // in the second byte
	geneveC          = 0x40
)

// A Geneve is a Geneve header with its options, 8 + OptLen*4 bytes (RFC 8926 §3.4).
//
//	+---+-----------+-+-+-----------+-------------------------------+
//	|Ver|  OptLen   |O|C|   Rsvd.   |           Protocol            |
//	+---+-----------+-+-+-----------+---------------+---------------+
//	|                      VNI                      |   Reserved    |
//	+-----------------------------------------------+---------------+
//	|                  Options (0 to 252 bytes) ...                 |
//	+---------------------------------------------------------------+
type Geneve struct {
	Version  uint8  // 2 bits, 0
	OptLen   uint8  // 6 bits, words of all options together, their headers included
	O        bool   // control packet
	C        bool   // a critical option is present
	Protocol uint16 // EtherType of the payload
	VNI      uint32 // 24 bits, Virtual Network Identifier
	Options  []byte // view; a sequence of GeneveOption
}

// Decode reads h from the front of b and returns 8 + OptLen*4. Errors: ErrTruncatedGeneve, also if only the options are
// cut; ErrGeneveVersion for a Version other than 0. The fixed fields are filled if the first 8 bytes are there. The
// options themselves are not looked at, see GeneveOption.
func (h *Geneve) Decode(b []byte) (int, error) {
	*h = Geneve{}
	if len(b) < geneveLen {
		return 0, wire.ErrTruncatedGeneve
	}
	h.Version = b[0] >> 6
	h.OptLen = b[0] & geneveOptLenMask
	h.O = b[1]&geneveO != 0
	h.C = b[1]&geneveC != 0
	h.Protocol = binary.BigEndian.Uint16(b[2:])
	h.VNI = binary.BigEndian.Uint32(b[4:]) >> 8
	if h.Version != 0 {
		return 0, wire.ErrGeneveVersion
	}
	n := geneveLen + int(h.OptLen)*4
	if len(b) < n {
		return 0, wire.ErrTruncatedGeneve
	}
	h.Options = view(b, geneveLen, n)
	return n, nil
}

// Append appends h to b. It writes OptLen as it is.
func (h *Geneve) Append(b []byte) []byte {
	var flags uint8
	if h.O {
		flags |= geneveO
	}
	if h.C {
		flags |= geneveC
	}
	b = append(b, h.Version<<6|h.OptLen&geneveOptLenMask, flags)
	b = binary.BigEndian.AppendUint16(b, h.Protocol)
	b = binary.BigEndian.AppendUint32(b, h.VNI<<8)
	return append(b, h.Options...)
}

// Len returns 8 plus the length of Options, in bytes.
func (h *Geneve) Len() int { return geneveLen + len(h.Options) }
