package telemetry

import (
	"net/netip"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// A Decoder makes Reports of datagrams. It holds scratch space, so each goroutine has one of its own; decoding does not
// allocate once the batch has grown to its working size.
type Decoder struct {
	config *codepoint.Config

	profile *codepoint.Profile
	dialect *codepoint.Dialect
	batch   *Batch
	report  *Report
	reason  wire.Error // the first rule that the datagram broke
	payload []byte

	v05      report.V05
	v10      report.V10
	v20      report.V20
	reports  report.Reports
	metadata inband.Metadata
	frag     fragment
}

// NewDecoder returns a Decoder with the code points and dialects of config, which must be compiled and stay unchanged.
func NewDecoder(config *codepoint.Config) *Decoder { return &Decoder{config: config} }

// Use has d read the next datagrams with the code points and dialects of another config, as NewDecoder does.
func (d *Decoder) Use(config *codepoint.Config) { d.config, d.profile, d.dialect = config, nil, nil }

// Decode appends the reports in payload, the UDP payload of a datagram that src sent to port dstPort here, to batch.
// A malformed datagram yields what was readable before it broke. Datagram of h and of the reports is
// payload itself; all else is copied out of it.
//
// It fills all of h that the Outcome does not make meaningless. F decides whether embedded telemetry is looked for (TR
// 2.0 §3.4), the configuration how it is marked.
func (d *Decoder) Decode(payload []byte, src netip.AddrPort, dstPort uint16, batch *Batch, h *Header) {
	if p := d.config.For(src.Addr(), src.Port(), dstPort); p != d.profile {
		d.profile, d.dialect = p, p.Dialect
	}
	if d.batch != batch {
		d.batch = batch
	}
	d.reason = 0
	// One by one: clearing a struct with pointers in it takes a call.
	h.Source, h.Dialect, h.Datagram = src.Addr(), "", payload
	d.payload = payload
	h.Version, h.HasNodeID, h.HasSequence, h.HWID, h.NodeID, h.Sequence = 0, false, false, 0, 0, 0
	h.Domain, h.Content = 0, 0
	h.PartlyNamed = false
	before := len(batch.Reports)
	version, err := report.Version(payload)
	if d.dialect.Has(codepoint.QuirkReport05) {
		version, err = 0, nil
	}
	switch {
	case err != nil:
		d.note(err)
	case version == 2:
		d.decode20(payload, h)
	case version == 1 && !(d.dialect.Has(codepoint.QuirkShortLength) && payload[0]&0x0F == 0):
		d.decode10(payload, h)
	default:
		d.decode05(payload, h)
	}
	if d.dialect.Has(codepoint.QuirkNoSequence) {
		h.HasSequence = false
	}
	h.Reports = len(batch.Reports) - before
	h.Repeated = false
	h.Reason = d.reason
	switch {
	case d.reason == 0:
		h.Outcome = Decoded
		return
	case h.Reports > 0:
		h.Outcome = Damaged
	default:
		h.Outcome = Malformed
	}
}

// note keeps the first reason.
func (d *Decoder) note(err error) {
	if d.reason == 0 {
		d.reason, _ = err.(wire.Error)
	}
}

// start begins a report of the datagram. What flags announce keeps the content of an earlier report: clearing all of it
// would take longer than decoding some reports.
func (d *Decoder) start(h *Header) *Report {
	if !h.HasNodeID && len(d.config.SourceNodes) > 0 {
		h.NodeID, h.HasNodeID = d.config.SourceNodes[h.Source.Unmap()]
	}
	r := d.batch.next()
	r.Version, r.HWID, r.HasNodeID, r.NodeID, r.Sequence = h.Version, h.HWID, h.HasNodeID, h.NodeID, h.Sequence
	r.Flags, r.TTL, r.DSCP, r.Bytes, r.PacketID, r.ReportNs, r.Account = 0, 0, 0, 0, 0, 0, 0
	r.DropReasons, r.INTBytes, r.RecordBytes = 0, 0, 0
	r.StreamFrom, r.StreamTo = 0, 0
	r.Hops, r.Datagram = nil, d.payload
	r.Local.Has, r.Local.QueueID, r.Local.DropReason = 0, 0, 0
	if h.HasNodeID {
		r.Local.Has, r.Local.NodeID = HasNode, h.NodeID
	}
	d.report = r
	return r
}

func (d *Decoder) setFlags(r *Report, dropped, congested, tracked bool) {
	if dropped {
		r.Flags |= Dropped
		r.Local.Has |= HasDrop // without a reason: 0, unknown
	}
	if congested {
		r.Flags |= Congested
	}
	if tracked || d.dialect.Has(codepoint.QuirkAlwaysTracked) {
		r.Flags |= Tracked
	}
}

func (d *Decoder) decode05(b []byte, h *Header) {
	v := &d.v05
	n, err := v.Decode(b)
	if len(b) >= 12 {
		h.Version, h.Dialect = Version05, d.dialect.Name
		h.HWID, h.Sequence, h.HasSequence = v.HWID, v.Sequence, true
	}
	if err == wire.ErrUnknownNProto && d.dialect.Has(codepoint.QuirkHostINT) {
		d.hostReport(b[n:], h)
		return
	}
	if err != nil {
		d.note(err)
		return
	}
	local := Hop{}
	switch v.NProto {
	case report.NProtoDrop:
		h.HasNodeID, h.NodeID = true, v.Drop.SwitchID
		local = Hop{
			Has: HasIngressPort | HasEgressPort | HasDrop, IngressPort: uint32(v.Drop.IngressPort),
			EgressPort: uint32(v.Drop.EgressPort),
			QueueID:    v.Drop.QueueID, DropReason: v.Drop.Reason,
		}
	case report.NProtoSwitchLocal:
		h.HasNodeID, h.NodeID = true, v.Local.SwitchID
		local = Hop{
			Has: HasIngressPort | HasEgressPort | HasIngressTime | HasEgressTime | HasLatency |
				HasDerivedLatency |
				unitOf(d.dialect.TimeUnit) | queueOf(d.dialect),
			IngressPort: uint32(v.Local.IngressPort), EgressPort: uint32(v.Local.EgressPort),
			QueueID: v.Local.QueueID, QueueOccupancy: v.Local.QueueOccupancy,
			IngressNs: uint64(v.IngressTS) * d.dialect.TimeUnit,
			EgressNs:  uint64(v.Local.EgressTS) * d.dialect.TimeUnit,
			LatencyNs: uint64(v.Local.EgressTS-v.IngressTS) * d.dialect.TimeUnit, // one clock, modulo 2^32
		}
	}
	r := d.start(h)
	d.knownPorts(&local, local.IngressPort, local.EgressPort)
	local.Has |= r.Local.Has
	local.NodeID = r.Local.NodeID
	r.Local = local
	if local.Has&HasDrop != 0 {
		r.DropReasons = reasonTable(d.dialect.DropReasons)
	}
	d.setFlags(r, v.D, v.Q, v.F)
	r.ReportNs = uint64(v.IngressTS) * d.dialect.TimeUnit
	d.fragment(b[n:], report.InEthernet)
}

func (d *Decoder) decode10(b []byte, h *Header) {
	v := &d.v10
	var n int
	var err error
	const other = codepoint.QuirkFlagsFirst | codepoint.QuirkJanuary2018 | codepoint.QuirkShortLength
	switch {
	case !d.dialect.Has(other):
		n, err = v.Decode(b)
	case d.dialect.Has(codepoint.QuirkFlagsFirst):
		n, err = v.DecodeFlagsFirst(b)
	case d.dialect.Has(codepoint.QuirkJanuary2018):
		n, err = v.DecodeJanuary2018(b)
	case b[0]&0x0F == 1:
		n, err = v.DecodeShortLength(b)
	default:
		n, err = v.Decode(b)
	}
	if len(b) >= 16 {
		h.Version, h.Dialect = Version10, d.dialect.Name
		h.HWID, h.HasNodeID, h.NodeID, h.Sequence, h.HasSequence = v.HWID, true, v.SwitchID, v.Sequence, true
	}
	if d.dialect.Has(codepoint.QuirkCopiedSwitchID) {
		h.HasNodeID, h.PartlyNamed = h.NodeID != 0, true
	}
	if err != nil {
		d.note(err)
		return
	}
	r := d.start(h)
	d.local(&v.Metadata, r)
	if !d.dialect.Has(codepoint.QuirkNoReportTime) {
		r.ReportNs = uint64(v.IngressTS) * d.dialect.TimeUnit
		if v.RepMdBits != 0 {
			r.Local.Has |= HasIngressTime | unitOf(d.dialect.TimeUnit)
			r.Local.IngressNs = r.ReportNs
			if r.Local.Has&(HasEgressTime|HasLatency) == HasEgressTime {
				r.Local.Has |= HasLatency | HasDerivedLatency
				r.Local.LatencyNs = uint64(uint32(v.Metadata.EgressTS)-v.IngressTS) * d.dialect.TimeUnit
			}
		}
	}
	d.setFlags(r, v.D, v.Q, v.F)
	switch v.NProt {
	case report.NProtEthernet:
		d.fragment(b[n:], report.InEthernet)
	case report.NProtIPv4:
		d.fragment(b[n:], report.InIPv4)
	case report.NProtIPv6:
		d.fragment(b[n:], report.InIPv6)
	}
}

func (d *Decoder) decode20(b []byte, h *Header) {
	var group report.Group
	n, err := group.Decode(b)
	if err != nil {
		d.note(err)
		return
	}
	h.Version, h.Dialect = Version20, d.dialect.Name
	h.HWID, h.HasNodeID, h.NodeID, h.Sequence, h.HasSequence = group.HWID, true, group.NodeID, group.Sequence, true
	b = b[n:]
	if d.dialect.Has(codepoint.QuirkTSReport) && d.decodeTS(b, h) {
		return
	}
	d.reports.Reset(b)
	for d.reports.Next(&d.v20) {
		if err := d.reports.Err(); err != nil {
			d.note(err)
			continue
		}
		d.report20(h)
	}
	if err := d.reports.Err(); err != nil {
		d.note(err)
	} else if d.reports.Trailer() != nil {
		d.note(wire.ErrReportLengthOverrun) // stray bytes, or a report that was cut off: who knows
	}
}

func (d *Decoder) report20(h *Header) {
	v := &d.v20
	if v.RepType > report.RepINT {
		return // its contents are not defined
	}
	if v.InType == report.InTLV && d.tlvs(h) {
		return
	}
	d.start20(h)
	if len(v.Inner) > 0 {
		d.fragment(v.Inner, v.InType)
	}
}

func (d *Decoder) start20(h *Header) {
	v := &d.v20
	r := d.start(h)
	if v.RepType == report.RepINT {
		d.local(&v.Metadata, r)
	}
	d.setFlags(r, v.D, v.Q, v.F)
	if v.I {
		r.Flags |= Intermediate
	}
	if r.Local.Has&HasIngressTime != 0 {
		r.ReportNs = r.Local.IngressNs
	}
}

// tlvs makes a report of every packet fragment in a list of TLVs, all with the same metadata; false if there is none.
func (d *Decoder) tlvs(h *Header) bool {
	var tlv report.TLV
	found := false
	for rest := d.v20.Inner; len(rest) > 0; {
		n, err := tlv.Decode(rest)
		if err != nil {
			d.note(err)
			break
		}
		rest = rest[n:]
		kind := tlv.InType()
		if tlv.Type == report.TLVDSExtension && d.dialect.Has(codepoint.QuirkNestedTLV) {
			kind = tlv.NestedInType()
		}
		if kind >= report.InEthernet {
			d.start20(h)
			d.fragment(tlv.Data, kind)
			found = true
		}
	}
	return found
}

// decodeTS reads a report as the programs of Transparent Security send it; false if this is none.
func (d *Decoder) decodeTS(b []byte, h *Header) bool {
	switch report.TSKind(b) {
	case report.TSFormTracked:
		var t report.TSTracked
		if _, err := t.Decode(b); err != nil {
			d.note(err)
			return true
		}
		d.setFlags(d.start(h), false, false, true)
		d.fragment(t.Fragment, report.InEthernet)
	case report.TSFormDrop:
		var t report.TSDrop
		if _, err := t.Decode(b); err != nil {
			d.note(err)
			return true
		}
		r := d.start(h)
		d.local(&t.Metadata, r)
		r.Flags |= Dropped | DropSummary
		if d.dialect.Has(codepoint.QuirkDropTotals) {
			r.Flags |= DropTotal
		}
		r.DropKey, r.DropCount = t.DropKey, t.DropCount
	default:
		return false
	}
	return true
}

// local takes the metadata of a report's main contents as what the reporting node says of itself.
func (d *Decoder) local(m *report.Metadata, r *Report) {
	valid := m.Bits &^ m.Invalid
	if valid == 0 {
		return
	}
	h := &r.Local
	wide := r.Version == Version20
	unit := d.dialect.TimeUnit
	if wide {
		unit = wideUnit(d.dialect)
	}
	if valid&report.MDInterfaces != 0 {
		h.Has |= HasIngressPort | HasEgressPort
		h.IngressPort, h.EgressPort = uint32(m.IngressPort), uint32(m.EgressPort)
	}
	d.knownPorts(h, uint32(m.IngressPort), uint32(m.EgressPort))
	if valid&report.MDHopLatency != 0 {
		h.Has |= HasLatency
		h.LatencyNs = uint64(m.HopLatency) * d.dialect.LatencyUnit
	}
	if valid&report.MDQueue != 0 {
		h.Has |= queueOf(d.dialect)
		h.QueueID, h.QueueOccupancy = m.QueueID, m.QueueOccupancy
	}
	if valid&report.MDIngressTS != 0 {
		h.Has |= HasIngressTime | unitOf(unit)
		h.IngressNs = m.IngressTS * unit
	}
	if valid&report.MDEgressTS != 0 {
		h.Has |= HasEgressTime | unitOf(unit)
		h.EgressNs = m.EgressTS * unit
	}
	if wide && h.Has&(HasIngressTime|HasEgressTime) != 0 {
		h.Has |= HasWideTimes
	}
	if h.Has&(HasIngressTime|HasEgressTime|HasLatency) == HasIngressTime|HasEgressTime {
		if stay, ok := stayNs(h.EgressNs-h.IngressNs, 1); ok {
			h.Has |= HasLatency | HasDerivedLatency
			h.LatencyNs = stay
		}
	}
	if valid&report.MDL2Interfaces != 0 {
		h.Has |= HasL2Ports
		h.L2Ingress, h.L2Egress = m.L2Ingress, m.L2Egress
	}
	if valid&report.MDTxUtil != 0 {
		h.Has |= InUtilizationUnit(d.dialect.UtilizationUnit)
		h.TxUtil = m.TxUtil
	}
	if valid&report.MDBuffer != 0 {
		h.Has |= HasBuffer
		h.BufferID, h.BufferOccupancy = m.BufferID, m.BufferOccupancy
	}
	if valid&report.MDDrop != 0 {
		h.Has |= HasDrop
		h.DropReason = m.DropReason
		r.DropReasons = reasonTable(d.dialect.DropReasons)
		if h.Has&HasQueue == 0 {
			h.QueueID = m.DropQueueID
		}
	}
}

// wideUnit returns the nanoseconds of one unit of 64 bit timestamps.
func wideUnit(d *codepoint.Dialect) uint64 {
	if d.Has(codepoint.QuirkWideTimestamps) {
		return 1 // GEANT and Montimage count ns there
	}
	return d.TimeUnit
}
