package dissect

import (
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// Instruction bits whose metadata have another width in some dialects.
const (
	timestampBits = 0x0c00
	l2Bit         = 0x0200 // level 2 interfaces, from INT 1.0 on
)

// unmarkedINT looks for INT 1.0 behind an L4 header where nothing announces it, for senders that are known to do that:
// the shim must be possible in every respect, and the lengths in IP and UDP, which such senders do not correct, are not
// asked.
func (w *walk) unmarkedINT() (Start, bool) {
	if !w.telemetry || !w.profile.Dialect.Has(codepoint.QuirkUnmarked) {
		return Payload, false
	}
	if w.profile.Dialect.Has(codepoint.QuirkShortLength) && w.unmarked05() > 0 {
		w.marks = marks{unmarked: true}
		return INTShimL4v1, true
	}
	b := w.packet[w.off:w.last:w.last]
	var shim inband.ShimL4Old
	n, err := shim.Decode(b)
	if err != nil || inband.CheckType(inband.FamilyOld, shim.Type) != nil || b[1] != 0 || shim.End() > len(b) {
		return Payload, false
	}
	c, err := inband.Contents(b, shim.End())
	if err != nil {
		return Payload, false
	}
	var h inband.Header10
	zero := inband.ZeroUnset
	if w.profile.Dialect.Has(codepoint.QuirkShortL2) {
		zero = inband.ZeroIs10
	}
	if v, _, err := inband.Identify(c, inband.FamilyOld, zero); err != nil || v != inband.Version10 {
		return Payload, false
	}
	size, err := h.Decode(c)
	if err != nil || h.HopML == 0 || (len(c)-size)%(4*int(h.HopML)) != 0 {
		return Payload, false
	}
	_, err = h.Format()
	fits := err == nil
	if w.profile.Dialect.Has(codepoint.QuirkShortL2) {
		fits = 4*int(h.HopML) == inband.Widths10Short.Bytes(h.Bitmap)
	}
	if !fits || shim.End() < n+size {
		return Payload, false
	}
	w.marks = marks{unmarked: true}
	w.end = w.last
	return INTShimL4v1, true
}

// bitmap returns the instructions of a header of INT 0.4 to 1.0, which one sender writes into the low byte.
func (w *walk) bitmap(written uint16) uint16 {
	if w.profile.Dialect.Has(codepoint.QuirkBitmapLow) {
		return inband.LowByteInstructions(written)
	}
	return written
}

// geantInstructions returns the instructions that the sender follows when it is given bitmap.
func (w *walk) geantInstructions(bitmap uint16) uint16 {
	if w.profile.Dialect.Has(codepoint.QuirkNibble3) {
		return inband.GEANTInstructions(bitmap)
	}
	return bitmap
}

// dialectQuirks adds the marks of a header of INT 0.4 to 1.0 that was not read as the specification says.
// wide says that it has metadata whose width is not the specified one.
func (w *walk) dialectQuirks(l *builder, bitmap, asked uint16, wide bool) {
	if bitmap != 0 && w.profile.Dialect.Has(codepoint.QuirkBitmapLow) {
		l.quirk("bitmap_low")
	}
	if wide {
		l.quirk("wide_timestamps")
	}
	if asked != bitmap {
		l.quirk("nibble_3")
	}
}

// cutQuirk marks a stack that the sender of a report has cut, as it is known to do.
func (w *walk) cutQuirk(l *builder, err error) {
	if err == wire.ErrShimLengthOverrun && w.cutStack() {
		l.quirk("cut_stack")
	}
}

// nibble3Stack returns the stack of a program that writes records of size bytes and counts 8 in its shim: only the
// whole records inside the stack are sure, and the header's count tells how many there were.
func nibble3Stack(h *inband.Header05, body []byte, length, size int) (inband.Stack, error) {
	stack, err := inband.NewCutStack(body, length/size*size, size)
	if length != size*int(h.TotalHopCount) {
		err = wire.ErrStackLengthMismatch
	}
	return stack, err
}

// cutStack reports whether the packet is in a report whose sender is known to cut inside the stack.
func (w *walk) cutStack() bool {
	return w.inReport && w.profile.Dialect.Has(codepoint.QuirkCutStack)
}

// describeSink tells what the sink of a dialect writes about itself in a report instead of what it should.
func (w *walk) describeSink(hop Object) {
	if f := hop.Find("hop_latency"); f != nil && w.profile.Dialect.Has(codepoint.QuirkSinkLatency) {
		f.Meaning = "not a latency: the time since the switch started"
	}
	if f := hop.Find("l1_egress"); f != nil && w.profile.Dialect.Has(codepoint.QuirkMirrorEgress) {
		f.Meaning = "port of the mirrored copy"
	}
}
