package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// appendFront appends what stands in front of the INT header, if all of INT has added bytes. chained says that a
// destination header follows, which is not among them.
func (d *Domain) appendFront(b []byte, p *Packet, where place, added int, chained bool) []byte {
	covered := added - where.frontLen(d, p) // by the shim, without the shim itself
	switch where {
	case behindL4:
		if d.Carrier == Marker {
			b = binary.BigEndian.AppendUint64(b, d.Points.ProbeMarker)
		}
		return d.appendShimL4(b, p, covered)
	case inNewUDP:
		b = d.appendUDP(b, p, p.End-p.L4+added)
		return d.appendShimNew(b, p.Protocol, covered)
	case inNewIP:
		length := p.TotalLength + added
		b = p.appendIP(b, packet.ProtoUDP, length)
		b = d.appendUDP(b, p, length-p.ipLen())
		protocol := uint8(packet.ProtoIPv4)
		if p.IPVersion == 6 {
			protocol = packet.ProtoIPv6
		}
		return d.appendShimNew(b, protocol, covered)
	case behindGPE, behindVXLAN:
		next := where.gpeNext(p)
		if chained {
			next, _ = d.gpeNext()
		}
		return d.appendShimGPE(b, where, d.headerType(), covered, next)
	case inGeneve:
		class, _ := d.geneveClass()
		o := packet.GeneveOption{Class: class, Type: d.headerType(), Length: uint8(covered / 4)}
		return o.Append(b)
	case behindGRE:
		s := inband.ShimGRE{
			Type: d.headerType(), Length: uint8(covered / 4),
			NextProtocol: binary.BigEndian.Uint16(p.Frame[p.L4+2:]),
		}
		return s.Append(b)
	}
	b = p.appendIP(b, packet.ProtoGRE, p.TotalLength+added)
	gre := packet.GRE{Protocol: d.Points.GREProtocol}
	b = gre.Append(b)
	s := inband.ShimGRE{
		Type: d.headerType(), G: true, Length: uint8(covered / 4),
		NextProtocol: etherTypeOf(p.Frame[p.L3:]),
	}
	return s.Append(b)
}

// headerType returns the type of the header that sources insert.
func (d *Domain) headerType() uint8 {
	if d.Mode == MX {
		return inband.TypeMX
	}
	return inband.TypeMD // which is TypeHopByHop too
}

func (d *Domain) appendShimL4(b []byte, p *Packet, covered int) []byte {
	if d.Version != inband.Version20 {
		s := inband.ShimL4Old{Type: inband.TypeHopByHop, Length: uint8((covered + shimLen) / 4)}
		if d.Version == inband.Version10 {
			s.DSCP = d.cleaned(p.DSCP)
		}
		return s.Append(b)
	}
	s := inband.ShimL4{Type: d.headerType(), NPT: inband.NPTDSCP, Length: d.shimWords(covered)}
	if d.Carrier == DstPort {
		s.NPT, s.DstPort = inband.NPTDstPort, binary.BigEndian.Uint16(p.Frame[p.L4+2:])
	} else {
		s.DSCP = d.cleaned(p.DSCP)
	}
	return s.Append(b)
}

// appendShimNew appends the shim behind a new UDP header, in front of a header of the given protocol.
func (d *Domain) appendShimNew(b []byte, protocol uint8, covered int) []byte {
	s := inband.ShimL4{Type: d.headerType(), NPT: inband.NPTProtocol, Length: d.shimWords(covered), Protocol: protocol}
	return s.Append(b)
}

// shimWords returns Length of an L4 shim of INT 2.x.
func (d *Domain) shimWords(covered int) uint8 {
	if d.has(codepoint.QuirkShimCountsItself) {
		covered += shimLen
	}
	return uint8(covered / 4)
}

// gpeNext returns the Next Protocol of what stands behind INT in VXLAN-GPE.
func (w place) gpeNext(p *Packet) uint8 {
	if w == behindVXLAN {
		return packet.NextEthernet
	}
	return p.Frame[p.tunnelAt+gpeNextAt]
}

func (d *Domain) appendShimGPE(b []byte, where place, kind uint8, covered int, next uint8) []byte {
	if d.Version == inband.Version20 {
		s := inband.ShimGPE{Type: kind, Length: uint8(covered / 4), G: where == behindVXLAN, NextProtocol: next}
		return s.Append(b)
	}
	s := inband.ShimGPEOld{Type: kind, Length: uint8((covered + shimLen) / 4), NextProtocol: next}
	return s.Append(b)
}

// destinationLen returns the bytes of the destination header that ins asks for. A packet has one, and it needs a
// carrier in which headers can be chained.
func (w place) destinationLen(p *Packet, ins *Instruction) int {
	chains := w == behindGPE || w == behindVXLAN || w == inGeneve
	if ins.Destination == nil || !chains || p.INT.Present {
		return 0
	}
	return shimLen + ins.Destination.Len()
}

// appendDestination appends a destination header with its shim or option header.
func (d *Domain) appendDestination(b []byte, p *Packet, where place, h *inband.Destination) []byte {
	if where == inGeneve {
		class, _ := d.geneveClass()
		o := packet.GeneveOption{Class: class, Type: inband.TypeDestination, Length: uint8(h.Len() / 4)}
		return h.Append(o.Append(b))
	}
	return h.Append(d.appendShimGPE(b, where, inband.TypeDestination, h.Len(), where.gpeNext(p)))
}

// appendUDP appends the UDP header of INT. Its source port spreads flows over paths, it has no checksum (INT 2.1
// §5.7.2).
func (d *Domain) appendUDP(b []byte, p *Packet, length int) []byte {
	h := packet.UDP{SrcPort: 0xC000 | uint16(p.Flow.Hash()>>50), DstPort: d.Points.INTUDPPort, Length: uint16(length)}
	return h.Append(b)
}

// ipLen returns the length of the IP header that INT brings along.
func (p *Packet) ipLen() int {
	if p.IPVersion == 6 {
		return 40
	}
	return 20
}

// appendIP appends an IP header like that of the packet in front of it, for a packet of length bytes in all.
func (p *Packet) appendIP(b []byte, protocol uint8, length int) []byte {
	if p.IPVersion == 6 {
		var h packet.IPv6
		if _, err := h.Decode(p.Frame[p.L3:]); err != nil {
			return b // Parse has read it
		}
		h.NextHeader, h.PayloadLength = protocol, uint16(length-h.Len())
		return h.Append(b)
	}
	var h packet.IPv4
	if _, err := h.Decode(p.Frame[p.L3:]); err != nil {
		return b // Parse has read it
	}
	outer := packet.IPv4{
		IHL: 5, DSCP: h.DSCP, ECN: h.ECN, TotalLength: uint16(length), DF: true, TTL: h.TTL, Protocol: protocol,
		Src: h.Src, Dst: h.Dst,
	}
	outer.Checksum = outer.HeaderChecksum()
	return outer.Append(b)
}

// announce makes the headers in front of INT lead to it, and count it.
func (d *Domain) announce(e *edit, where place, inserted []byte) {
	p := e.p
	switch where {
	case inNewUDP:
		e.ipLength(len(inserted))
		e.protocol(packet.ProtoUDP)
	case inNewIP, inNewGRE:
	default:
		e.delta.insert(inserted)
		e.resize(len(inserted))
	}
	switch where {
	case behindL4:
		switch d.Carrier {
		case DSCP:
			mask := d.Points.INTDSCPMask
			e.dscp(p.DSCP&^mask | d.Points.INTDSCP&mask)
		case DstPort:
			e.put16(p.L4+2, d.Points.INTUDPPort)
		}
	case behindGPE, behindVXLAN:
		next, _ := d.gpeNext()
		e.put8(p.tunnelAt+gpeNextAt, next)
		if where == behindVXLAN {
			e.put8(p.tunnelAt, e.f[p.tunnelAt]|packet.VXLANFlagP)
			e.put16(p.L4+2, packet.PortVXLANGPE)
		}
	case inGeneve:
		e.put8(p.tunnelAt, e.f[p.tunnelAt]+uint8(len(inserted)/4)) // Opt Len
	case behindGRE:
		e.put16(p.L4+2, d.Points.GREProtocol)
	}
}
