package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const (
	nshLen          = 8 // base header and service path header
	nshO            = 0x2000
	nshU            = 0x1000
	nshLengthMask   = 0x3f
	nshMDTypeMask   = 0x0f
	nshTTLMask      = 0x3f
	nshVersionShift = 14
)

// An NSH is a Network Service Header, Length*4 bytes (RFC 8300 §2.2 to §2.5).
//
//	+---+-+-+-----------+-----------+-------+-------+---------------+
//	|Ver|O|U|    TTL    |  Length   |Unassgn|MDType | NextProtocol  |
//	+---+-+-+-----------+-----------+-------+-------+---------------+
//	|                      SPI                      |      SI       |
//	+-----------------------------------------------+---------------+
//	|                         Context ...                           |
//	+---------------------------------------------------------------+
type NSH struct {
	O            bool   // OAM packet
	U            bool   // the unassigned bit behind O
	TTL          uint8  // 6 bits
	Length       uint8  // 6 bits, words of the whole header, at least 2
	MDType       uint8  // 4 bits; 1 is a fixed Context of 16 bytes, 2 a list of variable length
	NextProtocol uint8  // NextIPv4 and so on, NSHMPLS
	SPI          uint32 // 24 bits, Service Path Identifier
	SI           uint8  // Service Index
	Context      []byte // view; context headers, format depends on MDType
}

// Decode reads h from the front of b and returns Length*4. Errors: ErrTruncatedNSH, also if only Context is cut;
// ErrNSHVersion for a Ver other than 0, with no field filled; ErrNSHLength for a Length below 2. In the other cases
// the fixed fields are filled if the first 8 bytes are there. Length is not compared with MDType.
func (h *NSH) Decode(b []byte) (int, error) {
	*h = NSH{}
	if len(b) < nshLen {
		return 0, wire.ErrTruncatedNSH
	}
	first := binary.BigEndian.Uint16(b)
	if first>>nshVersionShift != 0 {
		return 0, wire.ErrNSHVersion
	}
	h.O = first&nshO != 0
	h.U = first&nshU != 0
	h.TTL = uint8(first>>6) & nshTTLMask
	h.Length = uint8(first) & nshLengthMask
	h.MDType = b[2] & nshMDTypeMask
	h.NextProtocol = b[3]
	path := binary.BigEndian.Uint32(b[4:])
	h.SPI = path >> 8
	h.SI = uint8(path)
	n := int(h.Length) * 4
	if n < nshLen {
		return 0, wire.ErrNSHLength
	}
	if len(b) < n {
		return 0, wire.ErrTruncatedNSH
	}
	h.Context = view(b, nshLen, n)
	return n, nil
}

// Append appends h to b. It writes Length as it is.
func (h *NSH) Append(b []byte) []byte {
	first := uint16(h.TTL&nshTTLMask)<<6 | uint16(h.Length&nshLengthMask)
	if h.O {
		first |= nshO
	}
	if h.U {
		first |= nshU
	}
	b = binary.BigEndian.AppendUint16(b, first)
	b = append(b, h.MDType&nshMDTypeMask, h.NextProtocol)
	b = binary.BigEndian.AppendUint32(b, h.SPI<<8|uint32(h.SI))
	return append(b, h.Context...)
}

// Len returns 8 plus the length of Context, in bytes.
func (h *NSH) Len() int { return nshLen + len(h.Context) }
