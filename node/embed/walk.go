package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/packet"
)

// maxDepth bounds the headers that are looked at in one packet.
const maxDepth = 24

// Lengths of the headers that are stepped over.
const (
	udpLen    = 8
	tcpLen    = 20 // without options
	markerLen = 8
	shimLen   = 4
)

// A walk goes from header to header, from the outermost IP header to the flow. On the way it takes down where the
// domain's INT is, and undoes what INT has done to the flow.
type walk struct {
	d     *Domain
	p     *Packet
	b     []byte // the frame up to the end of the IP packet
	depth int    // 1 as long as the headers are the outermost ones and no INT was passed
	dscp  uint8  // of the last IP header
}

// outermost reports whether INT that is found here is the domain's own, if it has the right carrier.
func (w *walk) outermost() bool { return w.depth == 1 }

// packet goes on behind an IP header.
func (w *walk) packet(h *ipHeader) {
	f := &w.p.Flow
	f.Src, f.Dst, f.SrcPort, f.DstPort = h.src, h.dst, 0, 0
	w.b = w.b[:min(h.end, len(w.b))]
	w.dscp = h.dscp
	if h.later || h.l4 > len(w.b) {
		w.done(h.protocol, 0, 0)
		return
	}
	w.transport(h.l4, h.protocol)
}

// ip reads the IP packet at offset at, inside another one.
func (w *walk) ip(at int) {
	if w.depth++; w.depth > maxDepth {
		return
	}
	var h ipHeader
	if h.decode(w.b, at) == nil {
		w.packet(&h)
	}
}

// ethernet reads the frame at offset at, inside another one.
func (w *walk) ethernet(at int) {
	p := Packet{Frame: w.b[at:]}
	n, etherType, err := p.link()
	if err == nil {
		w.etherType(at+n, etherType)
	}
}

// etherType goes on with what an EtherType announces.
func (w *walk) etherType(at int, etherType uint16) {
	switch etherType {
	case packet.EtherTypeIPv4, packet.EtherTypeIPv6:
		w.ip(at)
	case packet.EtherTypeTEB:
		w.ethernet(at)
	case packet.EtherTypeMPLS:
		if n, inner, err := labels(w.b, at); err == nil && inner != 0 {
			w.ip(n)
		}
	}
}

// transport goes on with the header that an IP protocol number announces.
func (w *walk) transport(at int, protocol uint8) {
	if w.depth > maxDepth {
		return
	}
	switch protocol {
	case packet.ProtoUDP:
		w.udp(at)
	case packet.ProtoTCP:
		w.tcp(at)
	case packet.ProtoSCTP:
		src, dst, _ := packet.Ports(w.b[at:])
		w.done(protocol, src, dst)
	case packet.ProtoGRE:
		w.gre(at)
	case packet.ProtoIPv4, packet.ProtoIPv6:
		w.enter(protocol, telemetry.TunnelIP, 0)
		w.ip(at)
	default:
		w.done(protocol, 0, 0)
	}
}

// enter ends the headers of a packet that carries another one in a tunnel.
func (w *walk) enter(protocol uint8, kind telemetry.Tunnel, id uint32) {
	p := w.p
	if !p.HasOuter {
		p.HasOuter, p.Outer = true, p.Flow
		p.Outer.Protocol = protocol
	}
	p.Flow.Tunnel, p.Flow.TunnelID = kind, id
}

// done ends the walk: the flow is complete.
func (w *walk) done(protocol uint8, srcPort, dstPort uint16) {
	p := w.p
	p.Flow.Protocol, p.Flow.SrcPort, p.Flow.DstPort = protocol, srcPort, dstPort
	p.HasFlow = true
}

func (w *walk) udp(at int) {
	if len(w.b)-at < udpLen {
		w.done(packet.ProtoUDP, 0, 0)
		return
	}
	p := w.p
	src, dst := binary.BigEndian.Uint16(w.b[at:]), binary.BigEndian.Uint16(w.b[at+2:])
	p.Flow.SrcPort, p.Flow.DstPort = src, dst
	// A Length that is not possible is not believed; then the IP header says where the packet ends.
	end, length := len(w.b), int(binary.BigEndian.Uint16(w.b[at+4:]))
	possible := length >= udpLen && at+length <= end
	if possible {
		end = at + length
	}
	if w.outermost() {
		p.Payload, p.badLength = at+udpLen, !possible
		p.sum = checksum{at: at + 6, of: sumUDP}
	}
	if !w.markedUDP(at+udpLen, end, dst) {
		w.udpPayload(at+udpLen, dst)
	}
}

// udpPayload goes on behind a UDP header whose original destination port is port.
func (w *walk) udpPayload(at int, port uint16) {
	switch port {
	case packet.PortVXLAN:
		w.vxlan(at)
	case packet.PortVXLANGPE:
		w.gpe(at)
	case packet.PortGeneve:
		w.geneve(at)
	default:
		w.done(packet.ProtoUDP, w.p.Flow.SrcPort, port)
	}
}

func (w *walk) tcp(at int) {
	if len(w.b)-at < tcpLen {
		w.done(packet.ProtoTCP, 0, 0)
		return
	}
	p := w.p
	p.Flow.SrcPort, p.Flow.DstPort = binary.BigEndian.Uint16(w.b[at:]), binary.BigEndian.Uint16(w.b[at+2:])
	n := 4 * int(w.b[at+12]>>4) // Data Offset
	if n < tcpLen || at+n > len(w.b) {
		w.done(packet.ProtoTCP, p.Flow.SrcPort, p.Flow.DstPort)
		return
	}
	if w.outermost() {
		p.Payload = at + n
		p.sum = checksum{at: at + 16, of: sumTCP}
	}
	if !w.markedTCP(at, n) {
		w.done(packet.ProtoTCP, p.Flow.SrcPort, p.Flow.DstPort)
	}
}
