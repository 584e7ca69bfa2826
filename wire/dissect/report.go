package dissect

import (
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/report"
)

// report reads a telemetry report, the payload of a UDP packet to a report port.
func (w *walk) report() Start {
	version, err := report.Version(w.rest())
	switch {
	case w.profile.Dialect.Has(codepoint.QuirkReport05),
		err == nil && version == 1 && w.profile.Dialect.Has(codepoint.QuirkShortLength) && w.rest()[0]&0x0F == 0:
		return w.report05(version)
	case err == wire.ErrUnknownVersion:
		l := w.begin()
		number(&l, "version", version, 0, 4)
		return w.broken("telemetry_report", &l, 0, err)
	case err != nil:
		w.fail(err)
		return Payload
	case version == 1:
		return w.report10()
	case version == 2:
		return w.report20()
	}
	return w.report05(version)
}

// report05 reads the header of a report of version 0.5, whatever its version nibble says.
func (w *walk) report05(version uint8) Start {
	var h report.V05
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err == wire.ErrTruncatedFixedHeader {
		return w.broken("telemetry_report_v0_5", &l, 0, err)
	}
	number(&l, "version", version, 0, 4)
	number(&l, "nproto", h.NProto, 4, 4).Meaning = nprotoName(h.NProto)
	w.flags(&l, h.D, h.Q, h.F, 8)
	number(&l, "hw_id", h.HWID, 26, 6)
	w.sequence(number(&l, "sequence", h.Sequence, 32, 32))
	w.ingressTime(number(&l, "ingress_ts", h.IngressTS, 64, 32))
	if version != 0 {
		l.quirk("report_0_5")
	}
	const fixed = 12
	if err == wire.ErrUnknownNProto && w.profile.Dialect.Has(codepoint.QuirkHostINT) {
		return w.hostReport(&l, &h)
	}
	if err != nil {
		return w.broken("telemetry_report_v0_5", &l, fixed, err)
	}
	second := builder{start: l.start + 8*fixed}
	switch h.NProto {
	case report.NProtoDrop:
		number(&second, "switch_id", h.Drop.SwitchID, 0, 32)
		w.describe(number(&second, "ingress_port", h.Drop.IngressPort, 32, 16), port)
		w.describe(number(&second, "egress_port", h.Drop.EgressPort, 48, 16), port)
		number(&second, "queue_id", h.Drop.QueueID, 64, 8)
		number(&second, "drop_reason", h.Drop.Reason, 72, 8).Meaning = w.dropReason(h.Drop.Reason)
		l.add("drop", second.fields, 8*fixed, 8*h.Drop.Len())
	case report.NProtoSwitchLocal:
		number(&second, "switch_id", h.Local.SwitchID, 0, 32)
		w.describe(number(&second, "ingress_port", h.Local.IngressPort, 32, 16), port)
		w.describe(number(&second, "egress_port", h.Local.EgressPort, 48, 16), port)
		number(&second, "queue_id", h.Local.QueueID, 64, 8)
		number(&second, "queue_occupancy", h.Local.QueueOccupancy, 72, 24)
		w.describe(number(&second, "egress_ts", h.Local.EgressTS, 96, 32), timestamp)
		l.add("switch_local", second.fields, 8*fixed, 8*h.Local.Len())
	}
	w.add("telemetry_report_v0_5", &l, n)
	w.fragment(h.F)
	return Ethernet
}

// report10 reads the header of a report of version 1.0.
func (w *walk) report10() Start {
	var h report.V10
	l := w.begin()
	decode, flags, t := h.Decode, 23, instructionsTR10
	dialect := w.profile.Dialect
	switch {
	case dialect.Has(codepoint.QuirkFlagsFirst):
		decode, flags = h.DecodeFlagsFirst, 17
	case dialect.Has(codepoint.QuirkJanuary2018):
		decode, t = h.DecodeJanuary2018, instructionsJanuary2018
	case dialect.Has(codepoint.QuirkShortLength) && w.rest()[0]&0x0F == 1:
		decode = h.DecodeShortLength
	}
	n, err := decode(w.rest())
	if err == wire.ErrTruncatedFixedHeader {
		return w.broken("telemetry_report_v1_0", &l, 0, err)
	}
	const fixed = 16
	rest := w.rest()
	number(&l, "version", rest[0]>>4, 0, 4)
	number(&l, "length", h.Length, 4, 4).Unit = "words"
	number(&l, "nprot", h.NProt, 8, 3).Meaning = nprotName(h.NProt)
	number(&l, "rep_md_bits", h.RepMdBits, 11, 6).Meaning = bitmapMeaning(uint16(h.RepMdBits)<<10, t)
	w.flags(&l, h.D, h.Q, h.F, flags)
	number(&l, "hw_id", h.HWID, 26, 6)
	number(&l, "switch_id", h.SwitchID, 32, 32)
	w.sequence(number(&l, "sequence", h.Sequence, 64, 32))
	w.ingressTime(number(&l, "ingress_ts", h.IngressTS, 96, 32))
	if flags != 23 {
		l.quirk("flags_first")
	} else if unused := (uint16(rest[2])<<8 | uint16(rest[3])) >> 9 & 0x3f; unused != 0 {
		number(&l, "reserved", unused, 17, 6).Meaning = "not zero: the sender may have its flags here"
	}
	switch {
	case dialect.Has(codepoint.QuirkJanuary2018):
		l.quirk("january_2018")
	case 4*int(h.Length) < fixed && err == nil:
		l.quirk("short_length")
	}
	if err != nil {
		return w.broken("telemetry_report_v1_0", &l, fixed, err)
	}
	md := w.newRecord(rest[fixed:n], w.off+fixed)
	md.read(t, uint16(h.RepMdBits)<<10, 0, 5)
	l.add("metadata", md.b.fields, 8*fixed, md.at)
	if len(h.Extra) > 0 {
		l.bytes("extra", h.Extra, 8*(n-len(h.Extra)))
	}
	w.add("telemetry_report_v1_0", &l, n)
	w.fragment(h.F)
	switch h.NProt {
	case report.NProtEthernet:
		return Ethernet
	case report.NProtIPv4:
		return IPv4
	case report.NProtIPv6:
		return IPv6
	}
	return Payload
}

// fragment goes on in the packet fragment behind a report header, which holds telemetry only if the F bit is set.
func (w *walk) fragment(f bool) {
	w.inReport, w.telemetry = true, f || w.profile.Dialect.Has(codepoint.QuirkAlwaysTracked)
	w.last = w.end
}

// flags adds the D, Q and F bits, which stand in this order from bit on.
func (w *walk) flags(l *builder, d, q, f bool, bit int) {
	l.flag("d", d, bit).Meaning = ifSet(d, "dropped")
	l.flag("q", q, bit+1).Meaning = ifSet(q, "congested queue")
	l.flag("f", f, bit+2).Meaning = ifSet(f, "tracked flow")
}

func (w *walk) sequence(f *Field) {
	if w.profile.Dialect.Has(codepoint.QuirkNoSequence) {
		f.Meaning = "does not count"
	}
}

// ingressTime describes the ingress timestamp of a report header.
func (w *walk) ingressTime(f *Field) {
	w.describe(f, timestamp)
	if w.profile.Dialect.Has(codepoint.QuirkHostINT) {
		f.Unit = "s"
	}
	if w.profile.Dialect.Has(codepoint.QuirkNoReportTime) {
		f.Meaning = NotAvailable
	}
}

// dropReason names a drop reason by the table of the dialect.
func (w *walk) dropReason(number uint8) string {
	table, ok := report.DropReasons(w.profile.Dialect.DropReasons)
	if !ok {
		return ""
	}
	return table[number].Text
}
