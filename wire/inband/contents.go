package inband

import "github.com/waybill-int/waybill/wire"

// Contents returns what the shim at the start of b covers, without its own 4 bytes: the INT header, the stack and, with
// v0.5 over TCP or UDP, the tail. end is the shim's End. The result is a view into b.
//
// If b is shorter than the shim says, Contents returns what is there and [wire.ErrShimLengthOverrun]; what can be read
// of such a stack is for CutStack. If end lies inside the shim itself, the error is [wire.ErrINTHeaderTruncated].
func Contents(b []byte, end int) ([]byte, error) {
	switch {
	case len(b) < shimLen:
		return nil, wire.ErrTruncatedShim
	case end < shimLen:
		return nil, wire.ErrINTHeaderTruncated
	case end > len(b):
		return view(b[shimLen:]), wire.ErrShimLengthOverrun
	}
	return view(b[shimLen:end]), nil
}

// view cuts b off from the bytes behind it. An empty view is nil.
func view(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	return b[:len(b):len(b)]
}
