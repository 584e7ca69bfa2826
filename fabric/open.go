package fabric

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/packet"
)

// open reads a packet of fl as its receiver does, and says what it carries. It is false if a network stack would refuse
// it: a telemetry device that damages packets, or leaves its headers in them, is found out here.
func (fl *flow) open(frame []byte, s *segment) bool {
	src, dst := fl.ends()
	gateway := &fl.dst.out().peer.mac
	if fl.tunnel == noTunnel {
		l4, ok := fl.openIP(frame, &dst.mac, gateway, src, dst, fl.protocol)
		return ok && fl.openL4(l4, s)
	}
	b, ok := fl.openIP(frame, &fl.dst.mac, gateway, &fl.src.address, &fl.dst.address, packet.ProtoUDP)
	if !ok {
		return false
	}
	if b, ok = fl.openTunnel(b); !ok {
		return false
	}
	b, ok = fl.openIP(b, &dst.mac, &src.mac, src, dst, fl.protocol)
	return ok && fl.openL4(b, s)
}

// openIP returns what follows the Ethernet and IP headers.
func (fl *flow) openIP(b []byte, to, from *[6]byte, src, dst *address, protocol uint8) ([]byte, bool) {
	var eth packet.Ethernet
	n, err := eth.Decode(b)
	if err != nil || eth.Dst != *to || eth.Src != *from {
		return nil, false
	}
	b = b[n:]
	if fl.v6 {
		var ip packet.IPv6
		n, err := ip.Decode(b)
		return b[n:], eth.EtherType == packet.EtherTypeIPv6 && err == nil && int(ip.PayloadLength) == len(b)-n &&
			ip.NextHeader == protocol && ip.Src == src.v6 && ip.Dst == dst.v6
	}
	var ip packet.IPv4
	n, err = ip.Decode(b)
	return b[n:], eth.EtherType == packet.EtherTypeIPv4 && err == nil && int(ip.TotalLength) == len(b) &&
		ip.Protocol == protocol && ip.Src == src.v4 && ip.Dst == dst.v4 && packet.Fold(packet.Sum(b[:n], 0)) == 0xffff
}

// openTunnel returns what follows the UDP and the tunnel header.
func (fl *flow) openTunnel(b []byte) ([]byte, bool) {
	var udp packet.UDP
	n, err := udp.Decode(b)
	if err != nil || udp.SrcPort != fl.outerPort || udp.DstPort != fl.tunnel.port() || int(udp.Length) != len(b) {
		return nil, false
	}
	if fl.v6 {
		sum := packet.Sum(b, packet.PseudoIPv6(fl.src.v6, fl.dst.v6, packet.ProtoUDP, len(b)))
		if packet.Fold(sum) != 0xffff {
			return nil, false
		}
	}
	b = b[n:]
	switch fl.tunnel {
	case vxlan:
		var h packet.VXLAN
		n, err := h.Decode(b)
		return b[n:], err == nil && h.VNI == fl.vni
	case vxlanGPE:
		var h packet.VXLANGPE
		n, err := h.Decode(b)
		return b[n:], err == nil && h == packet.VXLANGPE{
			Flags: gpeFlags, NextProtocol: packet.NextEthernet, VNI: fl.vni,
		}
	}
	var h packet.Geneve
	n, err = h.Decode(b)
	return b[n:], err == nil && h.VNI == fl.vni && len(h.Options) == 0
}

// openL4 reads the TCP or UDP header.
func (fl *flow) openL4(b []byte, s *segment) bool {
	if packet.Fold(packet.Sum(b, fl.pseudo(len(b)))) != 0xffff {
		return false
	}
	if fl.protocol == packet.ProtoUDP {
		var h packet.UDP
		n, err := h.Decode(b)
		if err != nil || h.SrcPort != fl.srcPort || h.DstPort != fl.dstPort || h.Checksum == 0 {
			return false
		}
		*s = segment{payload: b[n:]}
	} else {
		var h packet.TCP
		n, err := h.Decode(b)
		if err != nil || h.SrcPort != fl.srcPort || h.DstPort != fl.dstPort {
			return false
		}
		*s = segment{flags: h.Flags, seq: h.Seq, ack: h.Ack, window: h.Window, options: h.Options, payload: b[n:]}
	}
	return len(s.payload) < 4 || binary.BigEndian.Uint32(s.payload) == fl.id
}
