package main

import (
	"encoding/binary"
	"slices"

	"github.com/waybill-int/waybill/collect"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// reportPayload returns the UDP payload of a captured packet if it was sent to one of ports and starts like a telemetry
// report. Fragments of datagrams are no reports: a part of one cannot be sent on.
func reportPayload(p *collect.Packet, ports []uint16) ([]byte, bool) {
	b, etherType, ok := networkLayer(p)
	if !ok {
		return nil, false
	}
	switch etherType {
	case packet.EtherTypeIPv4:
		var ip packet.IPv4
		n, err := ip.Decode(b)
		if err != nil || ip.Protocol != packet.ProtoUDP || ip.IsFragment() {
			return nil, false
		}
		// Some switches leave Total Length too large; then the frame ends the datagram.
		b = b[n:max(min(int(ip.TotalLength), len(b)), n)]
	case packet.EtherTypeIPv6:
		var ip packet.IPv6
		n, err := ip.Decode(b)
		if err != nil || ip.NextHeader != packet.ProtoUDP {
			return nil, false
		}
		b = b[n:min(n+int(ip.PayloadLength), len(b))]
	default:
		return nil, false
	}
	var udp packet.UDP
	n, err := udp.Decode(b)
	if err != nil || !slices.Contains(ports, udp.DstPort) {
		return nil, false
	}
	if length := int(udp.Length); length >= n && length < len(b) {
		b = b[:length]
	}
	if _, err := report.Version(b[n:]); err != nil {
		return nil, false
	}
	return b[n:], true
}

// Link types of captures (tcpdump.org/linktypes.html).
const (
	linkNull       = 0
	linkEthernet   = 1
	linkRaw        = 101
	linkLoop       = 108
	linkLinuxSLL   = 113
	linkIPv4       = 228
	linkIPv6       = 229
	linkLinuxSLL2  = 276
	linkRawOpenBSD = 12
)

// networkLayer steps over the link layer and VLAN tags.
func networkLayer(p *collect.Packet) (b []byte, etherType uint16, ok bool) {
	b = p.Data
	switch p.LinkType {
	case linkEthernet:
		if len(b) < 14 {
			return nil, 0, false
		}
		b, etherType = b[14:], binary.BigEndian.Uint16(b[12:])
	case linkNull, linkLoop: // an address family of 4 bytes, then IP
		if len(b) < 5 {
			return nil, 0, false
		}
		b = b[4:]
		etherType = ipEtherType(b)
	case linkRaw, linkRawOpenBSD, linkIPv4, linkIPv6:
		if len(b) == 0 {
			return nil, 0, false
		}
		etherType = ipEtherType(b)
	case linkLinuxSLL:
		if len(b) < 16 {
			return nil, 0, false
		}
		b, etherType = b[16:], binary.BigEndian.Uint16(b[14:])
	case linkLinuxSLL2:
		if len(b) < 20 {
			return nil, 0, false
		}
		b, etherType = b[20:], binary.BigEndian.Uint16(b)
	default:
		return nil, 0, false
	}
	for packet.IsVLAN(etherType) {
		var tag packet.VLAN
		n, err := tag.Decode(b)
		if err != nil {
			return nil, 0, false
		}
		b, etherType = b[n:], tag.EtherType
	}
	return b, etherType, true
}

// A sequenceKey is one sequence of reports: numbers count per node and hardware id.
type sequenceKey struct {
	version uint8
	hwID    uint8
	node    uint32
}

// A sequenceSpan is the lowest and highest number of a sequence in the captures.
type sequenceSpan struct{ low, high uint32 }

// sequenceOf reads the sequence number in the header of a report.
func sequenceOf(b []byte) (key sequenceKey, n uint32, ok bool) {
	version, err := report.Version(b)
	if err != nil {
		return key, 0, false
	}
	key.version = version
	switch {
	case version == 0 && len(b) >= 16:
		key.hwID, n = b[3]&0x3f, binary.BigEndian.Uint32(b[4:])
		if b[0]&0x0f != report.NProtoEthernet { // a second header names the switch
			key.node = binary.BigEndian.Uint32(b[12:])
		}
	case version == 1 && len(b) >= 12:
		key.hwID, key.node, n = b[3]&0x3f, binary.BigEndian.Uint32(b[4:]), binary.BigEndian.Uint32(b[8:])
	case version == 2 && len(b) >= 8:
		word := binary.BigEndian.Uint32(b)
		key.hwID, key.node, n = uint8(word>>22)&0x3f, binary.BigEndian.Uint32(b[4:]), word&(1<<22-1)
	default:
		return key, 0, false
	}
	return key, n, true
}

// setSequence writes the sequence number of a report for which sequenceOf was ok.
func setSequence(b []byte, n uint32) {
	switch b[0] >> 4 {
	case 0:
		binary.BigEndian.PutUint32(b[4:], n)
	case 1:
		binary.BigEndian.PutUint32(b[8:], n)
	case 2:
		binary.BigEndian.PutUint32(b, binary.BigEndian.Uint32(b)&^(1<<22-1)|n&(1<<22-1))
	}
}

// ipEtherType tells IPv4 and IPv6 by the first nibble of a packet, and returns 0 for anything else.
func ipEtherType(b []byte) uint16 {
	switch b[0] >> 4 {
	case 4:
		return packet.EtherTypeIPv4
	case 6:
		return packet.EtherTypeIPv6
	}
	return 0
}
