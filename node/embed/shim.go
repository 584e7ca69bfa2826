package embed

import (
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// A shim is what is needed of any shim.
type shim struct {
	family   inband.Family
	intType  uint8
	npt      uint8
	g        bool
	dstPort  uint16 // of NPT 1
	protocol uint8  // of NPT 2
	dscp     uint8
	next     uint16 // Next Protocol of VXLAN-GPE or GRE
	at       int
	end      int // behind what the shim covers; 0: that is not in the packet
	err      wire.Error
}

// readShim reads the shim behind TCP or UDP at offset at, in a payload that ends at end. The first byte tells its
// family, and the domain if it is the domain's own and has a type that is not defined.
func (w *walk) readShim(at, end int, own bool) shim {
	b := w.b[min(at, end):end]
	s := shim{at: at, family: inband.DetectL4(b)}
	if s.family == inband.FamilyUnknown && own {
		s.family = w.d.family()
	}
	switch s.family {
	case inband.Family2x:
		var h inband.ShimL4
		if _, err := h.Decode(b); err != nil {
			s.err = wire.ErrTruncatedShim
			return s
		}
		s.intType, s.npt, s.dstPort, s.protocol, s.dscp = h.Type, h.NPT, h.DstPort, h.Protocol, h.DSCP
		n := h.End()
		if w.d.has(codepoint.QuirkShimCountsItself) {
			n -= shimLen
		}
		s.cover(n, end)
	case inband.FamilyOld:
		var h inband.ShimL4Old
		if _, err := h.Decode(b); err != nil {
			s.err = wire.ErrTruncatedShim
			return s
		}
		s.intType, s.dscp = h.Type, h.DSCP
		s.cover(h.End(), end)
	default:
		s.err = wire.ErrUnknownINTType
	}
	return s
}

// cover notes where what the shim covers ends: n bytes behind its start, in a packet that ends at limit.
func (s *shim) cover(n, limit int) {
	switch {
	case n < shimLen:
		s.err = wire.ErrINTHeaderTruncated
	case s.at+n > limit:
		s.err = wire.ErrShimLengthOverrun
	default:
		s.end = s.at + n
	}
}

// ownShim takes down what the domain's own shim covers.
func (w *walk) ownShim(s *shim) {
	t := &w.p.INT
	t.Shim, t.Type, t.g = s.at, s.intType, t.g || s.g
	t.Malformed = s.err
	t.Header = s.at + shimLen
	if s.end == 0 {
		return
	}
	t.End = s.end
	if s.family != w.d.family() {
		t.Malformed = wire.ErrUnknownINTVersion
		return
	}
	end := s.end
	if w.d.hasTail() {
		end = w.tail(end)
	}
	w.contents(s.family, t.Header, end)
}

// hasTail reports whether the domain's INT ends in a tail (INT 0.5 §5.3.1).
func (d *Domain) hasTail() bool {
	return d.Version == inband.Version05 && (d.Carrier == DSCP || d.Carrier == DstPort)
}

// tail takes down the tail of INT that ends at end, and returns where the stack ends.
func (w *walk) tail(end int) int {
	t := &w.p.INT
	var tail inband.Tail05
	if end-t.Header < tail.Len() {
		t.Malformed = wire.ErrTailMissing
		return t.Header
	}
	at := end - tail.Len()
	if _, err := tail.Decode(w.b[at:end]); err == nil {
		t.next, t.dscp = tail.DstPort, tail.DSCP&0x3F
	}
	return at
}
