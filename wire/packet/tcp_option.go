package packet

import "github.com/waybill-int/waybill/wire"

// TCP options of one byte, without length and data (RFC 9293 §3.2).
const (
	TCPOptionEnd = 0 // bytes behind it are padding
	TCPOptionNOP = 1
)

const tcpOptionLen = 2 // Kind and length

// A TCPOption is one option of a TCP header (RFC 9293 §3.2): 2 + len(Data) bytes, or 1 byte if Kind is TCPOptionEnd or
// TCPOptionNOP. On the wire a length byte, which counts Kind and itself too, stands between Kind and Data.
//
//	+---------------+---------------+-------------------------------+
//	|     Kind      |    length     |           Data ...            |
//	+---------------+---------------+-------------------------------+
//
// All options of a header:
//
//	for rest := header.Options; len(rest) > 0; {
//		n, err := option.Decode(rest)
//		if err != nil {
//			return err
//		}
//		if option.Kind == TCPOptionEnd {
//			break
//		}
//		rest = rest[n:]
//	}
type TCPOption struct {
	Kind uint8
	Data []byte // view; at most 253 bytes; none if Kind is TCPOptionEnd or TCPOptionNOP
}

// Decode reads o from the front of b and returns the bytes used, at least 1. Error: ErrTruncatedTCPOptions if b ends
// inside the option or its length byte is below 2; Kind is filled if it is there.
func (o *TCPOption) Decode(b []byte) (int, error) {
	*o = TCPOption{}
	if len(b) == 0 {
		return 0, wire.ErrTruncatedTCPOptions
	}
	o.Kind = b[0]
	if o.single() {
		return 1, nil
	}
	if len(b) < tcpOptionLen {
		return 0, wire.ErrTruncatedTCPOptions
	}
	n := int(b[1])
	if n < tcpOptionLen || len(b) < n {
		return 0, wire.ErrTruncatedTCPOptions
	}
	o.Data = view(b, tcpOptionLen, n)
	return n, nil
}

// Append appends o to b, its length byte taken from len(Data). The Data of a one-byte option is not written.
func (o *TCPOption) Append(b []byte) []byte {
	if o.single() {
		return append(b, o.Kind)
	}
	b = append(b, o.Kind, uint8(tcpOptionLen+len(o.Data)))
	return append(b, o.Data...)
}

// Len returns the length of o in bytes: 1 for TCPOptionEnd and TCPOptionNOP, else 2 plus the length of Data.
func (o *TCPOption) Len() int {
	if o.single() {
		return 1
	}
	return tcpOptionLen + len(o.Data)
}

// single says whether o is one of the two options of one byte.
func (o *TCPOption) single() bool { return o.Kind == TCPOptionEnd || o.Kind == TCPOptionNOP }
