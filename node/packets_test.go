package node

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/waybill-int/waybill/wire/packet"
)

// A kind is what a test packet has behind its outermost IP header.
type kind int

const (
	kindUDP kind = iota
	kindUDPNoChecksum
	kindTCP
	kindICMP
	kindESP
	kindAH
	kindVXLAN
	kindGPE
	kindGeneve
	kindGRE
	kindIPIP
	kindOther
	numKinds
)

func (k kind) String() string {
	return [...]string{"udp", "udp without checksum", "tcp", "icmp", "esp", "ah", "vxlan", "vxlan-gpe", "geneve", "gre", "ip in ip", "other"}[k]
}

// A shape says how a test packet is to look.
type shape struct {
	kind       kind
	ipv6       bool
	tags       int // VLAN tags
	labels     int // MPLS labels
	ipOptions  bool
	tcpOptions int // bytes, a multiple of 4
	dscp       uint8
	port       uint16 // destination port of TCP or UDP; 0: 6001
	payload    int
	padding    int // bytes behind the IP packet
	fragment   bool
}

func randomShape(r *rand.Rand) shape {
	return shape{
		kind: kind(r.IntN(int(numKinds))), ipv6: r.IntN(3) == 0, tags: r.IntN(3), labels: max(0, r.IntN(12)-9), ipOptions: r.IntN(4) == 0, tcpOptions: 4 * r.IntN(11),
		dscp: uint8(r.IntN(64)), payload: r.IntN(100) * r.IntN(10), padding: max(0, r.IntN(30)-20), fragment: r.IntN(20) == 0,
	}
}

// frame builds a packet with right checksums.
func (s shape) frame(r *rand.Rand) []byte {
	eth := packet.Ethernet{Dst: [6]byte{2, 0, 0, 0, 2, 2}, Src: [6]byte{2, 0, 0, 0, 1, 1}, EtherType: s.etherType()}
	if s.labels > 0 {
		eth.EtherType = packet.EtherTypeMPLS
	}
	final := eth.EtherType
	if s.tags > 0 {
		eth.EtherType = packet.EtherTypeVLAN
	}
	b := eth.Append(nil)
	for i := range s.tags {
		tag := packet.VLAN{PCP: 5, ID: uint16(100 + i), EtherType: packet.EtherTypeVLAN}
		if i == s.tags-1 {
			tag.EtherType = final
		}
		b = tag.Append(b)
	}
	for i := range s.labels {
		label := packet.MPLS{Label: uint32(16 + i), Bottom: i == s.labels-1, TTL: 64}
		b = label.Append(b)
	}
	b = s.appendIP(b, r)
	for range s.padding {
		b = append(b, byte(r.Uint32()))
	}
	return b
}

func (s shape) etherType() uint16 {
	if s.ipv6 {
		return packet.EtherTypeIPv6
	}
	return packet.EtherTypeIPv4
}

// inner is a packet inside a tunnel.
func inner(r *rand.Rand) shape {
	return shape{kind: kind(r.IntN(int(kindICMP) + 1)), ipv6: r.IntN(2) == 0, tcpOptions: 4 * r.IntN(3), payload: r.IntN(100)}
}

func randomBytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// appendIP appends an IP packet.
func (s shape) appendIP(b []byte, r *rand.Rand) []byte {
	if s.ipv6 {
		return s.appendIPv6(b, r)
	}
	h := packet.IPv4{
		IHL: 5, DSCP: s.dscp, ECN: uint8(r.IntN(4)), ID: uint16(r.Uint32()), DF: r.IntN(2) == 0, MF: s.fragment, TTL: uint8(1 + r.IntN(255)),
		Src: [4]byte{10, 0, 1, byte(r.Uint32())}, Dst: [4]byte{10, 0, 2, byte(r.Uint32())},
	}
	if s.ipOptions {
		h.Options = []byte{0x94, 4, 0, 0} // router alert
		h.IHL = 6
	}
	protocol, segment := s.segment(r, func(protocol uint8, n int) uint32 { return packet.PseudoIPv4(h.Src, h.Dst, protocol, n) })
	h.Protocol, h.TotalLength = protocol, uint16(h.Len()+len(segment))
	h.Checksum = h.HeaderChecksum()
	return append(h.Append(b), segment...)
}

func (s shape) appendIPv6(b []byte, r *rand.Rand) []byte {
	h := packet.IPv6{
		DSCP: s.dscp, ECN: uint8(r.IntN(4)), FlowLabel: r.Uint32() & 0xFFFFF, HopLimit: uint8(1 + r.IntN(255)),
		Src: [16]byte{0x20, 1, 0xd, 0xb8, 15: byte(r.Uint32())}, Dst: [16]byte{0x20, 1, 0xd, 0xb8, 14: 1, 15: byte(r.Uint32())},
	}
	protocol, segment := s.segment(r, func(protocol uint8, n int) uint32 { return packet.PseudoIPv6(h.Src, h.Dst, protocol, n) })
	var extensions []byte
	if s.fragment {
		f := packet.IPv6Fragment{NextHeader: protocol, More: true, ID: r.Uint32()}
		extensions, protocol = f.Append(nil), packet.ProtoFragment
	}
	if s.ipOptions { // destination options, hop-by-hop options
		extensions = append([]byte{protocol, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, extensions...)
		extensions = append([]byte{packet.ProtoDestOptions, 0, 5, 2, 0, 0, 1, 0}, extensions...)
		protocol = packet.ProtoHopByHop
	}
	h.NextHeader, h.PayloadLength = protocol, uint16(len(extensions)+len(segment))
	return append(append(h.Append(b), extensions...), segment...)
}

// segment returns what stands behind the IP header, and its protocol.
func (s shape) segment(r *rand.Rand, pseudo func(uint8, int) uint32) (uint8, []byte) {
	payload := randomBytes(r, s.payload)
	port := s.port
	if port == 0 {
		port = 6001
	}
	switch s.kind {
	case kindUDP, kindUDPNoChecksum:
		return packet.ProtoUDP, s.udp(5001, port, payload, pseudo)
	case kindTCP:
		return packet.ProtoTCP, s.tcp(r, port, payload, pseudo)
	case kindICMP:
		h := packet.ICMP{Type: 8, Rest: r.Uint32()}
		return packet.ProtoICMP, append(h.Append(nil), payload...)
	case kindESP:
		return packet.ProtoESP, append(randomBytes(r, 16), payload...)
	case kindAH:
		h := packet.IPv6Auth{NextHeader: 132, PayloadLen: 4, SPI: 7, Sequence: 1, ICV: randomBytes(r, 12)}
		return packet.ProtoAH, append(h.Append(nil), payload...)
	case kindVXLAN:
		h := packet.VXLAN{Flags: packet.VXLANFlagI, VNI: 0xbeef}
		return packet.ProtoUDP, s.udp(50001, packet.PortVXLAN, inner(r).ethernet(h.Append(nil), r), pseudo)
	case kindGPE:
		h := packet.VXLANGPE{Flags: packet.VXLANFlagI | packet.VXLANFlagP, NextProtocol: packet.NextEthernet, VNI: 0xbeef}
		if r.IntN(2) == 0 {
			h.NextProtocol = packet.NextIPv4
			in := inner(r)
			in.ipv6 = false
			return packet.ProtoUDP, s.udp(50001, packet.PortVXLANGPE, in.appendIP(h.Append(nil), r), pseudo)
		}
		return packet.ProtoUDP, s.udp(50001, packet.PortVXLANGPE, inner(r).ethernet(h.Append(nil), r), pseudo)
	case kindGeneve:
		h := packet.Geneve{Protocol: packet.EtherTypeTEB, VNI: 0xbeef}
		for range r.IntN(3) {
			o := packet.GeneveOption{Class: 0x0199, Type: 0x21, Length: 2, Data: randomBytes(r, 8)}
			h.Options = o.Append(h.Options)
		}
		h.OptLen = uint8(len(h.Options) / 4)
		return packet.ProtoUDP, s.udp(50001, packet.PortGeneve, inner(r).ethernet(h.Append(nil), r), pseudo)
	case kindGRE:
		return packet.ProtoGRE, gre(r)
	case kindIPIP:
		in := inner(r)
		b := in.appendIP(nil, r)
		if in.ipv6 {
			return packet.ProtoIPv6, b
		}
		return packet.ProtoIPv4, b
	}
	return 132, payload // SCTP, which nothing here reads
}

// ethernet appends s in an Ethernet frame without padding.
func (s shape) ethernet(b []byte, r *rand.Rand) []byte { return append(b, s.frame(r)...) }

// udp returns a UDP segment. A tunnel has a checksum in every second packet.
func (s shape) udp(src, dst uint16, payload []byte, pseudo func(uint8, int) uint32) []byte {
	h := packet.UDP{SrcPort: src, DstPort: dst, Length: uint16(8 + len(payload))}
	b := append(h.Append(nil), payload...)
	if s.kind != kindUDPNoChecksum && (s.kind == kindUDP || len(payload)%2 == 0) {
		sum := packet.UDPChecksum(^packet.Fold(packet.Sum(b, pseudo(packet.ProtoUDP, len(b)))))
		binary.BigEndian.PutUint16(b[6:], sum)
	}
	return b
}

func (s shape) tcp(r *rand.Rand, port uint16, payload []byte, pseudo func(uint8, int) uint32) []byte {
	h := packet.TCP{SrcPort: 49152, DstPort: port, Seq: r.Uint32(), DataOffset: uint8(5 + s.tcpOptions/4), Flags: 0x18, Window: 512, Options: make([]byte, s.tcpOptions)}
	for i := range h.Options {
		h.Options[i] = 1 // NOP
	}
	b := append(h.Append(nil), payload...)
	binary.BigEndian.PutUint16(b[16:], ^packet.Fold(packet.Sum(b, pseudo(packet.ProtoTCP, len(b)))))
	return b
}

// gre returns a GRE packet with any of the optional words.
func gre(r *rand.Rand) []byte {
	in := inner(r)
	h := packet.GRE{HasChecksum: r.IntN(2) == 0, HasKey: r.IntN(2) == 0, HasSequence: r.IntN(2) == 0, Protocol: in.etherType()}
	if h.HasKey {
		h.Key = r.Uint32()
	}
	if h.HasSequence {
		h.Sequence = r.Uint32()
	}
	b := in.appendIP(h.Append(nil), r)
	if h.HasChecksum {
		binary.BigEndian.PutUint16(b[4:], ^packet.Fold(packet.Sum(b, 0)))
	}
	return b
}
