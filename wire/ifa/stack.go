package ifa

import "github.com/waybill-int/waybill/wire"

// A Stack is what the nodes added behind the Metadata header, the newest record first:
//
//	stack, err := metadata.Stack(&header, b)
//	if err != nil { … }
//	var hop ifa.Hop
//	for stack.Next(&hop) { … }
//	payload := b[len(stack.Words):]
//
// Next reads records of the common template, 8 words each. Records of another name space may have another size: then
// read Words. Neither the optional headers that the flags MF and C announce nor a stack at the tail of the packet (TS)
// are looked for.
type Stack struct {
	Words []byte // the whole stack, a view into the decoded bytes
	Raw   []byte // the end of Words that is no whole Hop

	hops []byte // records not read yet
}

// Stack returns the stack of m. b starts behind the Metadata header; the stack covers the first Current Length words
// of it. It returns wire.ErrIFALengthExceedsMax if these are more than h allows and wire.ErrIFAStackTruncated if they
// are more than b holds.
func (m *Metadata) Stack(h *Header, b []byte) (Stack, error) {
	if m.CurrentLength > h.MaxLength {
		return Stack{}, wire.ErrIFALengthExceedsMax
	}
	end := 4 * int(m.CurrentLength)
	if end > len(b) {
		return Stack{}, wire.ErrIFAStackTruncated
	}
	if end == 0 {
		return Stack{}, nil
	}
	whole := end - end%hopLen
	s := Stack{Words: b[:end:end], hops: b[:whole:whole]}
	if whole < end {
		s.Raw = b[whole:end:end]
	}
	return s, nil
}

// Next reads the next record into h and reports whether there was one.
func (s *Stack) Next(h *Hop) bool {
	n, err := h.Decode(s.hops)
	if err != nil {
		return false
	}
	s.hops = s.hops[n:]
	return true
}
