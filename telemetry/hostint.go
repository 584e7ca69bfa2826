package telemetry

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// lossInFlow is the reason that the table of Host-INT has for packets which are missing in the sequence of a flow.
const lossInFlow = 1

// hostReport reads what is behind the header of a report of Host-INT (docs/reference/dialects.md): an IPv4 packet, or
// the packets of a flow that its sink missed. The times of such headers are in seconds, which is too coarse to be a
// clock.
func (d *Decoder) hostReport(b []byte, h *Header) {
	v := &d.v05
	switch v.NProto {
	case report.NProtoHostIPv4:
		id, n := report.HostNode(b)
		if n > 0 {
			h.HasNodeID, h.NodeID = true, id
		}
		d.setFlags(d.start(h), v.D, v.Q, v.F)
		d.fragment(b[n:], report.InIPv4)
	case report.NProtoHostGap:
		var gap report.HostGap
		n, err := gap.Decode(b)
		if err != nil {
			d.note(err)
			return
		}
		h.HasNodeID, h.NodeID = true, gap.SinkID
		r := d.start(h)
		d.setFlags(r, true, v.Q, false) // its packet is made up: only the flow is true
		r.Flags |= DropSummary | HasFlowSequence
		r.DropCount, r.FlowSequence = gap.Count, gap.Sequence
		r.Local.DropReason, r.DropReasons = lossInFlow, reasonTable(d.dialect.DropReasons)
		r.Hops = d.batch.takeHops(2)
		r.Hops[0] = Hop{Has: HasNode | HasIngressPort, NodeID: gap.SourceID, IngressPort: uint32(gap.IngressPort)}
		r.Hops[1] = Hop{Has: HasNode | HasEgressPort, NodeID: gap.SinkID, EgressPort: uint32(gap.EgressPort)}
		d.fragment(b[n:], report.InIPv4)
		r.Flags &^= WrongChecksum // of a header that is all zero but for the addresses
		r.Bytes = 0
	default:
		d.note(wire.ErrUnknownNProto)
	}
}

// hostStack reads the INT of Host-INT behind its shim: the header and stack of INT 0.5, the sequence number of the
// packet in its flow, and in packets, not in reports, the tail of INT 0.5. It returns the tail, if there is one.
func (d *Decoder) hostStack(b []byte, length int) (tail []byte, err error) {
	var h inband.Header05
	n, err := h.Decode(b)
	if err != nil {
		return nil, err
	}
	n += 4 * int(h.InstructionCount) * int(h.TotalHopCount)
	if n+4 > length {
		return nil, wire.ErrStackLengthMismatch
	}
	if len(b) >= n+4 {
		d.report.Flags |= HasFlowSequence | GapsReported
		d.report.FlowSequence = binary.BigEndian.Uint32(b[n:])
	}
	if len(b) >= n+8 && length >= n+8 {
		tail = b[n+4 : n+8]
	}
	return tail, d.contentsOld(b[:min(n, len(b))], n, inband.Version05, overL4)
}
