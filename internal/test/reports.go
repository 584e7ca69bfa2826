package test

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// INTPort is the UDP destination port of INT in the reports made here.
const INTPort = 17768

// A Form is a kind of telemetry report that devices send.
type Form string

// Forms, one for each report version and mode.
const (
	Form05Local Form = "v0.5/XD"     // switch local header, as SD-Fabric
	Form05MD    Form = "v0.5/MD-0.5" // embedded INT 0.5 over UDP, marked by DSCP 0x17
	Form10MD    Form = "v1.0/MD-1.0" // embedded INT 1.0 over UDP, marked by DSCP 0x17
	Form20XD    Form = "v2.0/XD"     // own metadata and a plain packet
	Form20MX    Form = "v2.0/MX-2.1" // own metadata and a packet with instructions
	Form20MD    Form = "v2.0/MD-2.1" // embedded INT 2.1, UDP destination port INTPort, NPT 1
	Form20Three Form = "v2.0/coalesced-3xMD"
)

// Forms lists all of them.
var Forms = []Form{Form05Local, Form05MD, Form10MD, Form20XD, Form20MX, Form20MD, Form20Three}

const (
	reportBits = report.MDInterfaces | report.MDHopLatency | report.MDQueue | report.MDIngressTS | report.MDEgressTS
	stackBits  = 0xfc00 // node id, interfaces, latency, queue, both timestamps
)

// Report makes the UDP payload of a report of that form about a UDP packet of flow number flow, with a stack of hops
// hops. Node ids are 1, 2, ... source first; a postcard is that of node 1 + sequence % hops.
func Report(form Form, flow uint32, sequence uint32, hops int) []byte {
	node := uint32(hops)
	var b []byte
	switch form {
	case Form05Local:
		node = 1 + sequence%uint32(hops)
		v := report.V05{
			NProto: report.NProtoSwitchLocal, F: true, Sequence: sequence, IngressTS: 1000,
			Local: report.SwitchLocal{
				SwitchID: node, IngressPort: 1, EgressPort: 2, QueueOccupancy: flow % 1000, EgressTS: 2000 + flow%512,
			},
		}
		return append(v.Append(nil), frame(flow, sequence/uint32(hops), uint8(64-node), 0, nil)...)
	case Form05MD:
		v := report.V05{F: true, Sequence: sequence, IngressTS: 1000}
		return append(v.Append(nil), frame(flow, sequence, 62, 0x17, stack05(hops, flow))...)
	case Form10MD:
		v := report.V10{Length: 4, F: true, SwitchID: node, Sequence: sequence, IngressTS: 1000}
		return append(v.Append(nil), frame(flow, sequence, 62, 0x17, stack10(hops, flow))...)
	case Form20XD, Form20MX:
		node = 1 + sequence%uint32(hops)
		b = group(node, sequence)
		var inner []byte
		if form == Form20MX {
			mx := inband.MX{Version: 2, Bitmap: stackBits}
			inner = mx.Append(shim20(inband.TypeMX, 3, flow))
		}
		return append20(b, reportBits, flow, frame(flow, sequence/uint32(hops), uint8(64-node), 0, inner))
	case Form20MD:
		return append20(group(node, sequence), 0, flow, frame(flow, sequence, 62, 0, stack20(hops, flow)))
	case Form20Three:
		b = group(node, sequence)
		for i := range uint32(3) {
			b = append20(b, 0, flow+i, frame(flow+i, sequence, 62, 0, stack20(hops, flow+i)))
		}
		return b
	}
	panic("BUG: unknown form " + string(form))
}

func group(node, sequence uint32) []byte { return appendGroup(nil, node, sequence) }

func appendGroup(b []byte, node, sequence uint32) []byte {
	g := report.Group{Sequence: sequence & (1<<22 - 1), NodeID: node}
	return g.Append(b)
}

// Renumber makes a report of Form20MD, in place, one that node sent about a packet of another flow, with another
// sequence number. The packet begins its way at ns; what else its stack says of hops stays.
func Renumber(b []byte, node, flow, sequence uint32, ns uint64) {
	const ipAt, hopLen = 8 + 4 + 14, 32 // behind group header, first word of the report, and Ethernet
	appendGroup(b[:0], node, sequence)
	var ip packet.IPv4
	var udp packet.UDP
	n, err := ip.Decode(b[ipAt:])
	if err == nil {
		_, err = udp.Decode(b[ipAt+n:])
	}
	if err != nil {
		panic("BUG: this is no report of " + string(Form20MD))
	}
	ip.ID = uint16(sequence)
	number(&ip, &udp, flow)
	udp.Append(ip.Append(b[:ipAt]))
	end := ipAt + int(ip.TotalLength) - payload
	binary.BigEndian.PutUint64(b[end:], uint64(sequence))
	for hop := b[ipAt+20+8+4+12 : end]; len(hop) >= hopLen; hop = hop[hopLen:] {
		in := ns + 10_000*uint64(binary.BigEndian.Uint32(hop))
		stay := binary.BigEndian.Uint64(hop[24:]) - binary.BigEndian.Uint64(hop[16:])
		binary.BigEndian.PutUint64(hop[16:], in)
		binary.BigEndian.PutUint64(hop[24:], in+stay)
	}
}

// number gives a packet the addresses and ports of flow number flow.
func number(ip *packet.IPv4, udp *packet.UDP, flow uint32) {
	udp.SrcPort = uint16(1024 + flow>>16)
	ip.Src, ip.Dst = [4]byte{10, 1, byte(flow >> 8), byte(flow)}, [4]byte{10, 2, byte(flow >> 8), byte(flow)}
	ip.Checksum = ip.HeaderChecksum()
}

func append20(b []byte, bits uint16, flow uint32, fragment []byte) []byte {
	for len(fragment)%4 != 0 {
		fragment = append(fragment, 0)
	}
	v := report.V20{InType: report.InEthernet, F: true, Inner: fragment, ReportLength: uint8(len(fragment) / 4)}
	if bits != 0 {
		v.RepType = report.RepINT
		v.RepMdBits, v.MDLength = bits, 7
		v.ReportLength += 2 + 7
		v.Metadata = report.Metadata{
			Bits: bits, IngressPort: 1, EgressPort: 2, HopLatency: 1000 + flow%512, QueueOccupancy: flow % 1000,
			IngressTS: 1000, EgressTS: 2000 + uint64(flow%512),
		}
	}
	return v.Append(b)
}

// Packet makes the Ethernet frame of a packet of which Report tells, without INT.
func Packet(flow, id uint32) []byte { return frame(flow, id, 63, 0, nil) }

const payload = 18 // bytes of a packet

// frame is an Ethernet frame with a UDP packet of the flow, INT between UDP header and payload.
func frame(flow, id uint32, ttl, dscp uint8, in []byte) []byte {
	udp := packet.UDP{DstPort: 4000, Length: uint16(8 + len(in) + payload)}
	if len(in) > 0 && in[0]>>4 != 0 {
		udp.DstPort = INTPort
	}
	ip := packet.IPv4{
		IHL: 5, DSCP: dscp, TotalLength: 20 + udp.Length, ID: uint16(id), TTL: ttl, Protocol: packet.ProtoUDP,
	}
	number(&ip, &udp, flow)
	eth := packet.Ethernet{
		Dst: [6]byte{2, 0, 0, 0, 2, 2}, Src: [6]byte{2, 0, 0, 0, 1, 1},
		EtherType: packet.EtherTypeIPv4,
	}
	b := udp.Append(ip.Append(eth.Append(nil)))
	b = append(b, in...)
	b = binary.BigEndian.AppendUint64(b, uint64(id))
	return append(b, make([]byte, payload-8)...)
}

func shim20(kind uint8, words int, _ uint32) []byte {
	shim := inband.ShimL4{Type: kind, NPT: inband.NPTDstPort, Length: uint8(words), DstPort: 4000}
	return shim.Append(nil)
}

func stack20(hops int, flow uint32) []byte {
	l := inband.NewLayout(inband.Format20, stackBits)
	b := shim20(inband.TypeMD, 3+hops*l.Len()/4, flow)
	md := inband.MD{Version: 2, HopML: uint8(l.Len() / 4), RemainingHopCount: 8, Bitmap: stackBits}
	return records(md.Append(b), &l, hops, flow)
}

func stack10(hops int, flow uint32) []byte {
	l := inband.NewLayout(inband.Format10, stackBits)
	shim := inband.ShimL4Old{Type: inband.TypeHopByHop, Length: uint8(3 + hops*l.Len()/4)}
	h := inband.Header10{Version: 1, HopML: uint8(l.Len() / 4), RemainingHopCount: 8, Bitmap: stackBits}
	return records(h.Append(shim.Append(nil)), &l, hops, flow)
}

func stack05(hops int, flow uint32) []byte {
	l := inband.NewLayout(inband.Format05, stackBits)
	shim := inband.ShimL4Old{Type: inband.TypeHopByHop, Length: uint8(4 + hops*l.Len()/4)}
	h := inband.Header05{InstructionCount: 6, MaxHopCount: 8, TotalHopCount: uint8(hops), Bitmap: stackBits}
	tail := inband.Tail05{Proto: packet.ProtoUDP, DstPort: 4000}
	return tail.Append(records(h.Append(shim.Append(nil)), &l, hops, flow))
}

func records(b []byte, l *inband.Layout, hops int, flow uint32) []byte {
	for node := hops; node >= 1; node-- {
		m := inband.Metadata{
			Has: inband.NodeID | inband.L1Ingress | inband.L1Egress | inband.HopLatency | inband.QueueID |
				inband.QueueOccupancy |
				inband.IngressTS | inband.EgressTS,
			NodeID: uint32(node), L1Ingress: 1, L1Egress: 2, HopLatency: 1000 + flow%512, QueueOccupancy: flow % 1000,
			IngressTS: uint64(node) * 10000, EgressTS: uint64(node)*10000 + 1000 + uint64(flow%512),
		}
		b = l.Append(b, &m)
	}
	return b
}
