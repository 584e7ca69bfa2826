package telemetry

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// header20 reads the INT 2.x header behind a shim of n bytes; end is where the shim says that it ends.
func (d *Decoder) header20(b []byte, n, end int, kind uint8) error {
	if end < n {
		return wire.ErrINTHeaderTruncated
	}
	return d.contents20(b[n:min(end, len(b))], end-n, kind)
}

// reciprocal[n] is 65536/n, rounded up: exact enough to divide the words of a stack by n.
var reciprocal = func() (r [32]uint32) {
	for n := 1; n < len(r); n++ {
		r[n] = (1<<16 + uint32(n) - 1) / uint32(n)
	}
	return r
}()

// quotient divides length bytes by records of so many words, 5 bits. Dividing takes longer than decoding a hop.
func quotient(length int, words uint8) int {
	return int(uint32(length) / 4 * reciprocal[words&31] >> 16)
}

// contents20 reads an INT 2.x header and stack: length bytes, of which b is what is there.
func (d *Decoder) contents20(b []byte, length int, kind uint8) error {
	if kind == inband.TypeDestination {
		d.destination(b)
		return nil
	}
	if d.report.Is(Embedded | Instructed) {
		return nil // INT of an inner domain: the path asked for is the outermost one
	}
	switch kind {
	case inband.TypeMX:
		var mx inband.MX
		if _, err := mx.Decode(b); err != nil {
			return err
		}
		if mx.Version != 2 {
			return wire.ErrUnknownINTVersion
		}
		d.report.Flags |= Instructed
		if mx.D {
			d.report.Flags |= Discard
		}
		return nil
	case inband.TypeMD:
	default:
		return wire.ErrUnknownINTType
	}
	var md inband.MD
	n, err := md.Decode(b)
	if err != nil {
		return err
	}
	if md.Version != 2 {
		return wire.ErrUnknownINTVersion
	}
	r := d.report
	if md.E {
		r.Flags |= HopLimit
	}
	if md.M {
		r.Flags |= MTUExceeded
	}
	if md.D {
		r.Flags |= Discard
	}
	layout := inband.NewLayout(inband.Format20, md.Bitmap)
	if md.DomainID == 0 && layout.Len() == 4*int(md.HopML) && // no domain-specific metadata
		d.takeWhole(b[n:], length-n, quotient(length-n, md.HopML), &layout) {
		return nil
	}
	stack, err := md.CutStack(b[n:], length-n, d.profile.SourceOnly(md.DomainID, md.DSInstruction))
	if err != nil && err != wire.ErrShimLengthOverrun {
		return err
	}
	d.take(&stack, &layout, err)
	if md.DomainID == codepoint.TSDomain && md.DSInstruction&0x8000 != 0 && len(stack.SourceOnly) >= 8 {
		r.Device = binary.BigEndian.Uint64(stack.SourceOnly)
		r.Flags |= HasDevice
	}
	return d.cut(err)
}

// old reads the INT header up to version 1.0 behind a shim of n bytes; end is where the shim says that it ends, next
// the Next Protocol of VXLAN-GPE that announced it.
func (d *Decoder) old(b []byte, n, end int, over carrier, next, kind uint8) (inband.Version, error) {
	if end < n {
		return inband.VersionUnknown, wire.ErrINTHeaderTruncated
	}
	contents := b[n:min(end, len(b))]
	if kind == inband.TypeDestination && d.destination(contents) {
		return inband.VersionUnknown, nil
	}
	v, err := d.identify(contents, over, next)
	if err != nil {
		return v, err
	}
	length := end - n
	if v == inband.Version05 && over == overL4 {
		if length -= 4; length < 0 {
			return v, wire.ErrTailMissing
		}
		contents = contents[:min(len(contents), length)]
	}
	switch kind {
	case inband.TypeHopByHop:
		return v, d.contentsOld(contents, length, v, over)
	case inband.TypeDestination:
		return v, d.followUp(contents, length, v, over)
	}
	return v, wire.ErrUnknownINTType
}

// destination reads what a source told the sink in a destination header, if that is what b is.
func (d *Decoder) destination(b []byte) bool {
	var h inband.Destination
	if _, err := h.Decode(b); err != nil {
		return false
	}
	r := d.report
	if h.HasSequence {
		r.Flags |= HasFlowSequence
		r.FlowSequence = h.Sequence
	}
	if h.HasTTL {
		r.Flags |= HasFirstTTL
		r.FirstTTL = h.TTL
	}
	return true
}

// followUp reads a destination header of length bytes, of which b is what is there: that of a follow-up packet is a
// metadata header with C set, and stands alone (INT 2016 §4.2). The contents of others mean nothing here.
func (d *Decoder) followUp(b []byte, length int, v inband.Version, over carrier) error {
	copied := byte(0x02) // C
	if v == inband.Version2016 || d.dialect.Has(codepoint.QuirkVersion2Bits) {
		copied = 0x08
	}
	if v == inband.Version10 || len(b) == 0 || b[0]&copied == 0 || d.report.Is(Embedded|Instructed) {
		return nil
	}
	err := d.contentsOld(b, length, v, over)
	if !d.report.Is(Embedded) {
		return nil
	}
	d.report.Flags = d.report.Flags&^(Discard|Copied|SlowPaths) | FollowUp
	return err
}

// identify tells the version of an old header: the dialect knows it, or the bytes and the configuration do.
func (d *Decoder) identify(b []byte, over carrier, next uint8) (inband.Version, error) {
	p := d.profile
	zero := p.FormatVersion0
	switch {
	case d.dialect.Has(codepoint.QuirkVersion2Bits):
		if len(b) < 8 {
			return inband.VersionUnknown, wire.ErrINTHeaderTruncated
		}
		return inband.Version05, nil
	case d.dialect.Has(codepoint.QuirkShortLength):
		if len(b) < 8 {
			return inband.VersionUnknown, wire.ErrINTHeaderTruncated
		}
		if b[1]&0x1f != 0 { // where 0.5 has its count and 1.0 nothing
			return inband.Version05, nil
		}
		return inband.Version10, nil
	case d.dialect.Has(codepoint.QuirkWideTimestamps):
		if len(b) < 8 {
			return inband.VersionUnknown, wire.ErrINTHeaderTruncated
		}
		return inband.Version10, nil
	case over == overGPE && next == 5 && p.GPENextProtocol5 == codepoint.GPE5INT2016:
		if len(b) < 8 { // its version has 2 bits, so that the nibble says nothing
			return inband.VersionUnknown, wire.ErrINTHeaderTruncated
		}
		return inband.Version2016, nil
	case over == overGPE && next == 5 && p.GPENextProtocol5 == codepoint.GPE5INT05:
		zero = inband.ZeroIs05
	case zero == inband.ZeroIs2016:
		zero = inband.ZeroUnset // there is no 2016 over TCP or UDP, nor behind another Next Protocol
	}
	v, _, err := inband.Identify(b, inband.FamilyOld, zero)
	return v, err
}

// contentsOld reads a header and stack of INT 2016, 0.5 or 1.0: length bytes, of which b is what is there.
func (d *Decoder) contentsOld(b []byte, length int, v inband.Version, over carrier) error {
	if d.report.Is(Embedded | Instructed) {
		return nil
	}
	q := d.dialect
	wide := q.Has(codepoint.QuirkWideTimestamps)
	var (
		stack  inband.Stack
		layout inband.Layout
		err    error
		n      int
		flags  Flags
	)
	set := func(on bool, f Flags) {
		if on {
			flags |= f
		}
	}
	switch v {
	case inband.Version2016:
		var h inband.Header2016
		if n, err = h.Decode(b); err != nil {
			return err
		}
		set(h.C, Discard|Copied)
		set(h.E, HopLimit)
		layout = inband.NewLayout(inband.Format2016, h.Bitmap)
		stack, err = h.CutStack(b[n:], length-n)
	case inband.Version05:
		var h inband.Header05
		if q.Has(codepoint.QuirkVersion2Bits) {
			n, err = h.Decode04(b)
		} else {
			n, err = h.Decode(b)
		}
		if err != nil {
			return err
		}
		set(h.C, Discard|Copied)
		set(h.E, HopLimit)
		format := inband.Format05
		if wide {
			format = inband.Format05Long
		}
		h.Bitmap = d.instructions(h.Bitmap)
		layout = inband.NewLayout(format, h.Bitmap)
		if int(h.InstructionCount) == bits.OnesCount16(h.Bitmap) &&
			d.takeWhole(b[n:], length-n, int(h.TotalHopCount), &layout) {
			break
		}
		if wide { // the counts of the header are not those of its records
			stack, err = inband.NewCutStack(b[n:], length-n, layout.Len())
		} else {
			stack, err = h.CutStack(b[n:], length-n, format.Widths())
		}
	case inband.Version10:
		var h inband.Header10
		if n, err = h.Decode(b); err != nil {
			return err
		}
		set(h.C, Discard|Copied)
		set(h.E, HopLimit)
		set(h.M, MTUExceeded)
		format := inband.Format10
		if wide {
			format = inband.Format10Long
		} else if q.Has(codepoint.QuirkShortL2) {
			format = inband.Format10Short
		}
		h.Bitmap = d.instructions(h.Bitmap)
		layout = inband.NewLayout(format, h.Bitmap)
		if layout.Len() == 4*int(h.HopML) && d.takeWhole(b[n:], length-n, quotient(length-n, h.HopML), &layout) {
			break
		}
		if wide && q.Has(codepoint.QuirkNibble3) {
			stack, err = inband.NewCutStack(b[n:], length-n, layout.Len())
		} else {
			stack, err = h.CutStack(b[n:], length-n, format.Widths())
		}
	}
	if err != nil && err != wire.ErrShimLengthOverrun {
		return err
	}
	if v != inband.Version10 {
		flags |= SlowPaths
	}
	d.report.Flags |= flags
	if d.report.Is(Embedded) {
		return nil
	}
	d.take(&stack, &layout, err)
	return d.cut(err)
}

// instructions undoes what the dialect does to the instruction bitmap.
func (d *Decoder) instructions(bitmap uint16) uint16 {
	if d.dialect.Has(codepoint.QuirkBitmapLow) {
		bitmap = inband.LowByteInstructions(bitmap)
	}
	if d.dialect.Has(codepoint.QuirkNibble3) {
		bitmap = inband.GEANTInstructions(bitmap)
	}
	return bitmap
}

// cut marks a stack that the report did not hold whole. It breaks a rule unless the dialect is known for it.
func (d *Decoder) cut(err error) error {
	if err != wire.ErrShimLengthOverrun {
		return err
	}
	d.report.Flags |= StackCut
	if d.dialect.Has(codepoint.QuirkCutStack) {
		return nil
	}
	return err
}

// takeWhole makes the records in b the Hops of the report if they are so many, length bytes as the header says, and of
// the usual kind: the Stack of the header would say the same.
func (d *Decoder) takeWhole(b []byte, length, hops int, layout *inband.Layout) bool {
	if len(b) != length || hops*layout.Len() != length || !d.onePass(layout) {
		return false
	}
	r := d.report
	r.Flags |= Embedded
	r.Hops, r.RecordBytes = d.batch.takeHops(hops), uint8(layout.Len())
	d.fill(r.Hops, b, layout)
	if hops > 0 {
		d.mendSink(&r.Hops[hops-1])
	}
	return true
}

// take makes the records of a stack the Hops of the report, source first.
func (d *Decoder) take(stack *inband.Stack, layout *inband.Layout, cut error) {
	r := d.report
	r.Flags |= Embedded
	n := stack.Len()
	partial := cut != nil && len(stack.Partial) > 0 && d.dialect.Has(codepoint.QuirkCutStack)
	total := n
	if partial {
		total++
	}
	r.Hops, r.RecordBytes = d.batch.takeHops(total), uint8(layout.Len())
	for i := range n {
		layout.Decode(stack.Record(i), &d.metadata)
		d.hop(&r.Hops[total-1-i], layout)
	}
	if partial {
		layout.DecodePartial(stack.Partial, &d.metadata)
		d.hop(&r.Hops[0], layout)
	}
	if total > 0 {
		d.mendSink(&r.Hops[total-1])
	}
}
