package dissect

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/packet"
)

func (w *walk) ethernet() Start {
	var h packet.Ethernet
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken("ethernet", &l, 0, err)
	}
	l.mac("dst", h.Dst, 0)
	l.mac("src", h.Src, 48)
	number(&l, "ethertype", h.EtherType, 96, 16).Meaning = etherTypeName(h.EtherType)
	w.add("ethernet", &l, n)
	return w.etherType(h.EtherType)
}

// etherType reads the VLAN tags that an EtherType announces and returns what follows them.
func (w *walk) etherType(etherType uint16) Start {
	for packet.IsVLAN(etherType) && len(w.layers) < maxLayers {
		var h packet.VLAN
		l := w.begin()
		n, err := h.Decode(w.rest())
		if err != nil {
			return w.broken("vlan", &l, 0, err)
		}
		number(&l, "pcp", h.PCP, 0, 3)
		l.flag("dei", h.DEI, 3)
		number(&l, "id", h.ID, 4, 12)
		number(&l, "ethertype", h.EtherType, 16, 16).Meaning = etherTypeName(h.EtherType)
		w.add("vlan", &l, n)
		etherType = h.EtherType
	}
	switch etherType {
	case packet.EtherTypeIPv4:
		return IPv4
	case packet.EtherTypeIPv6:
		return IPv6
	case packet.EtherTypeMPLS, packet.EtherTypeMPLSMulticast:
		return MPLS
	case packet.EtherTypeTEB:
		return Ethernet
	case packet.EtherTypeNSH:
		return NSH
	}
	return Payload
}

func (w *walk) mpls() Start {
	for len(w.layers) < maxLayers {
		var h packet.MPLS
		l := w.begin()
		n, err := h.Decode(w.rest())
		if err != nil {
			return w.broken("mpls", &l, 0, err)
		}
		number(&l, "label", h.Label, 0, 20)
		number(&l, "tc", h.TC, 20, 3)
		l.flag("bottom", h.Bottom, 23)
		number(&l, "ttl", h.TTL, 24, 8)
		w.add("mpls", &l, n)
		if h.Bottom {
			return w.ipVersion()
		}
	}
	return Payload
}

// ipVersion tells IPv4 from IPv6 by the first nibble, where nothing else says it.
func (w *walk) ipVersion() Start {
	rest := w.rest()
	if len(rest) == 0 {
		return Payload
	}
	switch rest[0] >> 4 {
	case 4:
		return IPv4
	case 6:
		return IPv6
	}
	return Payload
}

const (
	linuxCookedLen  = 16
	linuxCooked2Len = 20
)

// linuxCooked reads the pseudo header of captures on all Linux interfaces (LINKTYPE_LINUX_SLL).
func (w *walk) linuxCooked() Start {
	b, l := w.rest(), w.begin()
	if len(b) < linuxCookedLen {
		return w.broken("linux_sll", &l, 0, wire.ErrTruncatedEthernet)
	}
	protocol := binary.BigEndian.Uint16(b[14:])
	number(&l, "packet_type", binary.BigEndian.Uint16(b), 0, 16).Meaning = packetTypeName(b[1])
	number(&l, "arphrd_type", binary.BigEndian.Uint16(b[2:]), 16, 16)
	l.bytes("address", b[6:6+min(int(binary.BigEndian.Uint16(b[4:])), 8)], 48)
	number(&l, "protocol", protocol, 112, 16).Meaning = etherTypeName(protocol)
	w.add("linux_sll", &l, linuxCookedLen)
	return w.etherType(protocol)
}

// linuxCooked2 reads the pseudo header of LINKTYPE_LINUX_SLL2.
func (w *walk) linuxCooked2() Start {
	b, l := w.rest(), w.begin()
	if len(b) < linuxCooked2Len {
		return w.broken("linux_sll2", &l, 0, wire.ErrTruncatedEthernet)
	}
	protocol := binary.BigEndian.Uint16(b)
	number(&l, "protocol", protocol, 0, 16).Meaning = etherTypeName(protocol)
	number(&l, "interface_index", binary.BigEndian.Uint32(b[4:]), 32, 32)
	number(&l, "arphrd_type", binary.BigEndian.Uint16(b[8:]), 64, 16)
	number(&l, "packet_type", b[10], 80, 8).Meaning = packetTypeName(b[10])
	l.bytes("address", b[12:12+min(int(b[11]), 8)], 96)
	w.add("linux_sll2", &l, linuxCooked2Len)
	return w.etherType(protocol)
}
