// Package packets makes packets of every kind, as tests of INT nodes meet them.
package packets

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/waybill-int/waybill/wire/packet"
)

// A Kind is what a test packet has behind its outermost IP header.
type Kind int

const (
	UDP Kind = iota
	UDPNoChecksum
	TCP
	ICMP
	ESP
	AH
	VXLAN
	GPE
	Geneve
	GRE
	IPIP
	Other
	NumKinds
)

func (k Kind) String() string {
	return [...]string{
		"udp", "udp without checksum", "tcp", "icmp", "esp", "ah", "vxlan", "vxlan-gpe", "geneve", "gre",
		"ip in ip", "other",
	}[k]
}

// A Shape says how a test packet is to look.
type Shape struct {
	Kind       Kind
	IPv6       bool
	Tags       int // VLAN tags
	Labels     int // MPLS labels
	IPOptions  bool
	TCPOptions int // bytes, a multiple of 4
	DSCP       uint8
	Port       uint16 // destination port of TCP or UDP; 0: 6001
	Payload    int
	Padding    int // bytes behind the IP packet
	Fragment   bool
}

// Random returns any shape.
func Random(r *rand.Rand) Shape {
	return Shape{
		Kind: Kind(r.IntN(int(NumKinds))), IPv6: r.IntN(3) == 0, Tags: r.IntN(3), Labels: max(0, r.IntN(12)-9),
		IPOptions: r.IntN(4) == 0, TCPOptions: 4 * r.IntN(11),
		DSCP: uint8(r.IntN(64)), Payload: r.IntN(100) * r.IntN(10), Padding: max(0, r.IntN(30)-20),
		Fragment: r.IntN(20) == 0,
	}
}

// Frame builds a packet with right checksums.
func (s Shape) Frame(r *rand.Rand) []byte {
	eth := packet.Ethernet{Dst: [6]byte{2, 0, 0, 0, 2, 2}, Src: [6]byte{2, 0, 0, 0, 1, 1}, EtherType: s.etherType()}
	if s.Labels > 0 {
		eth.EtherType = packet.EtherTypeMPLS
	}
	final := eth.EtherType
	if s.Tags > 0 {
		eth.EtherType = packet.EtherTypeVLAN
	}
	b := eth.Append(nil)
	for i := range s.Tags {
		tag := packet.VLAN{PCP: 5, ID: uint16(100 + i), EtherType: packet.EtherTypeVLAN}
		if i == s.Tags-1 {
			tag.EtherType = final
		}
		b = tag.Append(b)
	}
	for i := range s.Labels {
		label := packet.MPLS{Label: uint32(16 + i), Bottom: i == s.Labels-1, TTL: 64}
		b = label.Append(b)
	}
	b = s.AppendIP(b, r)
	for range s.Padding {
		b = append(b, byte(r.Uint32()))
	}
	return b
}

func (s Shape) etherType() uint16 {
	if s.IPv6 {
		return packet.EtherTypeIPv6
	}
	return packet.EtherTypeIPv4
}

// inner is a packet inside a tunnel.
func inner(r *rand.Rand) Shape {
	return Shape{
		Kind: Kind(r.IntN(int(ICMP) + 1)), IPv6: r.IntN(2) == 0, TCPOptions: 4 * r.IntN(3),
		Payload: r.IntN(100),
	}
}

// Bytes returns n random bytes.
func Bytes(r *rand.Rand, n int) []byte {
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(r.Uint32())
	}
	return b
}

// AppendIP appends an IP packet.
func (s Shape) AppendIP(b []byte, r *rand.Rand) []byte {
	if s.IPv6 {
		return s.appendIPv6(b, r)
	}
	h := packet.IPv4{
		IHL: 5, DSCP: s.DSCP, ECN: uint8(r.IntN(4)), ID: uint16(r.Uint32()), DF: r.IntN(2) == 0, MF: s.Fragment,
		TTL: uint8(1 + r.IntN(255)),
		Src: [4]byte{10, 0, 1, byte(r.Uint32())}, Dst: [4]byte{10, 0, 2, byte(r.Uint32())},
	}
	if s.IPOptions {
		h.Options = []byte{0x94, 4, 0, 0} // router alert
		h.IHL = 6
	}
	protocol,
		segment := s.segment(r,
		func(protocol uint8, n int) uint32 { return packet.PseudoIPv4(h.Src, h.Dst, protocol, n) })
	h.Protocol, h.TotalLength = protocol, uint16(h.Len()+len(segment))
	h.Checksum = h.HeaderChecksum()
	return append(h.Append(b), segment...)
}

func (s Shape) appendIPv6(b []byte, r *rand.Rand) []byte {
	h := packet.IPv6{
		DSCP: s.DSCP, ECN: uint8(r.IntN(4)), FlowLabel: r.Uint32() & 0xFFFFF, HopLimit: uint8(1 + r.IntN(255)),
		Src: [16]byte{0x20, 1, 0xd, 0xb8, 15: byte(r.Uint32())},
		Dst: [16]byte{0x20, 1, 0xd, 0xb8, 14: 1, 15: byte(r.Uint32())},
	}
	protocol,
		segment := s.segment(r,
		func(protocol uint8, n int) uint32 { return packet.PseudoIPv6(h.Src, h.Dst, protocol, n) })
	var extensions []byte
	if s.Fragment {
		f := packet.IPv6Fragment{NextHeader: protocol, More: true, ID: r.Uint32()}
		extensions, protocol = f.Append(nil), packet.ProtoFragment
	}
	if s.IPOptions { // destination options, hop-by-hop options
		extensions = append([]byte{protocol, 1, 1, 12, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, extensions...)
		extensions = append([]byte{packet.ProtoDestOptions, 0, 5, 2, 0, 0, 1, 0}, extensions...)
		protocol = packet.ProtoHopByHop
	}
	h.NextHeader, h.PayloadLength = protocol, uint16(len(extensions)+len(segment))
	return append(append(h.Append(b), extensions...), segment...)
}

// segment returns what stands behind the IP header, and its protocol.
func (s Shape) segment(r *rand.Rand, pseudo func(uint8, int) uint32) (uint8, []byte) {
	payload := Bytes(r, s.Payload)
	port := s.Port
	if port == 0 {
		port = 6001
	}
	switch s.Kind {
	case UDP, UDPNoChecksum:
		return packet.ProtoUDP, s.udp(5001, port, payload, pseudo)
	case TCP:
		return packet.ProtoTCP, s.tcp(r, port, payload, pseudo)
	case ICMP:
		h := packet.ICMP{Type: 8, Rest: r.Uint32()}
		return packet.ProtoICMP, append(h.Append(nil), payload...)
	case ESP:
		return packet.ProtoESP, append(Bytes(r, 16), payload...)
	case AH:
		h := packet.IPv6Auth{NextHeader: packet.ProtoSCTP, PayloadLen: 4, SPI: 7, Sequence: 1, ICV: Bytes(r, 12)}
		return packet.ProtoAH, append(h.Append(nil), sctp(r, port, payload)...)
	case VXLAN:
		h := packet.VXLAN{Flags: packet.VXLANFlagI, VNI: 0xbeef}
		return packet.ProtoUDP, s.udp(50001, packet.PortVXLAN, inner(r).AppendEthernet(h.Append(nil), r), pseudo)
	case GPE:
		h := packet.VXLANGPE{
			Flags: packet.VXLANFlagI | packet.VXLANFlagP, NextProtocol: packet.NextEthernet,
			VNI: 0xbeef,
		}
		if r.IntN(2) == 0 {
			h.NextProtocol = packet.NextIPv4
			in := inner(r)
			in.IPv6 = false
			return packet.ProtoUDP, s.udp(50001, packet.PortVXLANGPE, in.AppendIP(h.Append(nil), r), pseudo)
		}
		return packet.ProtoUDP, s.udp(50001, packet.PortVXLANGPE, inner(r).AppendEthernet(h.Append(nil), r), pseudo)
	case Geneve:
		h := packet.Geneve{Protocol: packet.EtherTypeTEB, VNI: 0xbeef}
		for range r.IntN(3) {
			o := packet.GeneveOption{Class: 0x0199, Type: 0x21, Length: 2, Data: Bytes(r, 8)}
			h.Options = o.Append(h.Options)
		}
		h.OptLen = uint8(len(h.Options) / 4)
		return packet.ProtoUDP, s.udp(50001, packet.PortGeneve, inner(r).AppendEthernet(h.Append(nil), r), pseudo)
	case GRE:
		return packet.ProtoGRE, gre(r)
	case IPIP:
		in := inner(r)
		b := in.AppendIP(nil, r)
		if in.IPv6 {
			return packet.ProtoIPv6, b
		}
		return packet.ProtoIPv4, b
	}
	return packet.ProtoSCTP, sctp(r, port, payload)
}

// sctp returns an SCTP packet without a right checksum, which nothing here reads.
func sctp(r *rand.Rand, port uint16, payload []byte) []byte {
	h := packet.SCTP{SrcPort: 49153, DstPort: port, VerificationTag: r.Uint32()}
	return append(h.Append(nil), payload...)
}

// AppendEthernet appends s in an Ethernet frame without padding.
func (s Shape) AppendEthernet(b []byte, r *rand.Rand) []byte { return append(b, s.Frame(r)...) }

// udp returns a UDP segment. A tunnel has a checksum in every second packet.
func (s Shape) udp(src, dst uint16, payload []byte, pseudo func(uint8, int) uint32) []byte {
	h := packet.UDP{SrcPort: src, DstPort: dst, Length: uint16(8 + len(payload))}
	b := append(h.Append(nil), payload...)
	if s.Kind != UDPNoChecksum && (s.Kind == UDP || len(payload)%2 == 0) {
		sum := packet.UDPChecksum(^packet.Fold(packet.Sum(b, pseudo(packet.ProtoUDP, len(b)))))
		binary.BigEndian.PutUint16(b[6:], sum)
	}
	return b
}

func (s Shape) tcp(r *rand.Rand, port uint16, payload []byte, pseudo func(uint8, int) uint32) []byte {
	h := packet.TCP{
		SrcPort: 49152, DstPort: port, Seq: r.Uint32(), DataOffset: uint8(5 + s.TCPOptions/4), Flags: 0x18,
		Window: 512, Options: make([]byte, s.TCPOptions),
	}
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
	h := packet.GRE{
		HasChecksum: r.IntN(2) == 0, HasKey: r.IntN(2) == 0, HasSequence: r.IntN(2) == 0,
		Protocol: in.etherType(),
	}
	if h.HasKey {
		h.Key = r.Uint32()
	}
	if h.HasSequence {
		h.Sequence = r.Uint32()
	}
	b := in.AppendIP(h.Append(nil), r)
	if h.HasChecksum {
		binary.BigEndian.PutUint16(b[4:], ^packet.Fold(packet.Sum(b, 0)))
	}
	return b
}
