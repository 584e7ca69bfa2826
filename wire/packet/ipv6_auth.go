package packet

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
)

const ipv6AuthLen = 12 // the fields in front of ICV

// An IPv6Auth is an IP Authentication Header (protocol 51, RFC 4302 §2): (PayloadLen+2)*4 bytes, in IPv4 packets too.
// Unlike the extension headers of RFC 8200 it counts words, and not the first two.
//
//	+---------------+---------------+-------------------------------+
//	|  NextHeader   |  PayloadLen   |           Reserved            |
//	+---------------+---------------+-------------------------------+
//	|                              SPI                              |
//	+---------------------------------------------------------------+
//	|                           Sequence                            |
//	+---------------------------------------------------------------+
//	|                            ICV ...                            |
//	+---------------------------------------------------------------+
type IPv6Auth struct {
	NextHeader uint8
	PayloadLen uint8  // words, minus 2
	SPI        uint32 // Security Parameters Index
	Sequence   uint32
	ICV        []byte // view; Integrity Check Value with its padding, a multiple of 4 bytes
}

// Decode reads h from the front of b and returns (PayloadLen+2)*4. Error: ErrTruncatedIPv6Extension, also for a
// PayloadLen of 0, which leaves no room for Sequence. If only ICV is cut or PayloadLen is wrong, the other fields are
// filled.
func (h *IPv6Auth) Decode(b []byte) (int, error) {
	*h = IPv6Auth{}
	if len(b) < ipv6AuthLen {
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.NextHeader = b[0]
	h.PayloadLen = b[1]
	h.SPI = binary.BigEndian.Uint32(b[4:])
	h.Sequence = binary.BigEndian.Uint32(b[8:])
	n := (int(h.PayloadLen) + 2) * 4
	if n < ipv6AuthLen || len(b) < n {
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.ICV = view(b, ipv6AuthLen, n)
	return n, nil
}

// Append appends h to b. It writes PayloadLen as it is.
func (h *IPv6Auth) Append(b []byte) []byte {
	b = append(b, h.NextHeader, h.PayloadLen, 0, 0)
	b = binary.BigEndian.AppendUint32(b, h.SPI)
	b = binary.BigEndian.AppendUint32(b, h.Sequence)
	return append(b, h.ICV...)
}

// Len returns 12 plus the length of ICV, in bytes.
func (h *IPv6Auth) Len() int { return ipv6AuthLen + len(h.ICV) }
