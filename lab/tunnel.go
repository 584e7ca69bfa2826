//go:build linux

package lab

import (
	"net/netip"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/wire/packet"
)

// A tunnel is what the packets of a flow are in: the hosts are its ends, and send UDP with its header, as their kernels
// would if they had interfaces for it. The packets in it have the hosts' addresses, and ports of their own.
type tunnel struct {
	name   string // in the truth
	port   uint16
	header func(vni uint32) []byte
}

// tunnels are those of scenarios, by name.
var tunnels = map[string]*tunnel{
	"vxlan": {"vxlan", packet.PortVXLAN, func(vni uint32) []byte {
		h := packet.VXLAN{Flags: packet.VXLANFlagI, VNI: vni}
		return h.Append(nil)
	}},
	"vxlan_gpe": {"vxlan-gpe", packet.PortVXLANGPE, func(vni uint32) []byte {
		h := packet.VXLANGPE{
			Flags: packet.VXLANFlagI | packet.VXLANFlagP, NextProtocol: packet.NextEthernet, VNI: vni,
		}
		return h.Append(nil)
	}},
	"geneve": {"geneve", packet.PortGeneve, func(vni uint32) []byte {
		h := packet.Geneve{Protocol: packet.EtherTypeTEB, VNI: vni}
		return h.Append(nil)
	}},
}

const ethernetLen, udpLen = 14, 8

// inner returns the key that packets of a flow from a port to another one have in the tunnel.
func (t *talk) inner(from, to netip.AddrPort) *truth.Inner {
	if t.tunnel == nil {
		return nil
	}
	return &truth.Inner{
		Tunnel: t.tunnel.name, VNI: t.vni, Src: from.Addr().String(), Dst: to.Addr().String(),
		Protocol: packet.ProtoUDP, SrcPort: from.Port(), DstPort: t.port,
	}
}

// wrap returns what a datagram begins with that has a packet of UDP with length bytes of payload in the tunnel. That
// packet has no checksum, for nobody takes it out.
func (t *talk) wrap(from, to netip.AddrPort, length int) (b []byte) {
	if t.tunnel == nil {
		return nil
	}
	b = t.tunnel.header(t.vni)
	eth := packet.Ethernet{Dst: [6]byte{2, 5: 2}, Src: [6]byte{2, 5: 1}, EtherType: packet.EtherTypeIPv4}
	udp := packet.UDP{SrcPort: from.Port(), DstPort: t.port, Length: uint16(udpLen + length)}
	if from.Addr().Is6() {
		eth.EtherType = packet.EtherTypeIPv6
		b = eth.Append(b)
		h := packet.IPv6{
			PayloadLength: udp.Length, NextHeader: packet.ProtoUDP, HopLimit: 64, Src: from.Addr().As16(),
			Dst: to.Addr().As16(),
		}
		b = h.Append(b)
		return udp.Append(b)
	}
	b = eth.Append(b)
	h := packet.IPv4{
		IHL: 5, TotalLength: 20 + udp.Length, DF: true, TTL: 64, Protocol: packet.ProtoUDP, Src: from.Addr().As4(),
		Dst: to.Addr().As4(),
	}
	h.Checksum = h.HeaderChecksum()
	return udp.Append(h.Append(b))
}

// unwrap returns the payload of the packet of UDP that one to a UDP port has in a tunnel, for captures.
func unwrap(port uint16, b []byte) (payload []byte, ok bool) {
	const header, gpeINT = 8, 4
	at := header
	switch {
	case len(b) < header:
		return nil, false
	case port == packet.PortGeneve:
		at += 4 * int(b[0]&0x3F) // the options are INT: hosts send none
	case port == packet.PortVXLANGPE:
		for next := b[3]; next != packet.NextEthernet; at += gpeINT {
			if len(b) < at+gpeINT {
				return nil, false
			}
			shim := b[at:]
			next = shim[3]
			if shim[0]>>4 == 0 { // up to 1.0 it counts itself
				at += 4*int(shim[2]) - gpeINT
			} else {
				at += 4 * int(shim[1])
			}
		}
	}
	at += ethernetLen
	if len(b) < at+20 {
		return nil, false
	}
	switch b[at] >> 4 {
	case 4:
		at += 4 * int(b[at]&15)
	case 6:
		at += 40
	}
	if at += udpLen; len(b) < at {
		return nil, false
	}
	return b[at:], true
}

// isTunnel says whether packets to a UDP port are in a tunnel.
func isTunnel(port uint16) bool {
	return port == packet.PortVXLAN || port == packet.PortVXLANGPE || port == packet.PortGeneve
}
