package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/packet"
)

const (
	ethernetLen  = 14
	etherTypeLen = 2
	tagLen       = 4 // VLAN tag or MPLS entry
)

// Parse reads frame, which starts with an Ethernet header, into p, and overwrites all of it. It does not allocate; p
// refers to frame.
//
// An error says that the headers up to the end of the outermost IP header are cut or wrong: then only the fields in
// front of the place are filled, and all functions of this package forward the frame as it is. A frame that is not IP
// is no error. INT that breaks a rule is no error either, see INT.Malformed: Push forwards it, Strip removes it.
func (d *Domain) Parse(frame []byte, p *Packet) error {
	*p = Packet{Frame: frame}
	at, etherType, err := p.link()
	if err != nil {
		return err
	}
	if etherType != packet.EtherTypeIPv4 && etherType != packet.EtherTypeIPv6 {
		return nil
	}
	var h ipHeader
	if err := h.decode(frame, at); err != nil {
		return err
	}
	if h.end > len(frame) {
		if h.version == 4 {
			return wire.ErrTruncatedIPv4
		}
		return wire.ErrTruncatedIPv6
	}
	p.L3, p.L4, p.Payload, p.End = at, h.l4, h.l4, h.end
	p.IPVersion, p.Protocol, p.protocolAt = h.version, h.protocol, h.protocolAt
	p.DSCP, p.ECN, p.TTL, p.TotalLength = h.dscp, h.ecn, h.ttl, h.end-at
	p.Fragment, p.LaterFragment = h.fragment, h.later
	w := walk{d: d, p: p, b: frame, depth: 1}
	w.packet(&h)
	if p.HasOuter && !p.HasFlow {
		// What the tunnel carries is not IP or cannot be read: the tunnel is the flow.
		p.Flow, p.HasFlow, p.HasOuter = p.Outer, true, false
	}
	return nil
}

// link reads the headers in front of IP and returns where they end and the EtherType of what follows, or 0 if it has
// none and is not IP.
func (p *Packet) link() (int, uint16, error) {
	b := p.Frame
	if len(b) < ethernetLen {
		return 0, 0, wire.ErrTruncatedEthernet
	}
	at := ethernetLen - etherTypeLen // of the EtherType
	etherType := binary.BigEndian.Uint16(b[at:])
	for packet.IsVLAN(etherType) {
		if len(b) < at+etherTypeLen+tagLen {
			return 0, 0, wire.ErrTruncatedVLAN
		}
		if !p.Tagged {
			tci := binary.BigEndian.Uint16(b[at+etherTypeLen:])
			p.Tagged, p.VLAN, p.PCP = true, tci&0x0FFF, uint8(tci>>13)
		}
		at += tagLen
		etherType = binary.BigEndian.Uint16(b[at:])
	}
	if etherType == packet.EtherTypeMPLS || etherType == packet.EtherTypeMPLSMulticast {
		return labels(b, at+etherTypeLen)
	}
	p.etherTypeAt = at
	return at + etherTypeLen, etherType, nil
}

// labels steps over an MPLS label stack. What follows it, its first nibble says.
func labels(b []byte, at int) (int, uint16, error) {
	var h packet.MPLS
	for !h.Bottom {
		if _, err := h.Decode(b[at:]); err != nil {
			return 0, 0, err
		}
		at += tagLen
	}
	return at, etherTypeOf(b[at:]), nil
}

// etherTypeOf returns the EtherType of the IP packet in b, or 0 if it is none.
func etherTypeOf(b []byte) uint16 {
	if len(b) > 0 {
		switch b[0] >> 4 {
		case 4:
			return packet.EtherTypeIPv4
		case 6:
			return packet.EtherTypeIPv6
		}
	}
	return 0
}
