package packet

import "github.com/waybill-int/waybill/wire"

const (
	ipv6OptionsLen = 2 // the fields in front of the options
	// An extension header is a multiple of 8 bytes long, and its HdrExtLen does not count the first 8 (RFC 8200 §4).
	ipv6ExtUnit = 8
)

// An IPv6Options is a hop-by-hop options header (next header 0, RFC 8200 §4.3) or a destination options header (60,
// §4.6): (HdrExtLen+1)*8 bytes.
//
//	+---------------+---------------+-------------------------------+
//	|  NextHeader   |   HdrExtLen   |          Options ...          |
//	+---------------+---------------+-------------------------------+
type IPv6Options struct {
	NextHeader uint8
	HdrExtLen  uint8  // units of 8 bytes behind the first 8
	Options    []byte // view; a sequence of IPv6Option
}

// Decode reads h from the front of b and returns (HdrExtLen+1)*8. Error: ErrTruncatedIPv6Extension; if only Options is
// cut, the other fields are filled. The options themselves are not looked at, see IPv6Option.
func (h *IPv6Options) Decode(b []byte) (int, error) {
	*h = IPv6Options{}
	if len(b) < ipv6OptionsLen {
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.NextHeader = b[0]
	h.HdrExtLen = b[1]
	n := (int(h.HdrExtLen) + 1) * ipv6ExtUnit
	if len(b) < n {
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.Options = view(b, ipv6OptionsLen, n)
	return n, nil
}

// Append appends h to b. It writes HdrExtLen as it is.
func (h *IPv6Options) Append(b []byte) []byte {
	b = append(b, h.NextHeader, h.HdrExtLen)
	return append(b, h.Options...)
}

// Len returns 2 plus the length of Options, in bytes.
func (h *IPv6Options) Len() int { return ipv6OptionsLen + len(h.Options) }
