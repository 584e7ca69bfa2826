package node

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/export"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

const mdIngressTS = report.MDIngressTS

// onlyStack stands in the RepMdBits of tell for: the node says nothing of itself. It is not sent.
const onlyStack = 0x8000

// metadataOf returns the RepMdBits that stand for the Instruction Bitmap of a version: what a node reports of itself
// (INT 2.1 §5.8, §5.9).
func metadataOf(v inband.Version, bitmap uint16) uint16 {
	switch v {
	case inband.Version2016: // two bits for the ports, none for the egress timestamp and level 2
		ports := uint16(0)
		if bitmap&0x4400 != 0 {
			ports = report.MDInterfaces
		}
		return bitmap&0x3900 | ports
	case inband.Version05: // bit 6 is the queue's congestion
		return bitmap & 0x7D00
	case inband.Version10:
		return bitmap & 0x7F00
	}
	return bitmap & 0x7F80
}

// reported returns the RepMdBits of a report in which the node speaks of itself, of those that were asked for. The
// header that names the node in a report of 0.5 has no bits: whoever sends it sends all of it (TR 0.5 §3.2.3).
func (n *Node) reported(asked uint16) uint16 {
	if n.format == export.TR05 {
		return asked | report.MDInterfaces | report.MDQueue | report.MDEgressTS
	}
	return asked
}

// events asks whether a packet of a watched flow is worth a report (TR 2.0 §2). path and latencyNs are of the packet's
// whole way as far as this node knows it.
func (n *Node) events(v *visit, path, latencyNs uint64) event.Reason {
	s := v.state
	reason := n.flowEvents.Observe(&event.Observation{
		Flow: s.flow, IngressPort: s.inPort, EgressPort: v.egress.Port, Path: path, LatencyNs: latencyNs,
		NowNs: v.egress.DepartedNs,
		Start: s.is(flowStart), End: s.is(flowEnd), ReportAll: s.is(reportAll),
	})
	reason |= v.queue.Reason
	if reason == 0 {
		n.count(Suppressed)
	} else {
		n.count(Reported)
	}
	return reason
}

// postcard reports a packet without INT: of a flow that is watched without it, or that meets nobody else who would
// report it, or because of a congested queue. frame is the packet as it is reported.
func (n *Node) postcard(v *visit, frame []byte) {
	s := v.state
	alone := s.mode == watch.ModeXD || v.edge && s.is(fromOutside)
	if !s.is(watched) || !alone {
		n.queueReport(v, frame)
		return
	}
	if n.events(v, 0, n.latency(v)) != 0 {
		n.tell(v, telemetry.Tracked, frame, v.packet.Payload, s.metadata, n.inside.DomainID)
	}
}

// queueReport reports a packet that met a congested queue, if that is why (TR 2.0 §2.6). The packet is reported without
// INT: this node speaks of itself alone.
func (n *Node) queueReport(v *visit, frame []byte) {
	// the profile has reports of sinks only
	if v.queue.Reason == 0 || n.format == export.TransparentSecurity && !v.edge {
		return
	}
	n.count(QueueReports)
	var flags telemetry.Flags
	if v.state.is(watched) || v.packet.INT.Present && v.packet.INT.Malformed == 0 {
		flags = telemetry.Tracked
	}
	keep := max(v.packet.Payload-(len(v.packet.Frame)-len(frame)), 0) // of the packet without INT
	n.tell(v, flags, frame, keep, n.usual|report.MDQueue|report.MDInterfaces, n.inside.DomainID)
}

// tell sends a report about a packet. metadata are the RepMdBits of what this node says of itself.
func (n *Node) tell(v *visit, flags telemetry.Flags, frame []byte, keep int, metadata, domain uint16) {
	if n.exporter == nil {
		return
	}
	if v.queue.Congested {
		flags |= telemetry.Congested
	}
	r := &n.told
	*r = export.Report{
		Flow: v.state.flow, HWID: n.config.Reports.HWID, Flags: flags, IngressTS: v.state.arrivedNs,
		Metadata: export.FromInband(metadata, &v.own), DomainID: domain,
	}
	n.describeDomain(r, metadata)
	n.setFragment(r, frame, keep)
	n.send(r, v.egress.DepartedNs)
}

// setFragment puts a packet into a report, or the front of it: keep is where its INT stack and first L4 header end.
func (n *Node) setFragment(r *export.Report, frame []byte, keep int) {
	const ethernetLen = 14
	if len(frame) < ethernetLen {
		return
	}
	if most := keep + int(n.config.Reports.Truncate); n.config.Reports.Truncate > 0 && len(frame) > most {
		frame = frame[:min(max((most+3)&^3, ethernetLen), len(frame))]
	}
	r.Kind, r.Fragment, r.Keep = report.InEthernet, frame, keep
	if !n.ipFragment {
		return
	}
	switch ip := frame[ethernetLen:]; binary.BigEndian.Uint16(frame[12:]) {
	case packet.EtherTypeIPv4:
		if len(ip) >= 20 && ip[0]>>4 == 4 {
			r.Kind, r.Fragment, r.Keep = report.InIPv4, ip, keep-ethernetLen
		}
	case packet.EtherTypeIPv6:
		if len(ip) >= 40 && ip[0]>>4 == 6 {
			r.Kind, r.Fragment, r.Keep = report.InIPv6, ip, keep-ethernetLen
		}
	}
}

func (n *Node) send(r *export.Report, nowNs uint64) {
	n.countIf(n.exporter.Add(r, nowNs) != nil, NotReported)
}
