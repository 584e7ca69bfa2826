package export

import (
	"encoding/binary"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// intPort announces INT in the packets made here.
const intPort = 17768

// An original is a UDP packet as a sink got it, and what is true about it.
type original struct {
	frame []byte // Ethernet
	ip    int    // where IP begins
	kind  uint8  // report.InIPv4 or InIPv6
	flow  telemetry.FlowKey
	hops  []uint32 // node ids in the stack, source first
	keep  int      // where stack and L4 header end
	flags telemetry.Flags
}

// newPacket makes a packet of a flow, with hops records in an INT-MD header, or with an INT-MX header if hops is
// negative, or without INT if it is 0.
func newPacket(flow uint32, ip6 bool, hops, payload int) original {
	p := original{ip: 14, kind: report.InIPv4}
	var in []byte
	dstPort := uint16(4000)
	shim := inband.ShimL4{NPT: inband.NPTDstPort, DstPort: dstPort}
	switch {
	case hops > 0:
		p.flags = telemetry.Embedded
		layout := inband.NewLayout(inband.Format20, 0xC000)
		shim.Type, shim.Length = inband.TypeMD, uint8(3+hops*layout.Len()/4)
		md := inband.MD{Version: 2, HopML: uint8(layout.Len() / 4), RemainingHopCount: 9, Bitmap: 0xC000}
		in = md.Append(shim.Append(nil))
		for hop := hops; hop > 0; hop-- { // the newest first
			m := inband.Metadata{
				Has: inband.NodeID | inband.L1Ingress | inband.L1Egress, NodeID: uint32(hop),
				L1Ingress: 1, L1Egress: 2,
			}
			in = layout.Append(in, &m)
		}
		for hop := range hops {
			p.hops = append(p.hops, uint32(hop+1))
		}
	case hops < 0:
		p.flags = telemetry.Instructed
		shim.Type, shim.Length = inband.TypeMX, 3
		mx := inband.MX{Version: 2, Bitmap: 0xC000}
		in = mx.Append(shim.Append(nil))
	}
	p.flow = telemetry.FlowKey{SrcPort: uint16(flow), DstPort: dstPort, Protocol: packet.ProtoUDP}
	udp := packet.UDP{SrcPort: uint16(flow), DstPort: dstPort, Length: uint16(8 + len(in) + payload)}
	if hops != 0 {
		udp.DstPort = intPort
	}
	eth := packet.Ethernet{
		Dst: [6]byte{2, 0, 0, 0, 0, 2}, Src: [6]byte{2, 0, 0, 0, 0, 1},
		EtherType: packet.EtherTypeIPv4,
	}
	if ip6 {
		p.kind = report.InIPv6
		eth.EtherType = packet.EtherTypeIPv6
		ip := packet.IPv6{PayloadLength: udp.Length, NextHeader: packet.ProtoUDP, HopLimit: 60}
		ip.Src, ip.Dst = [16]byte{0: 0x20, 1: 1, 15: 1}, [16]byte{0: 0x20, 1: 1, 15: 2}
		binary.BigEndian.PutUint16(ip.Src[12:], uint16(flow>>16))
		p.flow.Src, p.flow.Dst = telemetry.AddrFrom16(ip.Src), telemetry.AddrFrom16(ip.Dst)
		p.frame = ip.Append(eth.Append(nil))
	} else {
		ip := packet.IPv4{
			IHL: 5, TotalLength: 20 + udp.Length, TTL: 60, Protocol: packet.ProtoUDP,
			Dst: [4]byte{10, 0, 0, 2},
		}
		ip.Src = [4]byte{10, 1, byte(flow >> 24), byte(flow >> 16)}
		p.flow.Src, p.flow.Dst = telemetry.AddrFrom4(ip.Src), telemetry.AddrFrom4(ip.Dst)
		p.frame = ip.Append(eth.Append(nil))
	}
	p.frame = append(udp.Append(p.frame), in...)
	p.keep = len(p.frame)
	for i := range payload {
		p.frame = append(p.frame, byte(i)|1) // no zeros, which padding has
	}
	return p
}

// report returns a Report about p whose fragment begins with a header of that kind.
func (p *original) report(kind uint8) Report {
	r := Report{Flow: p.flow.Hash(), Flags: p.flags | telemetry.Tracked, Kind: kind, Fragment: p.frame, Keep: p.keep}
	if kind != report.InEthernet {
		r.Fragment, r.Keep = p.frame[p.ip:], p.keep-p.ip
	}
	return r
}

// randomMetadata returns any metadata, with some all ones, some not available and reserved bits among them.
func randomMetadata(r *rand.Rand) report.Metadata {
	word := func() uint32 {
		if r.IntN(8) == 0 {
			return 1<<32 - 1
		}
		return r.Uint32()
	}
	return report.Metadata{
		Bits: uint16(r.Uint32()), Invalid: uint16(r.Uint32() & r.Uint32() & r.Uint32()),
		IngressPort: uint16(word()), EgressPort: uint16(word()), HopLatency: word(),
		QueueID: uint8(word()), QueueOccupancy: word() & (1<<25 - 1), EgressTS: uint64(word())<<32 | uint64(word()),
		L2Ingress: word(), L2Egress: word(), TxUtil: word(), BufferID: uint8(word()),
		BufferOccupancy: word() & (1<<25 - 1),
		DropQueueID:     uint8(word()), DropReason: uint8(word()),
	}
}

// points are the code points of a collector of these reports.
func points(t testing.TB) *codepoint.Config {
	t.Helper()
	c := codepoint.New()
	if err := c.Set("int_udp_port", intPort); err != nil {
		t.Fatal(err)
	}
	if err := c.Set("report_port", 32766); err != nil {
		t.Fatal(err)
	}
	c.Compile()
	return c
}
