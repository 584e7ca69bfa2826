package dissect

import (
	"encoding/hex"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// identify tells the version of the INT header in c.
func (w *walk) identify(c contents, family inband.Family, zero inband.Version0) (inband.Version, error) {
	if family == inband.FamilyOld && w.profile.Dialect.Has(codepoint.QuirkVersion2Bits) {
		return inband.Version05, nil
	}
	b := w.packet[c.from:c.to:c.to]
	if family == inband.FamilyOld && w.profile.Dialect.Has(codepoint.QuirkShortLength) && len(b) > 1 {
		if b[1]&0x1f != 0 { // where 0.5 has its count and 1.0 nothing
			return inband.Version05, nil
		}
		return inband.Version10, nil
	}
	version, _, err := inband.Identify(b, family, zero)
	if version == inband.Version05 && zero == inband.ZeroUnset && inband.LooksLike2016(b[8:]) {
		version = inband.Version2016
	}
	return version, err
}

// bareINT reads bytes that start with an INT header whose layout is known.
func (w *walk) bareINT(kind Start) Start {
	c := contents{from: w.off, to: w.end, length: w.end - w.off}
	switch kind {
	case INT2016:
		w.int2016(c)
	case INTHopByHopV05:
		w.int05(c)
	case INTHopByHopV1:
		w.int10(c)
	case INTMD:
		w.intMD(c)
	case INTMX:
		w.intMX(c)
	}
	return nothing
}

// intContents reads the INT header and stack in c and steps over them. version and err are what identify says.
func (w *walk) intContents(c contents, version inband.Version, err error, family inband.Family, intType uint8) {
	if c.broken || c.from == c.to && c.cut() {
		w.off = c.to
		return // the shim's layer says so
	}
	if w.checkType(family, intType) != nil {
		w.opaqueINT(c, nil)
		return
	}
	if err != nil {
		w.opaqueINT(c, err)
		return
	}
	switch {
	case version == inband.Version2016: // of both types
		w.int2016(c)
	case intType == inband.TypeDestination:
		w.opaqueINT(c, nil)
	case version == inband.Version20 && intType == inband.TypeMX:
		w.intMX(c)
	case version == inband.Version20:
		w.intMD(c)
	case version == inband.Version10:
		w.int10(c)
	default:
		w.int05(c)
	}
}

// opaqueINT adds contents that cannot be read as bytes.
func (w *walk) opaqueINT(c contents, err error) {
	l := builder{start: 8 * c.from}
	if c.to > c.from {
		l.bytes("hex", w.packet[c.from:c.to], 0)
	}
	w.headerLayer("int_contents", &l, c, err)
}

// headerLayer adds the layer of an INT header, or of its bytes if nothing of it could be read.
func (w *walk) headerLayer(name string, l *builder, c contents, err error) {
	if err != nil && len(l.fields) == 0 && c.to > c.from {
		name = "int_contents"
		l.bytes("hex", w.packet[c.from:c.to], 0)
	}
	if err != nil {
		if len(l.fields) == 0 {
			name = ""
		}
		l.fail(err)
	}
	if len(l.fields) > 0 {
		w.layers = append(w.layers, Layer{Name: name, Bit: l.start, Width: 8 * (c.to - c.from), Fields: l.fields})
	}
	w.off = c.to
}

// stackError reports whether the stack could not be divided into records; then its bytes are added to l. A stack that
// was cut is readable as far as it goes.
func (w *walk) stackError(l *builder, body []byte, bit int, err error) bool {
	if err == nil || err == wire.ErrShimLengthOverrun {
		return false
	}
	if len(body) > 0 {
		l.add("stack", hex.EncodeToString(body), bit, 8*len(body))
	}
	return true
}

// stackFailure returns the error of a stack for the layer of its header: nil for a packet that was cut, which the layer
// of the shim tells, with whatever follows from it.
func (w *walk) stackFailure(c contents, err error) error {
	if err == wire.ErrShimLengthOverrun || c.cut() && !w.cutStack() {
		return nil
	}
	return err
}
