package dissect

import (
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/report"
)

// report20 reads a packet of reports of version 2.0. Their fragments are nested: there may be several.
func (w *walk) report20() Start {
	var h report.Group
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken("telemetry_report_v2_0", &l, 0, err)
	}
	number(&l, "version", w.rest()[0]>>4, 0, 4)
	number(&l, "hw_id", h.HWID, 4, 6)
	w.sequence(number(&l, "sequence", h.Sequence, 10, 22))
	number(&l, "node_id", h.NodeID, 32, 32)
	w.off += n
	if w.profile.Dialect.Has(codepoint.QuirkTSReport) {
		switch report.TSKind(w.rest()) {
		case report.TSFormTracked:
			return w.tsTracked(&l, n)
		case report.TSFormDrop:
			return w.tsDrop(&l, n)
		}
	}
	w.reports(&l, n)
	w.off -= n
	w.add("telemetry_report_v2_0", &l, len(w.rest()))
	return nothing
}

// reports adds the individual reports from the current position on to l, whose header has n bytes.
func (w *walk) reports(l *builder, n int) {
	var rs report.Reports
	var r report.V20
	list := []Object{}
	nested := false
	at := w.off
	rs.Reset(w.rest())
	for rs.Next(&r) {
		o := builder{start: 8 * at}
		w.report20One(&o, &r, at, rs.Err(), &nested)
		list = append(list, o.fields)
		at = min(w.end, at+4+4*int(r.ReportLength))
		if r.ReportLength == 0xff {
			at = w.end
		}
	}
	if err := rs.Err(); err != nil {
		o := builder{start: 8 * at}
		if err == wire.ErrReportLengthOverrun {
			w.firstWord(&o, &r)
		}
		o.fail(err)
		list = append(list, o.fields)
	}
	if nested {
		l.quirk("nested_tlv")
	}
	trailer := rs.Trailer()
	l.add("reports", list, 8*n, 8*(w.end-w.off-len(trailer)))
	if len(trailer) > 0 {
		l.bytes("trailer", trailer, 8*(n+w.end-w.off-len(trailer)))
	}
}

// firstWord adds the fields of the first word of a report.
func (w *walk) firstWord(o *builder, r *report.V20) {
	number(o, "rep_type", r.RepType, 0, 4).Meaning = repTypeName(r.RepType)
	number(o, "in_type", r.InType, 4, 4).Meaning = inTypeName(r.InType)
	number(o, "report_length", r.ReportLength, 8, 8).Unit = "words"
	number(o, "md_length", r.MDLength, 16, 8).Unit = "words"
	w.flags(o, r.D, r.Q, r.F, 24)
	o.flag("i", r.I, 27).Meaning = ifSet(r.I, "intermediate report")
}

// domainWords adds the fields of the two fixed words of a report with INT contents.
func (w *walk) domainWords(o *builder, repMdBits, domain, dsMdBits, dsMdStatus uint16) {
	number(o, "rep_md_bits", repMdBits, 32, 16).Meaning = bitmapMeaning(repMdBits, instructionsTR20)
	number(o, "domain_specific_id", domain, 48, 16).Meaning = domainName(domain)
	number(o, "ds_md_bits", dsMdBits, 64, 16)
	number(o, "ds_md_status", dsMdStatus, 80, 16)
}

// report20One adds one report, which starts at position at; failure is what Reports says of it.
func (w *walk) report20One(o *builder, r *report.V20, at int, failure error, nested *bool) {
	w.firstWord(o, r)
	inner := at + 4
	if r.RepType == report.RepINT && failure != wire.ErrINTContentsMissing {
		w.domainWords(o, r.RepMdBits, r.DomainID, r.DSMdBits, r.DSMdStatus)
		if failure == nil {
			const fixed = 12
			size := 4 * report.MDWords(r.Metadata.Bits)
			md := w.newRecord(w.packet[at+fixed:at+fixed+size], at+fixed)
			md.read(instructionsTR20, r.Metadata.Bits, 0, 15)
			o.add("metadata", md.b.fields, 8*fixed, md.at)
			o.bytes("ds_metadata", r.DSMetadata, 8*(fixed+size))
			inner = at + fixed + size + len(r.DSMetadata)
		}
	}
	if failure != nil {
		o.fail(failure)
		return
	}
	if r.RepType != report.RepInnerOnly && r.RepType != report.RepINT {
		o.bytes("opaque", r.Opaque, 32)
		return
	}
	w.inner(o, r, inner, inner+len(r.Inner), nested)
}

// inner adds the inner contents of a report, which are at packet[from:to].
func (w *walk) inner(o *builder, r *report.V20, from, to int, nested *bool) {
	bit := 8*from - o.start
	switch r.InType {
	case report.InTLV:
		o.add("tlvs", w.tlvs(from, to, r.F, nested), bit, 8*(to-from))
	case report.InDSExtension:
		o.bytes("ds_extension", r.Inner, bit)
	case report.InEthernet, report.InIPv4, report.InIPv6:
		w.nestedFragment(o, r.InType, from, to, r.F)
	default:
		if len(r.Inner) > 0 {
			o.bytes("opaque", r.Inner, bit)
		}
	}
}

// tlvs returns the TLVs at packet[from:to].
func (w *walk) tlvs(from, to int, f bool, nested *bool) []Object {
	list := []Object{}
	for from < to {
		var h report.TLV
		n, err := h.Decode(w.packet[from:to])
		o := builder{start: 8 * from}
		if to-from >= 4 {
			number(&o, "type", h.Type, 0, 4).Meaning = tlvTypeName(h.Type)
			number(&o, "length", h.Length, 8, 8).Unit = "words"
			number(&o, "template", h.Template, 16, 16)
		}
		if err != nil {
			o.fail(err)
			return append(list, o.fields)
		}
		inType := h.InType()
		if w.profile.Dialect.Has(codepoint.QuirkNestedTLV) && h.Type == report.TLVDSExtension {
			inType = h.NestedInType()
			*nested = true
		}
		switch inType {
		case report.InEthernet, report.InIPv4, report.InIPv6:
			w.nestedFragment(&o, inType, from+4, from+n, f)
		default:
			o.bytes("hex", h.Data, 32)
		}
		list = append(list, o.fields)
		from += n
	}
	return list
}

// nestedFragment adds the packet fragment at packet[from:to] to o, and how many bytes behind it fill up its last word.
func (w *walk) nestedFragment(o *builder, inType uint8, from, to int, f bool) {
	padding := report.FragmentPadding(w.packet[from:to], inType)
	start := Ethernet
	switch inType {
	case report.InIPv4:
		start = IPv4
	case report.InIPv6:
		start = IPv6
	}
	o.add("inner", w.nestedLayers(start, from, to-padding, f), 8*from-o.start, 8*(to-padding-from))
	if padding > 0 {
		derived(o, "fragment_padding", padding).Unit = "bytes"
	}
}

// nestedLayers returns the layers of the packet fragment at packet[from:to].
func (w *walk) nestedLayers(start Start, from, to int, f bool) []Layer {
	inner := walk{
		packet: w.packet, off: from, end: to, last: to,
		cfg: w.cfg, profile: w.profile, inReport: true, telemetry: f,
		layers: make([]Layer, 0, 8),
	}
	inner.run(start)
	return inner.layers
}

// tsTracked reads a tracked flow report of the Transparent Security programs behind the group header l of n bytes.
func (w *walk) tsTracked(l *builder, n int) Start {
	var h report.TSTracked
	l.quirk("ts_core_report")
	o := builder{start: 8 * w.off}
	if _, err := h.Decode(w.rest()); err != nil {
		return w.tsBroken(l, n, err)
	}
	w.firstWord(&o, &report.V20{
		RepType: h.RepType, InType: h.InType, ReportLength: h.ReportLength, MDLength: h.MDLength, D: h.D, Q: h.Q,
		F: h.F, I: h.I,
	})
	w.domainWords(&o, h.RepMdBits, h.DomainID, h.DSMdBits, h.DSMdStatus)
	number(&o, "var_opt_md", h.VarOptMD, 96, 32)
	from := w.end - len(h.Fragment)
	o.add("inner", w.nestedLayers(Ethernet, from, w.end, true), 8*(from-w.off), 8*len(h.Fragment))
	return w.tsReport(l, n, o.fields, nil)
}

// tsDrop reads a drop report of the Transparent Security controller behind the group header l of n bytes.
func (w *walk) tsDrop(l *builder, n int) Start {
	var h report.TSDrop
	l.quirk("ts_drop_report")
	o := builder{start: 8 * w.off}
	if _, err := h.Decode(w.rest()); err != nil {
		return w.tsBroken(l, n, err)
	}
	w.firstWord(&o, &report.V20{
		RepType: h.RepType, InType: h.InType, ReportLength: h.ReportLength, MDLength: h.MDLength, D: h.D, Q: h.Q,
		F: h.F, I: h.I,
	})
	w.domainWords(&o, h.RepMdBits, h.DomainID, h.DSMdBits, h.DSMdStatus)
	md := w.newRecord(w.rest()[12:16], w.off+12)
	md.read(instructionsTR20, report.MDDrop, 0, 15)
	o.add("metadata", md.b.fields, 96, 32)
	drop := builder{start: 8 * (w.off + 16)}
	number(&drop, "timestamp", h.Timestamp, 0, 32).Unit = "unix s"
	number(&drop, "drop_count", h.DropCount, 32, 32)
	number(&drop, "drop_key_high", h.DropKeyHigh, 64, 64)
	number(&drop, "drop_key", h.DropKey, 128, 64)
	o.add("ts_drop", drop.fields, 128, 192)
	return w.tsReport(l, n, o.fields, h.Trailer)
}

// tsReport adds the layer of a Transparent Security packet, which holds one report and perhaps bytes behind it.
func (w *walk) tsReport(l *builder, n int, o Object, trailer []byte) Start {
	size := len(w.rest())
	l.add("reports", []Object{o}, 8*n, 8*(size-len(trailer)))
	if len(trailer) > 0 {
		l.bytes("trailer", trailer, 8*(n+size-len(trailer)))
	}
	w.off -= n
	w.add("telemetry_report_v2_0", l, n+size)
	return nothing
}

func (w *walk) tsBroken(l *builder, n int, err error) Start {
	return w.tsReport(l, n, Object{errorAt(err, 8*w.off)}, nil)
}
