package fabric

import (
	"net"
	"net/netip"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/wire/packet"
)

// writeTopology writes the first lines of the truth.
func (f *Fabric) writeTopology(s *scenario.Scenario) {
	if f.truth == nil {
		return
	}
	f.truth.Write(&truth.Run{
		Scenario: f.name, Seed: f.seed, EpochNs: f.epochNs,
		SamplePackets: f.sample, BurstAbove: f.burstAbove, BurstBelow: f.burstBelow,
	})
	for _, n := range f.switches {
		address, _ := routerAddress(n.id)
		f.truth.Write(&truth.Switch{
			Node: n.id, Name: n.name, Role: n.spec.Role, Address: address.String(), INT: n.device != nil,
			OffsetNs: n.clock.offsetNs, DriftPPB: n.clock.driftPPB, Ports: uint32(len(n.ports)), LatencyNs: n.latencyNs,
		})
	}
	for _, h := range f.hosts {
		access := h.out().peer
		f.truth.Write(&truth.Host{
			Name: h.node.name, Address: netip.AddrFrom4(h.v4).String(), Address6: netip.AddrFrom16(h.v6).String(),
			MAC: net.HardwareAddr(h.mac[:]).String(), Node: access.node.id, Port: access.id,
		})
	}
	for _, l := range f.links {
		r := truth.Link{Name: l.name, RateBps: l.bps, DelayNs: l.delayNs, MTU: l.mtu}
		if l.a.node.host == nil {
			r.NodeA, r.PortA = l.a.node.id, l.a.id
		}
		if l.b.node.host == nil {
			r.NodeB, r.PortB = l.b.node.id, l.b.id
		}
		f.truth.Write(&r)
	}
}

// writeHop writes that a sampled packet leaves a switch.
func (f *Fabric) writeHop(p *parcel, out *port, startNs int64) {
	n := out.node
	r := &f.scratch.hop
	*r = truth.Hop{
		Packet: p.id, CopyOf: p.copied, Flow: p.flow.id,
		Hop: uint8(min(p.hops, 256) - 1), Node: n.id, In: p.state.Port, Out: out.id,
		Queue: p.class,
		InNs:  p.arrived, OutNs: startNs, LatencyNs: startNs - p.arrived,
		InClock: f.clockNs(n, p.arrived), OutClock: f.clockNs(n, startNs),
		Depth: p.ahead, Buffer: p.stored, Utilization: out.meter.rate(startNs), Length: len(p.frame),
	}
	f.truth.Write(r)
}

// writeFlows writes the flows of a conversation of which nothing is left, or at the end of the run.
func (f *Fabric) writeFlows(c *conversation) {
	if f.truth == nil {
		return
	}
	f.writeFlow(&c.forth, c.back.id)
	if !c.udp {
		f.writeFlow(&c.back, c.forth.id)
	}
}

func (f *Fabric) writeFlow(fl *flow, reverse uint32) {
	f.writePaths(fl)
	c := fl.conversation
	src, dst := fl.src.key(fl.v6), fl.dst.key(fl.v6)
	r := truth.Flow{
		Flow: fl.id, Reverse: reverse, Traffic: c.label, Src: src, Dst: dst, Protocol: fl.protocol,
		SrcPort: fl.srcPort, DstPort: fl.dstPort, DSCP: fl.dscp, StartNs: c.startNs, EndNs: c.endNs, Bytes: fl.bytes,
		PacketsSent: fl.sent, PacketsDelivered: fl.delivered, PacketsDropped: fl.dropped,
		Retransmitted: fl.retransmitted, Finished: c.finished,
	}
	if !c.over {
		r.EndNs = f.nowNs
	}
	if fl.tunnel != noTunnel {
		in, to := fl.ends()
		r.Inner = &truth.Inner{
			Tunnel: fl.tunnel.String(), VNI: fl.vni, Src: in.key(fl.v6), Dst: to.key(fl.v6), Protocol: fl.protocol,
			SrcPort: fl.srcPort, DstPort: fl.dstPort,
		}
		r.Protocol, r.SrcPort, r.DstPort = packet.ProtoUDP, fl.outerPort, fl.tunnel.port()
	}
	f.truth.Write(&r)
}

// key returns the IP address that flow keys have.
func (a *address) key(v6 bool) string {
	if v6 {
		return netip.AddrFrom16(a.v6).String()
	}
	return netip.AddrFrom4(a.v4).String()
}

// writeRest writes what was under way at the end of the run, and the totals.
func (f *Fabric) writeRest() {
	if f.truth == nil {
		return
	}
	for _, c := range f.conversations {
		if c.over || c.live > 0 || c.pending > 0 {
			f.writeFlows(c)
		}
	}
	for _, p := range f.ports {
		for i := range p.queues {
			if p.queues[i].burst != nil {
				f.endBurst(&p.queues[i], true)
			}
		}
	}
	s := &f.stats
	end := truth.End{
		TimeNs: f.nowNs, Sent: s.Sent, Copies: s.Copies, Delivered: s.Delivered, InFlight: s.InFlight, Hops: s.Hops,
		Reports: s.Reports, ReportsLost: s.ReportsLost, Dropped: []truth.Reason{},
	}
	for code, n := range s.Dropped {
		if n > 0 {
			end.Dropped = append(end.Dropped,
				truth.Reason{Reason: Reason(code).String(), Code: uint8(code), Packets: n})
		}
	}
	f.truth.Write(&end)
}
