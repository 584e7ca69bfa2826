package dissect

import (
	"encoding/binary"
	"slices"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

func (w *walk) udp() Start {
	var h packet.UDP
	l, from := w.begin(), w.off
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.cutPorts("udp", &l, err)
	}
	w.isUDP, w.dstPort = true, h.DstPort
	w.choose(h.SrcPort, h.DstPort)
	w.sawPorts = true
	number(&l, "src_port", h.SrcPort, 0, 16)
	number(&l, "dst_port", h.DstPort, 16, 16)
	length := number(&l, "length", h.Length, 32, 16)
	length.Unit = "bytes"
	number(&l, "checksum", h.Checksum, 48, 16)
	w.add("udp", &l, n)
	if w.behindIFA {
		return w.ifaMetadata() // its bytes are not counted in the UDP Length
	}
	if next, ok := w.unmarkedINT(); ok {
		return next
	}
	// A Length that makes no sense is not believed; then the IP header says where the packet ends.
	switch {
	case int(h.Length) < n:
		length.Meaning = "shorter than the header"
	case w.ipEnd > 0 && from+int(h.Length) > w.ipEnd:
		length.Meaning = "longer than the IP packet"
	default:
		w.limit(from, int(h.Length))
	}
	return w.afterUDP(h.DstPort)
}

// cutPorts adds an L4 header that was cut off, with its ports if they are there.
func (w *walk) cutPorts(name string, l *builder, err error) Start {
	if src, dst, ok := packet.Ports(w.rest()); ok {
		number(l, "src_port", src, 0, 16)
		number(l, "dst_port", dst, 16, 16)
	}
	return w.broken(name, l, len(w.rest()), err)
}

func (w *walk) sctp() Start {
	var h packet.SCTP
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.cutPorts("sctp", &l, err)
	}
	number(&l, "src_port", h.SrcPort, 0, 16)
	number(&l, "dst_port", h.DstPort, 16, 16)
	number(&l, "verification_tag", h.VerificationTag, 32, 32)
	number(&l, "checksum", h.Checksum, 64, 32)
	w.add("sctp", &l, n)
	return Payload
}

// afterUDP returns what a packet to a UDP port holds (INT 2.1 §5.7.2, TR 2.0 §3.1).
func (w *walk) afterUDP(dstPort uint16) Start {
	if !w.inReport && slices.Contains(w.profile.ReportPorts, dstPort) {
		return TelemetryReport
	}
	if next, ok := w.markedINT(dstPort); ok {
		return next
	}
	return tunnel(dstPort)
}

// tunnel returns what a packet to a UDP port of a tunnel holds.
func tunnel(dstPort uint16) Start {
	switch dstPort {
	case packet.PortVXLAN:
		return VXLAN
	case packet.PortVXLANGPE:
		return VXLANGPE
	case packet.PortGeneve:
		return Geneve
	}
	return Payload
}

func (w *walk) tcp() Start {
	var h packet.TCP
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err == wire.ErrTruncatedTCP {
		return w.cutPorts("tcp", &l, err)
	}
	w.isUDP, w.dstPort = false, h.DstPort
	w.choose(h.SrcPort, h.DstPort)
	w.sawPorts = true
	number(&l, "src_port", h.SrcPort, 0, 16)
	number(&l, "dst_port", h.DstPort, 16, 16)
	number(&l, "seq", h.Seq, 32, 32)
	number(&l, "ack", h.Ack, 64, 32)
	number(&l, "data_offset", h.DataOffset, 96, 4).Unit = "words"
	number(&l, "flags", h.Flags, 104, 8).Meaning = tcpFlagNames(h.Flags)
	number(&l, "window", h.Window, 112, 16)
	number(&l, "checksum", h.Checksum, 128, 16)
	if h.Urgent != 0 {
		number(&l, "urgent", h.Urgent, 144, 16)
	}
	const fixed = 20
	options := 4*int(h.DataOffset) - fixed
	if w.profile.INTBeforeTCPOptions && options >= 0 && w.telemetry && w.profile.MarksDSCP(w.dscp) {
		w.add("tcp", &l, fixed)
		w.tcpOptions = options
		next, _ := w.markedINT(0)
		return next
	}
	if len(h.Options) > 0 {
		l.bytes("options", h.Options, 8*fixed)
	}
	if err != nil {
		return w.broken("tcp", &l, 20, err)
	}
	w.add("tcp", &l, n)
	if w.behindIFA {
		return w.ifaMetadata()
	}
	if next, ok := w.unmarkedINT(); ok {
		return next
	}
	next, _ := w.markedINT(0)
	return next
}

// options adds the TCP options that stand behind INT.
func (w *walk) options(n int) {
	rest := w.rest()
	if w.inReport && len(rest) == 0 {
		return // the fragment ends behind INT
	}
	b := w.begin()
	if n > len(rest) {
		b.bytes("hex", rest, 0)
		b.fail(wire.ErrTruncatedTCPOptions)
		w.add("tcp_options", &b, len(rest))
		return
	}
	b.bytes("hex", rest[:n], 0)
	w.add("tcp_options", &b, n)
}

func (w *walk) icmp(name string) Start {
	var h packet.ICMP
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken(name, &l, 0, err)
	}
	number(&l, "type", h.Type, 0, 8).Meaning = icmpTypeName(name, h.Type)
	number(&l, "code", h.Code, 8, 8)
	number(&l, "checksum", h.Checksum, 16, 16)
	number(&l, "rest", h.Rest, 32, 32)
	w.add(name, &l, n)
	return Payload
}

// markedINT returns the INT shim that something announces; false if nothing does. udpPort is the destination port, 0
// for TCP.
func (w *walk) markedINT(udpPort uint16) (Start, bool) {
	if !w.telemetry {
		return Payload, false
	}
	dscp := w.profile.MarksDSCP(w.dscp)
	rest := w.rest()
	switch {
	case w.profile.MarksPort05(w.dstPort, rest):
		w.marks = marks{dscp: dscp}
		return INTShimL4v1, true
	case w.profile.INTUDPPort != 0 && udpPort == w.profile.INTUDPPort:
		w.marks = marks{port: true, dscp: dscp}
		return INTShimL4v2, true
	case dscp && tunnel(udpPort) != Payload && !isShim(rest):
		// The DSCP of a packet in the tunnel was copied to the outer header.
	case dscp:
		w.marks = marks{dscp: true}
		return w.shimVersion()
	case w.startsWithMarker(rest) && isShim(rest[markerLen:]):
		l := w.begin()
		number(&l, "marker", w.profile.ProbeMarker, 0, 64)
		w.add("int_probe_marker", &l, markerLen)
		return w.shimVersion()
	}
	return Payload, false
}

// markerLen is the length of a probe marker. Others use the same markers, so that a marker alone announces nothing.
const markerLen = 8

func (w *walk) startsWithMarker(b []byte) bool {
	return w.profile.ProbeMarker != 0 && len(b) > markerLen && binary.BigEndian.Uint64(b) == w.profile.ProbeMarker
}

// isShim reports whether b can start with an INT shim for TCP or UDP, by its type.
func isShim(b []byte) bool {
	switch inband.DetectL4(b) {
	case inband.FamilyOld:
		return inband.CheckType(inband.FamilyOld, b[0]) == nil
	case inband.Family2x:
		return true
	}
	return false
}
