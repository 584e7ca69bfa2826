package embed

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// A place is where Insert puts INT into a packet, and what it puts in front of the INT header.
type place uint8

const (
	nowhere     place = iota
	behindL4          // marker, shim; DSCP, destination port or marker
	inNewUDP          // UDP header, shim
	inNewIP           // IP header, UDP header, shim
	behindGPE         // shim
	behindVXLAN       // shim; VXLAN becomes VXLAN-GPE
	inGeneve          // option header
	behindGRE         // shim
	inNewGRE          // IP header, GRE header, shim
)

// place returns where INT goes in p, or nowhere.
func (d *Domain) place(p *Packet) place {
	if !d.hasCarrier() {
		return nowhere
	}
	if d.Carrier == NewUDP {
		return d.placeUDP(p)
	}
	hasL4 := p.sum.of == sumTCP || p.sum.of == sumUDP && !p.badLength
	switch d.Carrier {
	case DSCP, Marker:
		if hasL4 {
			return behindL4
		}
	case DstPort:
		if hasL4 && (p.sum.of == sumUDP || d.Version == inband.Version05) {
			return behindL4
		}
		if p.Protocol != packet.ProtoUDP && d.Version == inband.Version20 {
			return d.placeUDP(p)
		}
	case VXLANGPE:
		return d.placeGPE(p)
	case Geneve:
		if p.tunnel == telemetry.TunnelGeneve && !p.badLength {
			return inGeneve
		}
	case GRE:
		switch {
		case p.tunnel == telemetry.TunnelGRE:
			return behindGRE
		case p.Protocol != packet.ProtoGRE:
			return inNewGRE
		}
	}
	return nowhere
}

// placeUDP decides whether the UDP header gets an IP header in front of it.
func (d *Domain) placeUDP(p *Packet) place {
	if d.NewIP {
		switch p.Protocol {
		case packet.ProtoESP, packet.ProtoAH, packet.ProtoIPv4, packet.ProtoIPv6:
			return inNewIP
		}
	}
	return inNewUDP
}

// placeGPE looks whether VXLAN can be made VXLAN-GPE and back without losing anything.
func (d *Domain) placeGPE(p *Packet) place {
	if p.badLength {
		return nowhere
	}
	switch p.tunnel {
	case telemetry.TunnelVXLANGPE:
		if p.Frame[p.tunnelAt]&packet.VXLANFlagP != 0 {
			return behindGPE
		}
	case telemetry.TunnelVXLAN:
		flags, reserved := p.Frame[p.tunnelAt], p.Frame[p.tunnelAt+gpeNextAt]
		if d.Version == inband.Version20 && flags == packet.VXLANFlagI && reserved == 0 {
			return behindVXLAN
		}
	}
	return nowhere
}

// gpeNextAt is the offset of Next Protocol in the VXLAN-GPE header.
const gpeNextAt = 3

// at returns the offset where INT is inserted.
func (w place) at(d *Domain, p *Packet) int {
	switch w {
	case behindL4:
		if p.sum.of == sumUDP {
			return p.L4 + udpLen
		}
		if d.beforeTCPOptions() && d.Carrier != Marker {
			return p.L4 + tcpLen
		}
		return p.Payload
	case inNewIP, inNewGRE:
		return p.L3
	case behindGPE, behindVXLAN:
		return p.tunnelAt + vxlanLen
	case inGeneve:
		return p.tunnelAt + geneveLen
	case behindGRE:
		return p.Payload
	}
	return p.L4
}

// frontLen returns the bytes that are inserted in front of the INT header.
func (w place) frontLen(d *Domain, p *Packet) int {
	ip := 20
	if p.IPVersion == 6 {
		ip = 40
	}
	const greLen = 4
	switch w {
	case behindL4:
		if d.Carrier == Marker {
			return markerLen + shimLen
		}
	case inNewUDP:
		return udpLen + shimLen
	case inNewIP:
		return ip + udpLen + shimLen
	case inNewGRE:
		return ip + greLen + shimLen
	}
	return shimLen // an option header is as long
}
