package telemetry

import (
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

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
	d.knownPorts(h, m.L1Ingress, m.L1Egress)
	if valid&inband.HopLatency != 0 {
		h.Has |= HasLatency
		h.LatencyNs = uint64(m.HopLatency) * d.dialect.LatencyUnit
	}
	h.QueueID = 0
	if valid&inband.QueueID != 0 {
		h.QueueID = m.QueueID
	}
	if valid&inband.QueueOccupancy != 0 {
		h.Has |= queueOf(d.dialect)
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
		h.Has |= InUtilizationUnit(d.dialect.UtilizationUnit)
		h.TxUtil = m.EgressTxUtil
	}
	if valid&inband.BufferOccupancy != 0 {
		h.Has |= HasBuffer
		h.BufferID, h.BufferOccupancy = m.BufferID, m.BufferOccupancy
	}
}

// noPort is what a port says if there is none, in a dialect.
const noPort = 511

// knownPorts forgets ports of h that say that there is none.
func (d *Decoder) knownPorts(h *Hop, ingress, egress uint32) {
	if !d.dialect.Has(codepoint.QuirkNoPort511) {
		return
	}
	if ingress == noPort {
		h.Has &^= HasIngressPort
	}
	if egress == noPort {
		h.Has &^= HasEgressPort
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
		h.Has |= HasShortTimes
	}
	h.Has |= unitOf(unit)
	if valid&inband.IngressTS != 0 {
		h.Has |= HasIngressTime
		h.IngressNs = m.IngressTS * unit
	}
	if valid&inband.EgressTS != 0 {
		h.Has |= HasEgressTime
		h.EgressNs = m.EgressTS * unit
	}
	// Host-INT writes one time into both.
	if valid&(inband.IngressTS|inband.EgressTS|inband.HopLatency) == inband.IngressTS|inband.EgressTS &&
		!d.dialect.Has(codepoint.QuirkHostINT) {
		if stay, ok := stayNs((m.EgressTS-m.IngressTS)&mask, unit); ok {
			h.Has |= HasLatency | HasDerivedLatency
			h.LatencyNs = stay
		}
	}
}

// maxStayNs is more than a packet can be in a node: 18 minutes. Two timestamps of a node that are farther apart, or in
// the wrong order, say that its clock was set between them.
const maxStayNs = 1 << 40

// stayNs returns the nanoseconds of ticks, egress minus ingress time in units of so many ns; false if that is no
// latency.
func stayNs(ticks, unit uint64) (uint64, bool) {
	return ticks * unit, ticks < maxStayNs && ticks*unit < maxStayNs
}

// unitOf returns HasMicroTimes if times count microseconds, unit being that of the dialect in nanoseconds.
func unitOf(unit uint64) Fields {
	if unit == 1000 {
		return HasMicroTimes
	}
	return 0
}

// mendSink drops what the dialect is known to get wrong about the reporting node itself: its metadata are those of the
// mirrored copy, not of the packet.
func (d *Decoder) mendSink(h *Hop) {
	const mended = codepoint.QuirkMirrorEgress | codepoint.QuirkNoSinkIngress | codepoint.QuirkSinkLatency
	r := d.report
	if !d.dialect.Has(mended) || r.HasNodeID && (h.Has&HasNode == 0 || h.NodeID != r.NodeID) {
		return
	}
	if d.dialect.Has(codepoint.QuirkMirrorEgress) {
		h.Has &^= HasEgressPort
	}
	if d.dialect.Has(codepoint.QuirkNoSinkIngress) {
		h.Has &^= HasIngressPort
	}
	if d.dialect.Has(codepoint.QuirkSinkLatency) && h.Has&HasLatency != 0 {
		h.Has &^= HasLatency
		if stay, ok := stayNs(h.EgressNs-h.IngressNs, 1); ok &&
			h.Has&(HasIngressTime|HasEgressTime) == HasIngressTime|HasEgressTime {
			h.Has |= HasLatency | HasDerivedLatency
			h.LatencyNs = stay
		}
	}
}
