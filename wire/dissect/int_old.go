package dissect

import (
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// int2016 reads an INT header of June 2016.
func (w *walk) int2016(c contents) {
	var h inband.Header2016
	l := builder{start: 8 * c.from}
	n, err := h.Decode(w.packet[c.from:c.to])
	if err != nil {
		w.headerLayer("int_2016", &l, c, err)
		return
	}
	number(&l, "version", h.Version, 0, 2)
	l.replication(h.Rep, h.C, h.E, 2)
	fields := inband.Header05(h)
	l.counts(&fields, h.Bitmap, instructions2016)
	body := w.packet[c.from+n : c.to]
	if bos := inband.BOSIndex(body); bos >= 0 {
		derived(&l, "bos_index", bos)
	}
	stack, err := h.CutStack(body, max(0, c.length-n))
	if !w.stackError(&l, body, 8*n, err) {
		l.add("hops", w.hops(&stack, h.Bitmap, instructions2016, c.from+n), 8*n, 8*len(body))
	}
	w.headerLayer("int_2016", &l, c, w.stackFailure(c, err))
}

// int05 reads an INT header of version 0.5, or of 0.4 in the dialects that send it.
func (w *walk) int05(c contents) {
	var h inband.Header05
	l := builder{start: 8 * c.from}
	dialect := w.profile.Dialect
	decode, versionWidth := h.Decode, 4
	if dialect.Has(codepoint.QuirkVersion2Bits) {
		decode, versionWidth = h.Decode04, 2
	}
	n, err := decode(w.packet[c.from:c.to])
	if err != nil {
		w.headerLayer("int_hbh_v0_5", &l, c, err)
		return
	}
	format := inband.Format05
	if dialect.Has(codepoint.QuirkWideTimestamps) {
		format = inband.Format05Long
	}
	t, bitmap := instructionsOf(format), w.bitmap(h.Bitmap)
	number(&l, "version", h.Version, 0, versionWidth)
	l.replication(h.Rep, h.C, h.E, versionWidth)
	l.counts(&h, bitmap, t)
	if dialect.Has(codepoint.QuirkVersion2Bits) {
		l.quirk("version_2_bits")
	}

	h.Bitmap = bitmap
	body, length := w.packet[c.from+n:c.to], max(0, c.length-n)
	asked := w.geantInstructions(bitmap)
	var stack inband.Stack
	if asked == bitmap {
		stack, err = h.CutStack(body, length, format.Widths())
	} else {
		stack, err = nibble3Stack(&h, body, length, format.Widths().Bytes(asked))
	}
	w.dialectQuirks(&l, bitmap, asked, format == inband.Format05Long && asked&timestampBits != 0)
	if asked != bitmap || !w.stackError(&l, body, 8*n, err) {
		w.cutQuirk(&l, err)
		l.add("hops", w.hops(&stack, asked, t, c.from+n), 8*n, 8*len(body))
	}
	w.headerLayer("int_hbh_v0_5", &l, c, w.stackFailure(c, err))
}

// int10 reads an INT header of version 1.0.
func (w *walk) int10(c contents) {
	var h inband.Header10
	l := builder{start: 8 * c.from}
	n, err := h.Decode(w.packet[c.from:c.to])
	if err != nil {
		w.headerLayer("int_hbh_v1", &l, c, err)
		return
	}
	written, bitmap := h.Bitmap, w.bitmap(h.Bitmap)
	h.Bitmap = bitmap
	format, formatErr := h.Format()
	if w.profile.Dialect.Has(codepoint.QuirkWideTimestamps) && 4*int(h.HopML) == inband.Widths10Long.Bytes(bitmap) {
		format, formatErr = inband.Format10Long, nil
	}
	if w.profile.Dialect.Has(codepoint.QuirkShortL2) && 4*int(h.HopML) == inband.Widths10Short.Bytes(bitmap) {
		format, formatErr = inband.Format10Short, nil
	}
	t := instructionsOf(format)
	number(&l, "version", h.Version, 0, 4)
	l.replication(h.Rep, h.C, h.E, 4)
	l.flag("m", h.M, 8).Meaning = ifSet(h.M, "MTU exceeded")
	number(&l, "hop_ml", h.HopML, 19, 5).Unit = "words"
	number(&l, "remaining_hop_count", h.RemainingHopCount, 24, 8)
	number(&l, "instruction_bitmap", written, 32, 16).Meaning = bitmapMeaning(bitmap, t)

	body, length := w.packet[c.from+n:c.to], max(0, c.length-n)
	asked := w.geantInstructions(bitmap)
	var stack inband.Stack
	switch {
	case asked != bitmap:
		format = inband.Format10Long
		t = instructionsOf(format)
		stack, err = inband.NewCutStack(body, length, format.Widths().Bytes(asked))
	case formatErr != nil:
		err = formatErr
	default:
		stack, err = h.CutStack(body, length, format.Widths())
	}
	w.dialectQuirks(&l, bitmap, asked, format == inband.Format10Long && asked&(timestampBits|l2Bit) != 0)
	if format == inband.Format10Short && bitmap&l2Bit != 0 {
		l.quirk("short_level_2")
	}
	if !w.stackError(&l, body, 8*n, err) {
		w.cutQuirk(&l, err)
		l.add("hops", w.hops(&stack, asked, t, c.from+n), 8*n, 8*len(body))
	}
	w.headerLayer("int_hbh_v1", &l, c, w.stackFailure(c, err))
}

// counts adds the fields that the headers of June 2016 and INT 0.5 share, at the same place. bitmap is what the
// instructions of h mean.
func (b *builder) counts(h *inband.Header05, bitmap uint16, t *instructions) {
	number(b, "instruction_count", h.InstructionCount, 11, 5)
	number(b, "max_hop_count", h.MaxHopCount, 16, 8)
	number(b, "total_hop_count", h.TotalHopCount, 24, 8)
	number(b, "instruction_bitmap", h.Bitmap, 32, 16).Meaning = bitmapMeaning(bitmap, t)
}

// replication adds Rep, C and E, which stand in this order from bit on.
func (b *builder) replication(rep uint8, c, e bool, bit int) {
	number(b, "rep", rep, bit, 2).Meaning = repName(rep)
	b.flag("c", c, bit+2).Meaning = ifSet(c, "copy")
	b.flag("e", e, bit+3).Meaning = ifSet(e, "max hop count exceeded")
}
