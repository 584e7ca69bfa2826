package fabric

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/packet"
)

// A segment is what one packet says, whatever carries it.
type segment struct {
	flags    uint8 // of TCP
	seq, ack uint32
	window   uint16
	options  []byte // of TCP

	length  int    // bytes of payload to send
	payload []byte // that was received; a view
}

const (
	udpLen    = 8
	tcpLen    = 20
	tunnelLen = 8 // of VXLAN and VXLAN-GPE, and of Geneve without options
)

const gpeFlags = packet.VXLANFlagI | packet.VXLANFlagP

// headerLen returns the bytes of all headers of a flow's packets without TCP options, Ethernet not counted.
func (fl *flow) headerLen() int {
	n := ipv4Len
	if fl.v6 {
		n = ipv6Len
	}
	inner := n + tcpLen
	if fl.protocol != packet.ProtoTCP {
		inner = n + udpLen // as long as the header of an ICMP echo, and of IPv6 for a fragment
	}
	if fl.tunnel == noTunnel {
		return inner
	}
	return n + udpLen + tunnelLen + ethernetLen + inner
}

// build appends a packet to b, which is empty: real headers with right checksums. Its payload begins with the number of
// the flow (4 bytes) and of the packet (8) as far as they fit, and is zero from there.
func (fl *flow) build(b []byte, s *segment, id uint64) []byte {
	l4Len := udpLen + s.length
	if fl.protocol == packet.ProtoTCP {
		l4Len = tcpLen + len(s.options) + s.length
	}
	src, dst := fl.ends()
	gateway := &fl.src.out().peer.mac
	if fl.tunnel == noTunnel {
		b = fl.appendEthernet(b, &src.mac, gateway)
		b = fl.appendIP(b, src, dst, fl.protocol, l4Len)
		switch {
		case fl.isFragment:
			return fl.appendFragment(b, s, id)
		case fl.protocol != packet.ProtoTCP && fl.protocol != packet.ProtoUDP:
			return fl.appendEcho(b, s, id)
		}
		return fl.appendL4(b, s, id)
	}
	ipLen := ipv4Len
	if fl.v6 {
		ipLen = ipv6Len
	}
	outerLen := udpLen + tunnelLen + ethernetLen + ipLen + l4Len
	b = fl.appendEthernet(b, &fl.src.mac, gateway)
	b = fl.appendIP(b, &fl.src.address, &fl.dst.address, packet.ProtoUDP, outerLen)
	start := len(b)
	b = fl.appendTunnel(b, outerLen)
	b = fl.appendEthernet(b, &src.mac, &dst.mac)
	b = fl.appendIP(b, src, dst, fl.protocol, l4Len)
	b = fl.appendL4(b, s, id)
	if fl.v6 { // over IPv4 the outer checksum is zero (RFC 7348 §5, RFC 8926 §3.3)
		sum := packet.Sum(b[start:], packet.PseudoIPv6(fl.src.v6, fl.dst.v6, packet.ProtoUDP, outerLen))
		binary.BigEndian.PutUint16(b[start+6:], packet.UDPChecksum(^packet.Fold(sum)))
	}
	return b
}

// appendTunnel appends the UDP header of the tunnel, without checksum, and the header behind it.
func (fl *flow) appendTunnel(b []byte, length int) []byte {
	udp := packet.UDP{SrcPort: fl.outerPort, DstPort: fl.tunnel.port(), Length: uint16(length)}
	b = udp.Append(b)
	switch fl.tunnel {
	case vxlan:
		h := packet.VXLAN{Flags: packet.VXLANFlagI, VNI: fl.vni}
		return h.Append(b)
	case vxlanGPE:
		h := packet.VXLANGPE{Flags: gpeFlags, NextProtocol: packet.NextEthernet, VNI: fl.vni}
		return h.Append(b)
	}
	h := packet.Geneve{Protocol: packet.EtherTypeTEB, VNI: fl.vni}
	return h.Append(b)
}

func (fl *flow) appendEthernet(b []byte, src, dst *[6]byte) []byte {
	h := packet.Ethernet{Dst: *dst, Src: *src, EtherType: packet.EtherTypeIPv4}
	if fl.v6 {
		h.EtherType = packet.EtherTypeIPv6
	}
	return h.Append(b)
}

func (fl *flow) appendIP(b []byte, src, dst *address, protocol uint8, length int) []byte {
	if fl.v6 {
		if fl.isFragment {
			protocol = packet.ProtoFragment
		}
		h := packet.IPv6{
			DSCP: fl.dscp, FlowLabel: uint32(mix(uint64(fl.id))) & 0xfffff, PayloadLength: uint16(length),
			NextHeader: protocol, HopLimit: fl.ttl, Src: src.v6, Dst: dst.v6,
		}
		return h.Append(b)
	}
	h := packet.IPv4{
		IHL: 5, DSCP: fl.dscp, TotalLength: uint16(ipv4Len + length), ID: fl.src.nextID, DF: true,
		TTL: fl.ttl, Protocol: protocol, Src: src.v4, Dst: dst.v4,
	}
	fl.src.nextID++
	if fl.isFragment {
		h.DF, h.FragmentOffset = false, fragmentOffset
	}
	h.Checksum = h.HeaderChecksum()
	return h.Append(b)
}

// appendL4 appends the TCP or UDP header and the payload, and their checksum.
func (fl *flow) appendL4(b []byte, s *segment, id uint64) []byte {
	start, field := len(b), 6
	if fl.protocol == packet.ProtoUDP {
		h := packet.UDP{SrcPort: fl.srcPort, DstPort: fl.dstPort, Length: uint16(udpLen + s.length)}
		b = h.Append(b)
	} else {
		h := packet.TCP{
			SrcPort: fl.srcPort, DstPort: fl.dstPort, Seq: s.seq, Ack: s.ack,
			DataOffset: uint8(tcpLen+len(s.options)) / 4, Flags: s.flags, Window: s.window, Options: s.options,
		}
		b, field = h.Append(b), 16
	}
	b = fl.appendPayload(b, s.length, id)
	checksum := ^packet.Fold(packet.Sum(b[start:], fl.pseudo(len(b)-start)))
	if fl.protocol == packet.ProtoUDP {
		checksum = packet.UDPChecksum(checksum)
	}
	binary.BigEndian.PutUint16(b[start+field:], checksum)
	return b
}

// appendEcho appends an ICMP echo request (RFC 792, RFC 4443 §4.1), whose sequence number is that of the packet.
func (fl *flow) appendEcho(b []byte, s *segment, id uint64) []byte {
	h := packet.ICMP{Type: echoRequest, Rest: fl.id<<16 | uint32(uint16(id))}
	sum := uint32(0)
	if fl.v6 {
		h.Type, sum = echoRequest6, fl.pseudo(udpLen+s.length)
	}
	start := len(b)
	b = fl.appendPayload(h.Append(b), s.length, id)
	binary.BigEndian.PutUint16(b[start+2:], ^packet.Fold(packet.Sum(b[start:], sum)))
	return b
}

const echoRequest, echoRequest6 = 8, 128

// fragmentOffset is where the fragments of a flood claim to begin, in units of 8 bytes: nobody sends the others.
const fragmentOffset = 185

// appendFragment appends what a fragment other than the first has: no ports.
func (fl *flow) appendFragment(b []byte, s *segment, id uint64) []byte {
	if !fl.v6 {
		return fl.appendPayload(b, udpLen+s.length, id)
	}
	h := packet.IPv6Fragment{NextHeader: fl.protocol, Offset: fragmentOffset, ID: uint32(id)}
	return fl.appendPayload(h.Append(b), s.length, id)
}

// pseudo returns the sum of the pseudo header of what the hosts speak.
func (fl *flow) pseudo(length int) uint32 {
	src, dst := fl.ends()
	if fl.v6 {
		return packet.PseudoIPv6(src.v6, dst.v6, fl.protocol, length)
	}
	return packet.PseudoIPv4(src.v4, dst.v4, fl.protocol, length)
}

func (fl *flow) appendPayload(b []byte, length int, id uint64) []byte {
	var stamp [12]byte
	binary.BigEndian.PutUint32(stamp[:], fl.id)
	binary.BigEndian.PutUint64(stamp[4:], id)
	n := len(b)
	b = b[:n+length] // there is room: packet buffers hold the largest MTU
	clear(b[n+copy(b[n:], stamp[:]):])
	return b
}
