package packet

import "github.com/waybill-int/waybill/wire"

const ipv6RoutingLen = 4 // the fields in front of Data

// An IPv6Routing is a routing header (next header 43, RFC 8200 §4.4): (HdrExtLen+1)*8 bytes.
//
//	+---------------+---------------+---------------+---------------+
//	|  NextHeader   |   HdrExtLen   |     Type      | SegmentsLeft  |
//	+---------------+---------------+---------------+---------------+
//	|                           Data ...                            |
//	+---------------------------------------------------------------+
type IPv6Routing struct {
	NextHeader   uint8
	HdrExtLen    uint8  // units of 8 bytes behind the first 8
	Type         uint8  // Routing Type; 4 is a Segment Routing Header (RFC 8754)
	SegmentsLeft uint8  // if not 0, the Dst of the IPv6 header is not the final one
	Data         []byte // view; format depends on Type
}

// Decode reads h from the front of b and returns (HdrExtLen+1)*8. Error: ErrTruncatedIPv6Extension; if only Data is
// cut, the other fields are filled.
func (h *IPv6Routing) Decode(b []byte) (int, error) {
	*h = IPv6Routing{}
	if len(b) < ipv6RoutingLen {
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.NextHeader = b[0]
	h.HdrExtLen = b[1]
	h.Type = b[2]
	h.SegmentsLeft = b[3]
	n := (int(h.HdrExtLen) + 1) * ipv6ExtUnit
	if len(b) < n {
		return 0, wire.ErrTruncatedIPv6Extension
	}
	h.Data = view(b, ipv6RoutingLen, n)
	return n, nil
}

// Append appends h to b. It writes HdrExtLen as it is.
func (h *IPv6Routing) Append(b []byte) []byte {
	b = append(b, h.NextHeader, h.HdrExtLen, h.Type, h.SegmentsLeft)
	return append(b, h.Data...)
}

// Len returns 4 plus the length of Data, in bytes.
func (h *IPv6Routing) Len() int { return ipv6RoutingLen + len(h.Data) }
