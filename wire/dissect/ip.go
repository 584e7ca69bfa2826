package dissect

import (
	"encoding/binary"
	"net/netip"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

func (w *walk) ipv4() Start {
	var h packet.IPv4
	l, from := w.begin(), w.off
	n, err := h.Decode(w.rest())
	if err != nil && h.IHL == 0 {
		return w.broken("ipv4", &l, 20, err)
	}
	src, dst := netip.AddrFrom4(h.Src), netip.AddrFrom4(h.Dst)
	number(&l, "ihl", h.IHL, 4, 4).Unit = "words"
	number(&l, "dscp", h.DSCP, 8, 6)
	number(&l, "ecn", h.ECN, 14, 2)
	number(&l, "total_length", h.TotalLength, 16, 16).Unit = "bytes"
	number(&l, "id", h.ID, 32, 16)
	l.flag("df", h.DF, 49)
	if h.IsFragment() {
		l.flag("mf", h.MF, 50)
		number(&l, "fragment_offset", h.FragmentOffset, 51, 13).Unit = "8 bytes"
	}
	number(&l, "ttl", h.TTL, 64, 8)
	number(&l, "protocol", h.Protocol, 72, 8).Meaning = protocolName(h.Protocol)
	number(&l, "checksum", h.Checksum, 80, 16)
	l.addr("src", src, 96)
	l.addr("dst", dst, 128)
	if len(h.Options) > 0 {
		l.bytes("options", h.Options, 160)
	}
	if err != nil {
		return w.broken("ipv4", &l, 20, err)
	}
	w.ipHeader(src, h.DSCP)
	// Senders with segmentation offload leave Total Length 0 in packets that are captured on the way out.
	total := int(h.TotalLength)
	switch {
	case total >= n:
		w.limitIP(from, total)
	case total > 0:
		l.fail(wire.ErrIPv4HeaderLength)
	}
	if h.IsFragment() {
		w.ipEnd = 0 // the L4 header is about all fragments
	}
	next := Payload
	if !h.IsLaterFragment() {
		next = w.afterIP(h.Protocol, from+n, &l)
	}
	w.add("ipv4", &l, n)
	return next
}

func (w *walk) ipv6() Start {
	var h packet.IPv6
	l, from := w.begin(), w.off
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken("ipv6", &l, 0, err)
	}
	src, dst := netip.AddrFrom16(h.Src), netip.AddrFrom16(h.Dst)
	number(&l, "dscp", h.DSCP, 4, 6)
	number(&l, "ecn", h.ECN, 10, 2)
	number(&l, "flow_label", h.FlowLabel, 12, 20)
	number(&l, "payload_length", h.PayloadLength, 32, 16).Unit = "bytes"
	number(&l, "next_header", h.NextHeader, 48, 8).Meaning = protocolName(h.NextHeader)
	number(&l, "hop_limit", h.HopLimit, 56, 8)
	l.addr("src", src, 64)
	l.addr("dst", dst, 192)
	w.ipHeader(src, h.DSCP)
	if h.PayloadLength > 0 { // 0 is a jumbogram, or segmentation offload
		w.limitIP(from, n+int(h.PayloadLength))
	}
	next := Payload
	if !isExtension(h.NextHeader) {
		next = w.afterIP(h.NextHeader, from+n, &l)
		w.add("ipv6", &l, n)
		return next
	}
	w.add("ipv6", &l, n)
	return w.ipv6Extensions(h.NextHeader)
}

// ipHeader takes note of what later headers need to know of an IP header.
func (w *walk) ipHeader(src netip.Addr, dscp uint8) {
	w.ipHeaders++
	w.dscp = dscp
	w.ipEnd = 0
	w.behindIFA = false
	w.source = src
	w.choose(0, 0)
}

// limitIP ends the packet where its IP header, at position from, says: n bytes behind.
func (w *walk) limitIP(from, n int) {
	w.ipEnd = from + n
	w.limit(from, n)
}

// afterIP returns what follows an IP header or the last IPv6 extension header, which l is. The next header is at
// position at.
func (w *walk) afterIP(protocol uint8, at int, l *builder) Start {
	if w.restoredProtocol(protocol, at) {
		l.quirk("protocol_overwritten")
		return UDP
	}
	return w.protocol(protocol)
}

// restoredProtocol reports whether a sink wrote the original protocol back into the IP header before it copied the
// packet into a report: what follows is then still the UDP header of INT.
func (w *walk) restoredProtocol(protocol uint8, at int) bool {
	if !w.inReport || !w.telemetry || !w.profile.Dialect.Has(codepoint.QuirkProtocolRestored) ||
		protocol == packet.ProtoUDP {
		return false
	}
	return at+4 <= w.end && w.profile.INTUDPPort != 0 &&
		binary.BigEndian.Uint16(w.packet[at+2:]) == w.profile.INTUDPPort
}

// protocol returns what an IP protocol number stands for.
func (w *walk) protocol(protocol uint8) Start {
	if w.telemetry && w.profile.IFAProtocol != 0 && protocol == w.profile.IFAProtocol {
		return IFA
	}
	switch protocol {
	case packet.ProtoTCP:
		return TCP
	case packet.ProtoUDP:
		return UDP
	case packet.ProtoSCTP:
		return SCTP
	case packet.ProtoICMP:
		return ICMP
	case packet.ProtoICMPv6:
		return ICMPv6
	case packet.ProtoGRE:
		return GRE
	case packet.ProtoIPv4:
		return IPv4
	case packet.ProtoIPv6:
		return IPv6
	}
	return Payload
}
