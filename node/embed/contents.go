package embed

import (
	"math/bits"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// contents takes down the domain's INT header of the given type at offset at, and its stack, which ends at end.
func (w *walk) contents(family inband.Family, at, end int) {
	t := &w.p.INT
	t.Header, t.StackEnd = at, end
	if t.Malformed != 0 {
		return
	}
	switch {
	case inband.CheckType(family, t.Type) != nil:
		t.Malformed = wire.ErrUnknownINTType
		return
	case t.Type == inband.TypeDestination:
		t.Destination, t.DestinationEnd = at, end
	}
	_, t.Malformed = w.d.readContents(t, w.b[at:end])
	if t.Malformed == wire.ErrUnknownINTVersion {
		return
	}
	t.Version = w.d.Version
}

// readContents fills t from b, an INT header of t.Type and what the shim or option covers behind it, and returns the
// stack.
func (d *Domain) readContents(t *INT, b []byte) (inband.Stack, wire.Error) {
	switch {
	case d.Version == inband.Version20 && t.Type == inband.TypeMD:
		return d.readMD(t, b)
	case d.Version == inband.Version20 && t.Type == inband.TypeMX:
		return inband.Stack{}, d.readMX(t, b)
	case d.Version == inband.Version10 && t.Type == inband.TypeHopByHop:
		return d.read10(t, b)
	case d.Version == inband.Version05 && t.Type == inband.TypeHopByHop:
		return d.read05(t, b)
	case d.Version == inband.Version2016 && t.Type == inband.TypeHopByHop:
		return d.read2016(t, b)
	case d.Version == inband.Version2016 || d.Version == inband.Version05:
		d.readFollowUp(t, b)
	}
	return inband.Stack{}, 0
}

// readFollowUp reads the destination header of a follow-up packet, which is a metadata header all the same (INT 2016
// §4.2). The contents of other destination headers mean nothing to a node.
func (d *Domain) readFollowUp(t *INT, b []byte) {
	var h inband.Header05
	_, err := h.Decode(b)
	if d.likes2016() && err == nil {
		_, err = h.Decode04(b)
	}
	if err == nil && h.Version == 0 && int(h.InstructionCount) == bits.OnesCount16(h.Bitmap) {
		t.C = h.C
	}
}

func (d *Domain) readMD(t *INT, b []byte) (inband.Stack, wire.Error) {
	var h inband.MD
	n, err := h.Decode(b)
	if err != nil {
		return inband.Stack{}, reason(err)
	}
	if h.Version != 2 {
		return inband.Stack{}, wire.ErrUnknownINTVersion
	}
	t.D, t.E, t.M = h.D, h.E, h.M
	t.HopML, t.Remaining, t.Bitmap = h.HopML, h.RemainingHopCount, h.Bitmap
	t.DomainID, t.DSInstruction, t.DSFlags = h.DomainID, h.DSInstruction, h.DSFlags
	t.Stack = t.Header + n
	s, err := h.Stack(b[n:], d.Points.SourceOnly(h.DomainID, h.DSInstruction))
	t.Hops, t.recordLen, t.perHopDS = s.Len(), s.RecordLen, s.DS
	return s, reason(err)
}

func (d *Domain) readMX(t *INT, b []byte) wire.Error {
	var h inband.MX
	n, err := h.Decode(b)
	if err != nil {
		return reason(err)
	}
	if h.Version != 2 {
		return wire.ErrUnknownINTVersion
	}
	t.D, t.Bitmap = h.D, h.Bitmap
	t.DomainID, t.DSInstruction, t.DSFlags = h.DomainID, h.DSInstruction, h.DSFlags
	t.Stack = t.Header + n
	return 0
}

func (d *Domain) read10(t *INT, b []byte) (inband.Stack, wire.Error) {
	var h inband.Header10
	n, err := h.Decode(b)
	if err != nil {
		return inband.Stack{}, reason(err)
	}
	if h.Version != 1 && (h.Version != 0 || d.Points.FormatVersion0 != codepoint.Version0INT10) {
		return inband.Stack{}, wire.ErrUnknownINTVersion
	}
	t.C, t.E, t.M, t.Replicas = h.C, h.E, h.M, ReplicaPolicy(h.Rep)
	t.HopML, t.Remaining, t.Bitmap = h.HopML, h.RemainingHopCount, d.instructions(h.Bitmap)
	t.Stack = t.Header + n
	widths := d.format().Widths()
	t.recordLen = widths.Bytes(t.Bitmap)
	var s inband.Stack
	if d.has(codepoint.QuirkNibble3) { // its Hop ML is not always the length of its records
		s, err = inband.NewStack(b[n:], t.recordLen)
	} else {
		h.Bitmap = t.Bitmap
		s, err = h.Stack(b[n:], widths)
	}
	t.Hops = s.Len()
	return s, reason(err)
}

func (d *Domain) read05(t *INT, b []byte) (inband.Stack, wire.Error) {
	var h inband.Header05
	old := d.has(codepoint.QuirkVersion2Bits)
	n, err := h.Decode(b)
	if old && err == nil {
		n, err = h.Decode04(b)
	}
	if err != nil {
		return inband.Stack{}, reason(err)
	}
	if h.Version != 0 && !old {
		return inband.Stack{}, wire.ErrUnknownINTVersion
	}
	d.counted(t, &h, n)
	h.Bitmap = t.Bitmap
	var s inband.Stack
	if bits.OnesCount16(t.Bitmap) != int(h.InstructionCount) {
		err = wire.ErrInstructionCountMismatch
	} else {
		s, err = h.Stack(b[n:], d.format().Widths())
	}
	t.Hops = s.Len()
	return s, reason(err)
}

func (d *Domain) read2016(t *INT, b []byte) (inband.Stack, wire.Error) {
	var h inband.Header2016
	n, err := h.Decode(b)
	if err != nil {
		return inband.Stack{}, reason(err)
	}
	if h.Version != 0 {
		return inband.Stack{}, wire.ErrUnknownINTVersion
	}
	fields := inband.Header05(h)
	d.counted(t, &fields, n)
	s, err := h.Stack(b[n:])
	t.Hops = s.Len()
	return s, reason(err)
}

// counted takes down the header of n bytes that counts hops, as they do up to INT 0.5.
func (d *Domain) counted(t *INT, h *inband.Header05, n int) {
	t.C, t.E, t.Replicas = h.C, h.E, ReplicaPolicy(h.Rep)
	t.HopML, t.Total, t.Bitmap = h.InstructionCount, h.TotalHopCount, d.instructions(h.Bitmap)
	t.Remaining = h.MaxHopCount - min(h.TotalHopCount, h.MaxHopCount)
	t.Stack = t.Header + n
	t.recordLen = d.format().Widths().Bytes(t.Bitmap)
}

// reason returns err as what it is in package inband.
func reason(err error) wire.Error {
	if err == nil {
		return 0
	}
	e, _ := err.(wire.Error)
	return e
}
