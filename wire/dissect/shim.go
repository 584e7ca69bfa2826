package dissect

import (
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// shimLen is the length of every shim in bytes.
const shimLen = 4

// nptUnknown is the only value of NPT that has no meaning (INT 2.1 §5.7.2).
const nptUnknown = 3

// shimVersion tells by the first byte which shim stands behind TCP or UDP (INT 0.5 to 1.0, or 2.x).
func (w *walk) shimVersion() (Start, bool) {
	switch inband.DetectL4(w.rest()) {
	case inband.FamilyOld:
		return INTShimL4v1, true
	case inband.Family2x:
		return INTShimL4v2, true
	}
	if len(w.rest()) == 0 {
		w.fail(wire.ErrTruncatedShim)
	} else {
		w.fail(wire.ErrUnknownINTType)
	}
	return Payload, true
}

// shimL4 reads the shim behind TCP or UDP and the INT behind the shim.
func (w *walk) shimL4(kind Start) Start {
	w.dscp = 0 // the mark is used up: the headers behind INT have the same IP header
	if kind == INTShimL4v2 {
		return w.shimL4v2()
	}
	return w.shimL4Old()
}

func (w *walk) shimL4v2() Start {
	var h inband.ShimL4
	l := w.begin()
	if _, err := h.Decode(w.rest()); err != nil {
		return w.broken("int_shim_l4_v2", &l, 0, err)
	}
	number(&l, "type", h.Type, 0, 4).Meaning = intTypeName(h.Type, true)
	number(&l, "npt", h.NPT, 4, 2).Meaning = nptName(h.NPT)
	number(&l, "length", h.Length, 8, 8).Unit = "words"
	switch h.NPT {
	case inband.NPTDSCP:
		number(&l, "original_dscp", h.DSCP, 24, 6)
	case inband.NPTDstPort:
		number(&l, "original_dst_port", h.DstPort, 16, 16)
	case inband.NPTProtocol:
		number(&l, "ip_protocol", h.Protocol, 24, 8).Meaning = protocolName(h.Protocol)
	}
	end := h.End()
	if w.profile.Dialect.Has(codepoint.QuirkShimCountsItself) {
		l.quirk("length_counts_shim")
		end -= shimLen
	}
	npt := h.NPT
	m := w.marks
	switch {
	case m.port && m.dscp:
		l.fail(wire.ErrINTMarkConflict)
	case m.port && npt == inband.NPTDSCP, m.dscp && npt != inband.NPTDSCP, npt == nptUnknown:
		l.fail(wire.ErrUnknownNPT)
		npt = nptUnknown
	}
	w.marks = marks{}
	w.shimINT("int_shim_l4_v2", &l, inband.Family2x, h.Type, end)

	switch npt {
	case inband.NPTDSCP:
		return w.behindINT(w.dstPort)
	case inband.NPTDstPort:
		return w.behindINT(h.DstPort)
	case inband.NPTProtocol:
		return w.protocol(h.Protocol)
	}
	return Payload
}

// shimINT adds the shim l of INT 2.x, which covers end bytes with itself, and the INT behind it.
func (w *walk) shimINT(name string, l *builder, family inband.Family, intType uint8, end int) {
	c, err := w.shimContents(end)
	w.addShim(name, l, family, intType, err)
	version, err := w.identify(c, family, inband.ZeroUnset)
	w.intContents(c, version, err, family, intType)
}

// addShim adds the shim l with what is wrong with its length or else its type.
func (w *walk) addShim(name string, l *builder, family inband.Family, intType uint8, err error) {
	if err != nil {
		l.fail(err)
	}
	if err := w.checkType(family, intType); err != nil {
		l.fail(err)
	}
	w.add(name, l, shimLen)
}

// checkType is inband.CheckType, but for the type of a dialect.
func (w *walk) checkType(family inband.Family, intType uint8) error {
	if family == inband.FamilyOld && intType == inband.TypeHostINT && w.profile.Dialect.Has(codepoint.QuirkHostINT) {
		return nil
	}
	return inband.CheckType(family, intType)
}

// shimL4Old reads the shim of INT 0.5 or 1.0 behind TCP or UDP.
func (w *walk) shimL4Old() Start {
	var h inband.ShimL4Old
	l := w.begin()
	if _, err := h.Decode(w.rest()); err != nil {
		return w.broken("int_shim_l4_v1", &l, 0, err)
	}
	c, shimErr := w.shimContents(h.End())
	if h.Length == 0 && w.marks.unmarked {
		c, shimErr = w.shimContents(w.unmarked05())
	}
	// INT of June 2016 has no shim for TCP and UDP: a header that could be either is 0.5.
	zero := w.zero()
	if zero != inband.ZeroIs10 {
		zero = inband.ZeroIs05
	}
	version, err := w.identify(c, inband.FamilyOld, zero)
	number(&l, "type", h.Type, 0, 8).Meaning = intTypeName(h.Type, false)
	number(&l, "length", h.Length, 16, 8).Unit = "words"
	name := "int_shim_l4_v0_5"
	if version != inband.Version05 {
		name = "int_shim_l4_v1"
		number(&l, "original_dscp", h.DSCP, 24, 6)
	}
	if w.marks.unmarked {
		l.quirk("unmarked")
		if h.Length == 0 {
			l.quirk("short_length")
		}
	}
	w.marks = marks{}
	w.addShim(name, &l, inband.FamilyOld, h.Type, shimErr)
	dstPort := w.dstPort
	switch {
	case h.Type == inband.TypeHostINT:
		dstPort = w.hostStack(c)
	case version == inband.Version05:
		dstPort = w.int05WithTail(c, h.Type)
	default:
		w.intContents(c, version, err, inband.FamilyOld, h.Type)
	}
	if w.tcpOptions > 0 {
		w.options(w.tcpOptions)
		w.tcpOptions = 0
	}
	return w.behindINT(dstPort)
}

// int05WithTail reads the header, stack and tail of INT 0.5 over TCP or UDP, and returns the original destination port.
func (w *walk) int05WithTail(c contents, intType uint8) uint16 {
	var tail inband.Tail05
	var err error
	cut := c.cut()
	if !cut {
		var inner []byte
		inner, tail, err = inband.CutTail05(w.packet[c.from:c.to])
		c.to = c.from + len(inner)
	}
	c.length = max(0, c.length-tail.Len())
	w.intContents(c, inband.Version05, nil, inband.FamilyOld, intType)
	if err != nil {
		w.fail(err)
	}
	if err != nil || cut {
		return w.dstPort
	}
	return w.tail05(&tail)
}

// tail05 adds the tail of INT 0.5 and returns the original destination port, which some leave empty there.
func (w *walk) tail05(tail *inband.Tail05) uint16 {
	l := w.begin()
	number(&l, "proto", tail.Proto, 0, 8).Meaning = protocolName(tail.Proto)
	number(&l, "dst_port", tail.DstPort, 8, 16)
	number(&l, "original_dscp", tail.DSCP, 24, 8)
	w.add("int_tail_v0_5", &l, tail.Len())
	if tail.DstPort == 0 {
		return w.dstPort
	}
	return tail.DstPort
}

// behindINT returns what the payload of UDP to a port holds, where INT stood between the two; of TCP it is not known.
func (w *walk) behindINT(dstPort uint16) Start {
	if !w.isUDP {
		return Payload
	}
	return tunnel(dstPort)
}

// shimGPE reads an INT shim behind VXLAN-GPE.
func (w *walk) shimGPE(kind Start) Start {
	if kind == INTShimGPEv2 {
		return w.shimGPEv2()
	}
	var h inband.ShimGPEOld
	l := w.begin()
	if _, err := h.Decode(w.rest()); err != nil {
		return w.broken(startNames[kind], &l, 0, err)
	}
	number(&l, "type", h.Type, 0, 8).Meaning = intTypeName(h.Type, false)
	number(&l, "length", h.Length, 16, 8).Unit = "words"
	number(&l, "next_protocol", h.NextProtocol, 24, 8).Meaning = nextProtocolName(h.NextProtocol)
	c, shimErr := w.shimContents(h.End())
	var version inband.Version
	var err error
	switch kind {
	case INTShimGPE2016: // configured, and its version has only 2 bits: the nibble does not tell
		version = inband.Version2016
	case INTShimGPEv05:
		version, err = w.identify(c, inband.FamilyOld, inband.ZeroIs05)
	default:
		version, err = w.identify(c, inband.FamilyOld, w.zero())
	}
	name := startNames[kind]
	switch version {
	case inband.Version2016:
		name = "int_shim_vxlan_gpe_2016"
	case inband.Version05:
		name = "int_shim_vxlan_gpe_v0_5"
	case inband.Version10:
		name = "int_shim_vxlan_gpe_v1_0"
	}
	w.addShim(name, &l, inband.FamilyOld, h.Type, shimErr)
	w.intContents(c, version, err, inband.FamilyOld, h.Type)
	return gpeNext(w, h.NextProtocol)
}

func (w *walk) shimGPEv2() Start {
	var h inband.ShimGPE
	l := w.begin()
	if _, err := h.Decode(w.rest()); err != nil {
		return w.broken("int_shim_vxlan_gpe_v2", &l, 0, err)
	}
	number(&l, "type", h.Type, 0, 4).Meaning = intTypeName(h.Type, true)
	number(&l, "length", h.Length, 8, 8).Unit = "words"
	l.flag("g", h.G, 16)
	number(&l, "next_protocol", h.NextProtocol, 24, 8).Meaning = nextProtocolName(h.NextProtocol)
	w.shimINT("int_shim_vxlan_gpe_v2", &l, inband.Family2x, h.Type, h.End())
	return gpeNext(w, h.NextProtocol)
}

// shimGRE reads the INT shim behind GRE.
func (w *walk) shimGRE() Start {
	var h inband.ShimGRE
	l := w.begin()
	if _, err := h.Decode(w.rest()); err != nil {
		return w.broken("int_shim_gre_v2", &l, 0, err)
	}
	number(&l, "type", h.Type, 0, 4).Meaning = intTypeName(h.Type, true)
	l.flag("g", h.G, 4)
	number(&l, "length", h.Length, 8, 8).Unit = "words"
	number(&l, "next_protocol", h.NextProtocol, 16, 16).Meaning = etherTypeName(h.NextProtocol)
	w.shimINT("int_shim_gre_v2", &l, inband.Family2x, h.Type, h.End())
	return w.etherType(h.NextProtocol)
}

// geneveINT reads a Geneve option of n bytes at the current position, whose class is one of INT. l is its layer so far.
func (w *walk) geneveINT(o *packet.GeneveOption, l *builder, n int) {
	if err := inband.CheckType(inband.FamilyGeneve, o.Type); err != nil {
		l.bytes("hex", o.Data, 32)
		l.fail(err)
		w.add("geneve_option", l, n)
		return
	}
	zero := w.zero()
	if o.Class == geneveClassINT && zero == inband.ZeroIs2016 {
		zero = inband.ZeroUnset // the class was assigned to INT 2.1
	}
	w.add("geneve_option", l, n-len(o.Data))
	c := contents{from: w.off, to: w.off + len(o.Data), length: len(o.Data)}
	version, err := w.identify(c, inband.FamilyGeneve, zero)
	w.intContents(c, version, err, inband.FamilyGeneve, o.Type)
}

// geneveClassINT is the option class that IANA assigned to INT.
const geneveClassINT = 0x0103

// zero returns the configured meaning of the version nibble 0.
func (w *walk) zero() inband.Version0 {
	switch w.profile.FormatVersion0 {
	case codepoint.Version0INT2016:
		return inband.ZeroIs2016
	case codepoint.Version0INT05:
		return inband.ZeroIs05
	case codepoint.Version0INT10:
		return inband.ZeroIs10
	}
	return inband.ZeroUnset
}

// A contents is the bytes that a shim or option covers: INT header, stack and, in INT 0.5, tail.
type contents struct {
	from, to int  // positions in the packet of what is there
	length   int  // what the shim says; more than is there if the packet was cut
	broken   bool // the shim's Length does not even cover the shim
}

// cut reports whether the packet ends before the contents do.
func (c contents) cut() bool { return c.to-c.from < c.length }

// shimContents returns what the shim at the current position covers, end bytes with itself, and what is wrong with
// that. A stack that the sender of a report is known to cut is not wrong: the INT header tells of it.
func (w *walk) shimContents(end int) (contents, error) {
	b, err := inband.Contents(w.rest(), end)
	from := w.off + shimLen
	c := contents{from: from, to: from + len(b), length: max(0, end-shimLen), broken: end < shimLen}
	if err == wire.ErrShimLengthOverrun && w.cutStack() {
		err = nil
	}
	return c, err
}
