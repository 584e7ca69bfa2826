package packet

import "github.com/waybill-int/waybill/wire"

// Padding options (RFC 8200 §4.2).
const (
	IPv6OptionPad1 = 0 // one byte, without length and data
	IPv6OptionPadN = 1
)

const ipv6OptionLen = 2 // Type and length

// An IPv6Option is one option of an IPv6Options header (RFC 8200 §4.2): 2 + len(Data) bytes, or 1 byte if Type is
// IPv6OptionPad1. On the wire a length byte, which counts Data only, stands between Type and Data.
//
//	+---------------+---------------+-------------------------------+
//	|     Type      |    length     |           Data ...            |
//	+---------------+---------------+-------------------------------+
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
type IPv6Option struct {
	Type uint8  // all 8 bits; the upper three say what a node does that does not know it, and whether Data may change
	Data []byte // view; at most 255 bytes; none if Type is IPv6OptionPad1
}

// Decode reads o from the front of b and returns the bytes used, at least 1. Error: ErrIPv6OptionOverrun if b ends
// inside the option; Type is filled if it is there.
func (o *IPv6Option) Decode(b []byte) (int, error) {
	*o = IPv6Option{}
	if len(b) == 0 {
		return 0, wire.ErrIPv6OptionOverrun
	}
	o.Type = b[0]
	if o.Type == IPv6OptionPad1 {
		return 1, nil
	}
	if len(b) < ipv6OptionLen {
		return 0, wire.ErrIPv6OptionOverrun
	}
	n := ipv6OptionLen + int(b[1])
	if len(b) < n {
		return 0, wire.ErrIPv6OptionOverrun
	}
	o.Data = view(b, ipv6OptionLen, n)
	return n, nil
}

// Append appends o to b, its length byte taken from len(Data). The Data of an IPv6OptionPad1 is not written.
func (o *IPv6Option) Append(b []byte) []byte {
	if o.Type == IPv6OptionPad1 {
		return append(b, IPv6OptionPad1)
	}
	b = append(b, o.Type, uint8(len(o.Data)))
	return append(b, o.Data...)
}

// Len returns the length of o in bytes: 1 for IPv6OptionPad1, else 2 plus the length of Data.
func (o *IPv6Option) Len() int {
	if o.Type == IPv6OptionPad1 {
		return 1
	}
	return ipv6OptionLen + len(o.Data)
}
