package telemetry

import (
	"encoding/binary"
	"slices"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

// A carrier is what an INT header stands in; it decides what follows.
type carrier uint8

const (
	overL4 carrier = iota
	overGPE
	overGeneve
)

// marked reports whether an INT shim stands at the start of b, behind a TCP or UDP header.
func (d *Decoder) marked(b []byte) bool {
	p := d.profile
	switch {
	case p.MarksDSCP(d.report.DSCP):
		return true
	case p.ProbeMarker != 0 && len(b) >= 8 && binary.BigEndian.Uint64(b) == p.ProbeMarker:
		return true
	case d.dialect.Has(codepoint.QuirkUnmarked):
		return plausible10(b)
	}
	return false
}

// plausible10 reports whether b starts with a shim and an INT 1.0 header that agree with each other.
func plausible10(b []byte) bool {
	if len(b) < 12 || b[0] != inband.TypeHopByHop || b[1] != 0 {
		return false
	}
	words, hopML := int(b[2]), int(b[6]&0x1f)
	return words >= 3 && hopML > 0 && (words-3)%hopML == 0 && b[4]>>4 <= 2
}

// shimL4 reads an INT shim that DSCP or a marker announces behind TCP or UDP.
func (d *Decoder) shimL4(b []byte, protocol uint8) error {
	if p := d.profile; p.ProbeMarker != 0 && len(b) >= 8 && binary.BigEndian.Uint64(b) == p.ProbeMarker {
		b = b[8:]
		d.frag.inserted += 8
	}
	if inband.DetectL4(b) == inband.Family2x {
		return d.shim20(b, false, protocol)
	}
	f := &d.frag
	var shim inband.ShimL4Old
	n, err := shim.Decode(b)
	if err != nil {
		d.note(err)
		return d.done(nil, protocol, d.report.Flow.SrcPort, d.report.Flow.DstPort)
	}
	end := shim.End()
	f.inserted += end
	v, err := d.old(b, n, end, overL4, shim.Type)
	if err != nil {
		d.note(err)
	}
	port := d.report.Flow.DstPort
	switch v {
	case inband.Version05:
		var tail inband.Tail05
		if end >= 8 && end <= len(b) {
			if _, err := tail.Decode(b[end-4:]); err == nil {
				port = tail.DstPort
				d.report.DSCP = tail.DSCP & 0x3f
			}
		}
		if protocol == packet.ProtoTCP || d.dialect.Has(codepoint.QuirkWideTimestamps) {
			port = d.report.Flow.DstPort // these senders leave the port in place; GEANT's copy of it is garbage over TCP
		}
	case inband.Version10:
		d.report.DSCP = shim.DSCP
	}
	rest := b[min(end, len(b)):]
	if protocol == packet.ProtoUDP {
		return d.udpPayload(rest, port)
	}
	if d.profile.INTBeforeTCPOptions {
		rest = rest[min(max(f.tcpOptions, 0), len(rest)):]
	}
	return d.done(rest, protocol, d.report.Flow.SrcPort, port)
}

// shim20 reads an INT 2.x shim; byPort says that the UDP destination port announced it.
func (d *Decoder) shim20(b []byte, byPort bool, protocol uint8) error {
	f := &d.frag
	port := d.report.Flow.DstPort
	var shim inband.ShimL4
	n, err := shim.Decode(b)
	if err != nil {
		d.note(err)
		return d.done(nil, protocol, d.report.Flow.SrcPort, port)
	}
	end := shim.End()
	if d.dialect.Has(codepoint.QuirkShimCountsItself) {
		end -= 4
	}
	f.inserted += end
	if err := d.header20(b, n, end, shim.Type); err != nil {
		d.note(err)
	}
	rest := b[min(end, len(b)):]
	switch {
	case shim.NPT == inband.NPTProtocol && byPort:
		f.inserted += 8
		d.report.Flow.SrcPort, d.report.Flow.DstPort = 0, 0
		if end > len(b) {
			return nil // the original packet was cut off
		}
		return d.transportOf(rest, shim.Protocol)
	case shim.NPT == inband.NPTDstPort && byPort:
		d.report.Flow.DstPort = shim.DstPort
		return d.udpPayload(rest, shim.DstPort)
	case shim.NPT == inband.NPTDSCP && !byPort:
		d.report.DSCP = shim.DSCP
		if protocol == packet.ProtoTCP {
			if d.profile.INTBeforeTCPOptions {
				rest = rest[min(max(f.tcpOptions, 0), len(rest)):]
			}
			return d.done(rest, packet.ProtoTCP, d.report.Flow.SrcPort, port)
		}
		return d.udpPayload(rest, port)
	}
	d.note(wire.ErrUnknownNPT)
	return d.done(nil, protocol, d.report.Flow.SrcPort, port)
}

// transportOf goes on with the packet that INT put a UDP header (and, for IPSec, an IP header) in front of.
func (d *Decoder) transportOf(b []byte, protocol uint8) error {
	switch protocol {
	case packet.ProtoIPv4:
		return d.ipv4(b)
	case packet.ProtoIPv6:
		return d.ipv6(b)
	}
	return d.transport(b, protocol)
}

func (d *Decoder) shimGRE(b []byte) (n int, next uint16, err error) {
	var shim inband.ShimGRE
	n, err = shim.Decode(b)
	if err != nil {
		return 0, 0, err
	}
	end := shim.End()
	d.frag.inserted += end
	if err := d.header20(b, n, end, shim.Type); err != nil {
		d.note(err)
	}
	return min(end, len(b)), shim.NextProtocol, nil
}

// gpeTelemetry reads the INT or IOAM header that Next Protocol next of VXLAN-GPE announces and returns its length and
// what follows; length 0 without an error: next announces something else.
func (d *Decoder) gpeTelemetry(b []byte, next uint8) (int, uint8, error) {
	p := d.profile
	switch {
	case p.GPEIOAMNextProtocol != 0 && next == p.GPEIOAMNextProtocol,
		next == 5 && p.GPENextProtocol5 == codepoint.GPE5IOAM:
		return d.gpeIOAM(b)
	case next == 5 && (p.GPENextProtocol5 == codepoint.GPE5INT2016 || p.GPENextProtocol5 == codepoint.GPE5INT05):
	case slices.Contains(p.GPENextProtocols, next):
	default:
		return 0, 0, nil
	}
	if inband.DetectL4(b) == inband.Family2x {
		var shim inband.ShimGPE
		n, err := shim.Decode(b)
		if err != nil {
			return 0, 0, err
		}
		if d.report.Is(Tracked) {
			err = d.header20(b, n, shim.End(), shim.Type)
		}
		d.frag.inserted += shim.End()
		return min(shim.End(), len(b)), shim.NextProtocol, err
	}
	var shim inband.ShimGPEOld
	n, err := shim.Decode(b)
	if err != nil {
		return 0, 0, err
	}
	if shim.End() < n {
		return 0, 0, wire.ErrINTHeaderTruncated
	}
	if d.report.Is(Tracked) {
		_, err = d.old(b, n, shim.End(), overGPE, shim.Type)
	}
	d.frag.inserted += shim.End()
	return min(shim.End(), len(b)), shim.NextProtocol, err
}

func (d *Decoder) gpeIOAM(b []byte) (int, uint8, error) {
	var shim ioam.Shim
	n, err := shim.Decode(b)
	if err != nil {
		return 0, 0, err
	}
	body, err := shim.BodyLen(len(b) - n)
	if err != nil {
		return 0, 0, err
	}
	if d.report.Is(Tracked) {
		err = d.ioamTrace(shim.Type, b[n:n+body])
	}
	return n + body, shim.NextProtocol, err
}

func (d *Decoder) geneveOptions(options []byte) error {
	var o packet.GeneveOption
	for len(options) > 0 {
		n, err := o.Decode(options)
		if err != nil {
			return err
		}
		options = options[n:]
		if !slices.Contains(d.profile.GeneveClasses, o.Class) {
			continue
		}
		d.frag.inserted += n
		zero := d.profile.FormatVersion0
		if o.Class == 0x0103 { // assigned to INT 2.1: never 2016
			zero = inband.ZeroUnset
		}
		v, _, err := inband.Identify(o.Data, inband.FamilyGeneve, zero)
		if err != nil {
			return err
		}
		if v == inband.Version20 {
			err = d.contents20(o.Data, len(o.Data), o.Type)
		} else if o.Type == inband.TypeHopByHop {
			err = d.contentsOld(o.Data, len(o.Data), v, overGeneve)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

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

// contents20 reads an INT 2.x header and stack: length bytes, of which b is what is there.
func (d *Decoder) contents20(b []byte, length int, kind uint8) error {
	if d.report.Is(Embedded | Instructed) {
		return nil // INT of an inner domain: the path asked for is the outermost one
	}
	switch kind {
	case inband.TypeDestination:
		return nil
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
	recordLen := layout.Len()
	// Dividing takes longer than decoding a hop; the product is checked, so a wrong quotient costs only the detour below.
	hops := int(uint32(length-n) / 4 * reciprocal[md.HopML&31] >> 16)
	if md.DomainID == 0 && len(b) == length && recordLen == 4*int(md.HopML) && n+hops*recordLen == length {
		// The usual case: no domain-specific metadata, nothing cut. inband.MD.Stack would say the same.
		r.Flags |= Embedded
		r.Hops = d.batch.takeHops(hops)
		d.hops20(r.Hops, b[n:], recordLen, md.Bitmap)
		if hops > 0 {
			d.mendSink(&r.Hops[hops-1])
		}
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

// old reads the INT header up to version 1.0 behind a shim of n bytes; end is where the shim says that it ends.
func (d *Decoder) old(b []byte, n, end int, over carrier, kind uint8) (inband.Version, error) {
	if end < n {
		return inband.VersionUnknown, wire.ErrINTHeaderTruncated
	}
	contents := b[n:min(end, len(b))]
	v, err := d.identify(contents, over)
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
		return v, nil
	}
	return v, wire.ErrUnknownINTType
}

// identify tells the version of an old header: the dialect knows it, or the bytes and the configuration do.
func (d *Decoder) identify(b []byte, over carrier) (inband.Version, error) {
	p := d.profile
	zero := p.FormatVersion0
	switch {
	case d.dialect.Has(codepoint.QuirkVersion2Bits):
		if len(b) < 8 {
			return inband.VersionUnknown, wire.ErrINTHeaderTruncated
		}
		return inband.Version05, nil
	case d.dialect.Has(codepoint.QuirkWideTimestamps):
		if len(b) < 8 {
			return inband.VersionUnknown, wire.ErrINTHeaderTruncated
		}
		return inband.Version10, nil
	case over == overGPE && p.GPENextProtocol5 == codepoint.GPE5INT2016:
		zero = inband.ZeroIs2016
	case over == overGPE && p.GPENextProtocol5 == codepoint.GPE5INT05:
		zero = inband.ZeroIs05
	case over == overL4 && zero == inband.ZeroIs2016:
		zero = inband.ZeroUnset // there is no 2016 over TCP or UDP
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
		set(h.C, Discard)
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
		set(h.C, Discard)
		set(h.E, HopLimit)
		format := inband.Format05
		if wide {
			format = inband.Format05Long
		}
		h.Bitmap = d.instructions(h.Bitmap)
		layout = inband.NewLayout(format, h.Bitmap)
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
		set(h.C, Discard)
		set(h.E, HopLimit)
		set(h.M, MTUExceeded)
		format := inband.Format10
		if wide {
			format = inband.Format10Long
		}
		h.Bitmap = d.instructions(h.Bitmap)
		layout = inband.NewLayout(format, h.Bitmap)
		if wide && q.Has(codepoint.QuirkNibble3) {
			stack, err = inband.NewCutStack(b[n:], length-n, layout.Len())
		} else {
			stack, err = h.CutStack(b[n:], length-n, format.Widths())
		}
	}
	if err != nil && err != wire.ErrShimLengthOverrun {
		return err
	}
	d.report.Flags |= flags
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
	r.Hops = d.batch.takeHops(total)
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

// hop makes a Hop of the metadata just decoded.
func (d *Decoder) hop(h *Hop, layout *inband.Layout) {
	m := &d.metadata
	valid := m.Has &^ m.Invalid
	h.Has = 0
	if valid&inband.NodeID != 0 {
		h.Has |= HasNode
		h.NodeID = m.NodeID
	}
	if valid&inband.L1Ingress != 0 {
		h.Has |= HasIngressPort
		h.IngressPort = m.L1Ingress
	}
	if valid&inband.L1Egress != 0 {
		h.Has |= HasEgressPort
		h.EgressPort = m.L1Egress
	}
	if valid&inband.HopLatency != 0 {
		h.Has |= HasLatency
		h.LatencyNs = uint64(m.HopLatency) * d.dialect.LatencyUnit
	}
	h.QueueID = 0
	if valid&inband.QueueID != 0 {
		h.QueueID = m.QueueID
	}
	if valid&inband.QueueOccupancy != 0 {
		h.Has |= HasQueue
		h.QueueOccupancy = m.QueueOccupancy
	}
	if valid&inband.QueueCongestion != 0 {
		h.Has |= HasCongestion
		h.Congestion = m.QueueCongestion
	}
	if valid&(inband.IngressTS|inband.EgressTS) != 0 {
		d.times(h, valid, layout)
	}
	const rare = inband.L2Ingress | inband.L2Egress | inband.EgressTxUtil | inband.BufferOccupancy
	if valid&rare == 0 {
		return
	}
	if valid&inband.L2Ingress != 0 {
		h.Has |= HasL2Ports
		h.L2Ingress, h.L2Egress = m.L2Ingress, m.L2Egress
	}
	if valid&inband.EgressTxUtil != 0 {
		h.Has |= HasTxUtil
		h.TxUtil = m.EgressTxUtil
	}
	if valid&inband.BufferOccupancy != 0 {
		h.Has |= HasBuffer
		h.BufferID, h.BufferOccupancy = m.BufferID, m.BufferOccupancy
	}
}

// times takes the timestamps, and the latency from them if the node sent none: both are of one clock, and 32 (2016: 31)
// bit counters wrap between them.
func (d *Decoder) times(h *Hop, valid inband.Fields, layout *inband.Layout) {
	m := &d.metadata
	unit, mask := d.dialect.TimeUnit, uint64(1<<32-1)
	switch layout.Format() {
	case inband.Format20:
		mask = 1<<64 - 1
		h.Has |= HasWideTimes
	case inband.Format05Long, inband.Format10Long:
		unit, mask = wideUnit(d.dialect), 1<<64-1
		h.Has |= HasWideTimes
	case inband.Format2016:
		mask = 1<<31 - 1
	}
	if valid&inband.IngressTS != 0 {
		h.Has |= HasIngressTime
		h.IngressNs = m.IngressTS * unit
	}
	if valid&inband.EgressTS != 0 {
		h.Has |= HasEgressTime
		h.EgressNs = m.EgressTS * unit
	}
	if valid&(inband.IngressTS|inband.EgressTS|inband.HopLatency) == inband.IngressTS|inband.EgressTS {
		if spent := (m.EgressTS - m.IngressTS) & mask; mask>>32 == 0 || m.EgressTS >= m.IngressTS {
			h.Has |= HasLatency | HasDerivedLatency
			h.LatencyNs = spent * unit
		}
	}
}

// mendSink drops what the dialect is known to get wrong about the reporting node itself: its metadata are those of the
// mirrored copy, not of the packet.
func (d *Decoder) mendSink(h *Hop) {
	r := d.report
	if r.HasNodeID && (h.Has&HasNode == 0 || h.NodeID != r.NodeID) {
		return
	}
	if d.dialect.Has(codepoint.QuirkMirrorEgress) {
		h.Has &^= HasEgressPort
	}
	if d.dialect.Has(codepoint.QuirkSinkLatency) && h.Has&HasLatency != 0 {
		h.Has &^= HasLatency
		if h.Has&(HasIngressTime|HasEgressTime) == HasIngressTime|HasEgressTime && h.EgressNs >= h.IngressNs {
			h.Has |= HasLatency | HasDerivedLatency
			h.LatencyNs = h.EgressNs - h.IngressNs
		}
	}
}

// ioamTrace takes the nodes of an IOAM trace as the stack.
func (d *Decoder) ioamTrace(kind uint8, b []byte) error {
	if kind != ioam.TypePreallocated && kind != ioam.TypeIncremental || d.report.Is(Embedded|Instructed) {
		return nil
	}
	var trace ioam.Trace
	n, err := trace.Decode(b)
	if err != nil {
		return err
	}
	nodes, err := trace.Nodes(b[n:], kind == ioam.TypePreallocated)
	if err != nil {
		return err
	}
	var found [maxStackIOAM]Hop
	count := 0
	var node ioam.Node
	for count < len(found) && nodes.Next(&node) {
		found[count] = hopOf(&node)
		count++
	}
	r := d.report
	r.Flags |= Embedded
	if trace.Overflow {
		r.Flags |= HopLimit
	}
	r.Hops = d.batch.takeHops(count)
	for i := range count {
		r.Hops[count-1-i] = found[i]
	}
	return nodes.Err()
}

// maxStackIOAM is more nodes than an IPv6 option has room for.
const maxStackIOAM = 64

func hopOf(n *ioam.Node) Hop {
	var h Hop
	has := func(bit uint32) bool { return n.Has&bit != 0 && n.Unavailable&bit == 0 }
	switch {
	case has(ioam.BitHopLimitNodeID):
		h.Has |= HasNode
		h.NodeID = n.NodeID
	case has(ioam.BitHopLimitNodeIDWide):
		h.Has |= HasNode
		h.NodeID = uint32(n.NodeIDWide)
	}
	switch {
	case has(ioam.BitInterfaces):
		if n.IngressIf != ioam.NoInterface {
			h.Has |= HasIngressPort
			h.IngressPort = uint32(n.IngressIf)
		}
		if n.EgressIf != ioam.NoInterface {
			h.Has |= HasEgressPort
			h.EgressPort = uint32(n.EgressIf)
		}
	case has(ioam.BitInterfacesWide):
		h.Has |= HasIngressPort | HasEgressPort
		h.IngressPort, h.EgressPort = n.IngressIfWide, n.EgressIfWide
	}
	if has(ioam.BitTransitDelay) && n.TransitDelay&ioam.TransitDelayOverflow == 0 {
		h.Has |= HasLatency
		h.LatencyNs = uint64(n.TransitDelay)
	}
	if has(ioam.BitQueueDepth) {
		h.Has |= HasQueue
		h.QueueOccupancy = n.QueueDepth
	}
	if has(ioam.BitBufferOccupancy) {
		h.Has |= HasBuffer
		h.BufferOccupancy = n.BufferOccupancy
	}
	return h
}
