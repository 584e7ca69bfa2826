package export

import "github.com/waybill-int/waybill/wire/packet"

// AppendFrame appends the Ethernet frame of d, without frame check sequence, as it would leave the node.
func (e *Exporter) AppendFrame(b []byte, d *Datagram) []byte {
	c := &e.config
	eth := packet.Ethernet{Dst: c.Frame.DstMAC, Src: c.Frame.SrcMAC, EtherType: packet.EtherTypeIPv6}
	destination := c.Destinations[d.Destination]
	length := udpLen + len(d.Payload)
	udp := packet.UDP{SrcPort: d.SourcePort, DstPort: destination.Port(), Length: uint16(length)}
	var pseudo uint32
	if c.Source.Is4() {
		eth.EtherType = packet.EtherTypeIPv4
		ip := packet.IPv4{
			IHL: 5, DSCP: c.Frame.DSCP, TotalLength: uint16(ipv4Len + length), ID: d.IPID, DF: d.DF, TTL: c.Frame.TTL,
			Protocol: packet.ProtoUDP, Src: c.Source.As4(), Dst: destination.Addr().As4(),
		}
		ip.Checksum = ip.HeaderChecksum()
		b = ip.Append(eth.Append(b))
		pseudo = packet.PseudoIPv4(ip.Src, ip.Dst, packet.ProtoUDP, length)
	} else {
		ip := packet.IPv6{
			DSCP: c.Frame.DSCP, PayloadLength: uint16(length), NextHeader: packet.ProtoUDP, HopLimit: c.Frame.TTL,
			Src: c.Source.As16(), Dst: destination.Addr().As16(),
		}
		b = ip.Append(eth.Append(b))
		pseudo = packet.PseudoIPv6(ip.Src, ip.Dst, packet.ProtoUDP, length)
	}
	if c.Frame.Checksum || !c.Source.Is4() {
		var header [udpLen]byte
		sum := packet.Sum(udp.Append(header[:0]), pseudo)
		udp.Checksum = packet.UDPChecksum(^packet.Fold(packet.Sum(d.Payload, sum)))
	}
	return append(udp.Append(b), d.Payload...)
}
