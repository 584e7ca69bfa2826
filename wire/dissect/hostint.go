package dissect

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// hostReport adds the header of a report of Host-INT whose NProto is its own, and returns what follows.
func (w *walk) hostReport(l *builder, h *report.V05) Start {
	const fixed = 12
	l.quirk("host_int")
	n, rest := fixed, w.rest()[fixed:]
	switch h.NProto {
	case report.NProtoHostIPv4:
		find(l.fields, "nproto").Meaning = "IPv4"
		id, size := report.HostNode(rest)
		if size > 0 {
			number(l, "node_id", id, 8*fixed, 32)
		}
		n += size
	case report.NProtoHostGap:
		find(l.fields, "nproto").Meaning = "gap of a flow"
		var g report.HostGap
		size, err := g.Decode(rest)
		if err != nil {
			return w.broken("telemetry_report_v0_5", l, fixed, err)
		}
		gap := builder{start: l.start + 8*fixed}
		number(&gap, "source_id", g.SourceID, 0, 32)
		number(&gap, "sink_id", g.SinkID, 32, 32)
		number(&gap, "ingress_port", g.IngressPort, 64, 16)
		number(&gap, "egress_port", g.EgressPort, 80, 16)
		number(&gap, "gap_ts", g.Timestamp, 96, 32).Unit = "s"
		number(&gap, "gap_sequence", g.Sequence, 128, 32)
		number(&gap, "gap_count", g.Count, 160, 32).Unit = "packets"
		l.add("flow_gap", gap.fields, 8*fixed, 8*size)
		n += size
	default:
		return w.broken("telemetry_report_v0_5", l, fixed, wire.ErrUnknownNProto)
	}
	w.add("telemetry_report_v0_5", l, n)
	w.fragment(h.F && h.NProto == report.NProtoHostIPv4)
	return IPv4
}

// hostStack reads the header and stack of INT 0.5, the sequence number of the packet in its flow and, if it is there,
// the tail, and returns the original destination port.
func (w *walk) hostStack(c contents) uint16 {
	end := c
	var h inband.Header05
	n, err := h.Decode(w.packet[c.from:c.to])
	if err == nil {
		n += 4 * int(h.InstructionCount) * int(h.TotalHopCount)
		c.to, c.length = min(c.to, c.from+n), min(c.length, n)
	}
	w.intContents(c, inband.Version05, nil, inband.FamilyOld, inband.TypeHopByHop)
	if err != nil {
		return w.dstPort
	}
	rest := w.packet[w.off:end.to]
	if len(rest) >= 4 && w.off == c.from+n {
		l := w.begin()
		number(&l, "sequence", binary.BigEndian.Uint32(rest), 0, 32)
		w.add("int_flow_sequence", &l, 4)
	}
	var tail inband.Tail05
	if _, err := tail.Decode(w.packet[w.off:end.to]); err == nil {
		return w.tail05(&tail)
	}
	return w.dstPort
}

// unmarked05 returns the length of the shim of Length 0 at the current position, and the INT 0.5 behind it with its
// tail, as the generator of INTCollector writes them; 0 if there is no such thing.
func (w *walk) unmarked05() int {
	b := w.packet[w.off:w.last:w.last]
	var shim inband.ShimL4Old
	n, err := shim.Decode(b)
	if err != nil || shim.Type != inband.TypeHopByHop || shim.Length != 0 || b[1]|b[3] != 0 {
		return 0
	}
	var h inband.Header05
	size, err := h.Decode(b[n:])
	if err != nil || h.Version != 0 || h.InstructionCount == 0 || h.TotalHopCount > h.MaxHopCount ||
		4*int(h.InstructionCount) != inband.Widths05.Bytes(h.Bitmap) {
		return 0
	}
	if end := n + size + 4*int(h.InstructionCount)*int(h.TotalHopCount) + 4; end <= len(b) {
		return end
	}
	return 0
}
