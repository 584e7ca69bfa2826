package dissect

import (
	"strings"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

// intMD reads an INT-MD header and its stack (INT 2.1 §5.8).
func (w *walk) intMD(c contents) {
	var h inband.MD
	l := builder{start: 8 * c.from}
	n, err := h.Decode(w.packet[c.from:c.to])
	if err != nil {
		w.headerLayer("int_md", &l, c, err)
		return
	}
	number(&l, "version", h.Version, 0, 4)
	l.flag("d", h.D, 4).Meaning = ifSet(h.D, "discard at the sink")
	l.flag("e", h.E, 5).Meaning = ifSet(h.E, "max hop count exceeded")
	l.flag("m", h.M, 6).Meaning = ifSet(h.M, "MTU exceeded")
	number(&l, "hop_ml", h.HopML, 19, 5).Unit = "words"
	number(&l, "remaining_hop_count", h.RemainingHopCount, 24, 8)
	w.domainFields(&l, h.Bitmap, h.DomainID, h.DSInstruction, h.DSFlags)
	body := w.packet[c.from+n : c.to]
	stack, err := h.CutStack(body, max(0, c.length-n), w.profile.SourceOnly(h.DomainID, h.DSInstruction))
	if w.stackError(&l, body, 8*n, err) {
		w.headerLayer("int_md", &l, c, w.stackFailure(c, err))
		return
	}
	if stack.Unsure {
		l.fields = append(l.fields, Field{
			Name: "unsure", Value: true, Meaning: "the domain is unknown: source-only data are what makes no whole hop",
		})
	}
	w.cutQuirk(&l, err)
	l.add("hops", w.hops(&stack, h.Bitmap, instructions20, c.from+n), 8*n, 8*len(body))
	// Source-only data end the stack; only a checksum complement stands behind them.
	at := 8*(n+len(body)) - 8*len(stack.SourceOnly)
	if h.Bitmap&1 != 0 && stack.Len() > 0 {
		at -= 32
	}
	l.bytes("source_only", stack.SourceOnly, at)
	const deviceIDLen = 8
	if h.DomainID == codepoint.TSDomain && len(stack.SourceOnly) == deviceIDLen {
		l.mac("ts_device_id", [6]byte(stack.SourceOnly), at)
	}
	w.headerLayer("int_md", &l, c, w.stackFailure(c, err))
}

// intMX reads an INT-MX header (INT 2.1 §5.9).
func (w *walk) intMX(c contents) {
	var h inband.MX
	l := builder{start: 8 * c.from}
	n, err := h.Decode(w.packet[c.from:c.to])
	if err != nil {
		w.headerLayer("int_mx", &l, c, err)
		return
	}
	number(&l, "version", h.Version, 0, 4)
	l.flag("d", h.D, 4).Meaning = ifSet(h.D, "discard at the sink")
	w.domainFields(&l, h.Bitmap, h.DomainID, h.DSInstruction, h.DSFlags)
	l.bytes("source_inserted", h.SourceInserted(w.packet[c.from+n:c.to]), 8*n)
	w.headerLayer("int_mx", &l, c, nil)
}

// domainFields adds the fields that INT-MD and INT-MX share.
func (w *walk) domainFields(l *builder, bitmap, domain, dsInstruction, dsFlags uint16) {
	number(l, "instruction_bitmap", bitmap, 32, 16).Meaning = bitmapMeaning(bitmap, instructions20)
	number(l, "domain_specific_id", domain, 48, 16).Meaning = domainName(domain)
	number(l, "ds_instruction", dsInstruction, 64, 16)
	number(l, "ds_flags", dsFlags, 80, 16).Meaning = dsFlagNames(domain, dsFlags)
}

// hops returns the records of a stack whose first byte is at position at, newest first. A record that the packet's end
// has cut is there only for a sender that is known to cut.
func (w *walk) hops(stack *inband.Stack, bitmap uint16, t *instructions, at int) []Object {
	list := make([]Object, 0, stack.Len()+1)
	for i := range stack.Len() {
		data := stack.Record(i)
		r := w.newRecord(data, at)
		w.hop(&r, bitmap, t, stack.DSMetadata(i))
		list = append(list, r.b.fields)
		at += len(data)
	}
	if len(stack.Partial) > 0 && w.cutStack() {
		r := w.newRecord(stack.Partial, at)
		r.read(t, bitmap, 0, 14)
		list = append(list, r.b.fields)
	}
	if w.inReport && len(list) > 0 {
		w.describeSink(list[0])
	}
	return list
}

// hop reads one whole record.
func (w *walk) hop(r *record, bitmap uint16, t *instructions, ds []byte) {
	switch t {
	case instructions2016:
		r.mask = 1<<31 - 1
		r.read(t, bitmap, 0, 15)
		r.invalidList()
	case instructions20:
		r.read(t, bitmap, 0, 14)
		if len(ds) > 0 {
			r.b.bytes("ds_metadata", ds, r.at)
			r.at += 8 * len(ds)
		}
		if bitmap&1 != 0 {
			r.at = 8*len(r.data) - 32 // last, behind source-only data
			r.value(&t[15])
		}
		r.invalidList()
	case instructions05, instructions05Long:
		r.read(t, bitmap, 0, 15)
		r.congestion()
	default:
		r.read(t, bitmap, 0, 15)
	}
}

// congestion moves the queue congestion behind the other values of INT 0.5 and drops the queue id in front of it if it
// only repeats that of the queue occupancy.
func (r *record) congestion() {
	id := r.b.fields.Find("queue_congestion_id")
	if id == nil {
		return
	}
	queue := r.b.fields.Find("queue_id")
	repeated := queue != nil && queue.Number() == id.Number()
	var moved, kept Object
	for _, f := range r.b.fields {
		switch {
		case f.Name == "queue_congestion_id" && repeated:
		case strings.HasPrefix(f.Name, "queue_congestion"):
			moved = append(moved, f)
		default:
			kept = append(kept, f)
		}
	}
	r.b.fields = append(kept, moved...)
}
