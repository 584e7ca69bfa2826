package telemetry

import (
	"encoding/binary"
	"math/bits"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
	"github.com/waybill-int/waybill/wire/report"
)

// maxDepth bounds how many headers are looked at in one packet: a packet is no place to loop.
const maxDepth = 24

// A fragment is the packet in a report on its way to a flow: the headers seen so far.
type fragment struct {
	ip       bool   // an IP header was read
	identity uint64 // IP id or flow label
	length   int    // IP length of the packet, INT included
	inserted int    // bytes of it that INT added
	depth    int

	// Of the innermost IP packet so far:
	segment int // bytes behind its headers; 0: unknown
	outside int // bytes that INT added in front of it

	tcpOptions int    // bytes that the TCP header says its options have
	tcpFlags   uint8  // of that header
	sequence   uint32 // the same
}

// fragment reads the packet fragment in b, a header of kind inType first, into the current report.
func (d *Decoder) fragment(b []byte, inType uint8) {
	d.frag = fragment{}
	// The flow is written in place; HasFlow says when it is complete.
	d.report.Flow.Tunnel, d.report.Flow.TunnelID = TunnelNone, 0
	var err error
	switch inType {
	case report.InEthernet:
		err = d.ethernet(b)
	case report.InIPv4:
		err = d.ipv4(b)
	case report.InIPv6:
		err = d.ipv6(b)
	}
	if err != nil {
		d.note(err)
	}
	if r := d.report; r.Flags&(HasFlow|HasOuter) == HasOuter {
		// What the tunnel carries was cut off or is not IP: the tunnel is the flow.
		r.Flow = r.Outer
		r.Flags ^= HasFlow | HasOuter
	}
}

func (d *Decoder) ethernet(b []byte) error {
	if len(b) < 14 {
		return wire.ErrTruncatedEthernet
	}
	etherType := binary.BigEndian.Uint16(b[12:])
	if etherType == packet.EtherTypeIPv4 { // most are: spare them the loop
		return d.ipv4(b[14:])
	}
	return d.etherType(b[14:], etherType)
}

func (d *Decoder) etherType(b []byte, etherType uint16) error {
	for d.frag.depth < maxDepth {
		d.frag.depth++
		switch {
		case etherType == packet.EtherTypeIPv4:
			return d.ipv4(b)
		case etherType == packet.EtherTypeIPv6:
			return d.ipv6(b)
		case etherType == packet.EtherTypeMPLS:
			return d.mpls(b)
		case packet.IsVLAN(etherType):
			var h packet.VLAN
			n, err := h.Decode(b)
			if err != nil {
				return err
			}
			b, etherType = b[n:], h.EtherType
		default:
			return nil // not IP: no flow
		}
	}
	return nil
}

func (d *Decoder) mpls(b []byte) error {
	var h packet.MPLS
	for {
		n, err := h.Decode(b)
		if err != nil {
			return err
		}
		b = b[n:]
		if h.Bottom {
			break
		}
	}
	if len(b) == 0 {
		return nil
	}
	switch b[0] >> 4 { // MPLS does not say what it carries
	case 4:
		return d.ipv4(b)
	case 6:
		return d.ipv6(b)
	}
	return nil
}

// enter begins an IP packet: inside of another one it is the flow, and the other is what carries it.
func (d *Decoder) enter(ttl, dscp uint8, length int) {
	f, r := &d.frag, d.report
	if !f.ip { // the outermost packet
		f.ip = true
		r.TTL = ttl
		f.length = length
	}
	r.DSCP = dscp
}

func (d *Decoder) ipv4(b []byte) error {
	f := &d.frag
	if f.depth++; f.depth > maxDepth {
		return nil
	}
	var h packet.IPv4
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	if !f.ip && !fits(b[:n]) {
		d.report.Flags |= WrongChecksum
	}
	total := int(h.TotalLength)
	if total >= n && total < len(b) {
		b = b[:total] // Ethernet or report padding
	}
	if !f.ip && total == len(b) && !h.IsFragment() && d.looksAtL4(b[n:], h.Protocol) {
		d.noteL4(packet.Sum(b[n:], packet.PseudoIPv4(h.Src, h.Dst, h.Protocol, len(b)-n)))
	}
	d.enter(h.TTL, h.DSCP, int(h.TotalLength))
	d.report.Flow.Src, d.report.Flow.Dst = AddrFrom4(h.Src), AddrFrom4(h.Dst)
	f.identity = uint64(h.ID)
	f.outside, f.segment = f.inserted, int(h.TotalLength)-n
	if h.IsFragment() {
		f.segment = 0 // the rest comes in another packet
	}
	if h.IsLaterFragment() {
		d.report.Flags |= LaterFragment
		return d.done(b[n:], h.Protocol, 0, 0)
	}
	if h.Protocol == packet.ProtoUDP {
		return d.udp(b[n:])
	}
	return d.transport(b[n:], h.Protocol)
}

func (d *Decoder) ipv6(b []byte) error {
	f := &d.frag
	if f.depth++; f.depth > maxDepth {
		return nil
	}
	var h packet.IPv6
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	if total := n + int(h.PayloadLength); total > n && total < len(b) && !d.dialect.Has(codepoint.QuirkTSReport) {
		b = b[:total]
	}
	if !f.ip && n+int(h.PayloadLength) == len(b) && d.looksAtL4(b[n:], h.NextHeader) {
		d.noteL4(packet.Sum(b[n:], packet.PseudoIPv6(h.Src, h.Dst, h.NextHeader, len(b)-n)))
	}
	d.enter(h.HopLimit, h.DSCP, n+int(h.PayloadLength))
	d.report.Flow.Src, d.report.Flow.Dst = AddrFrom16(h.Src), AddrFrom16(h.Dst)
	f.identity = uint64(h.FlowLabel)
	f.outside, f.segment = f.inserted, int(h.PayloadLength)
	b = b[n:]
	next := h.NextHeader
	for range maxDepth {
		switch next {
		case packet.ProtoHopByHop, packet.ProtoDestOptions:
			var o packet.IPv6Options
			n, err = o.Decode(b)
			if err == nil && d.report.Is(Tracked) {
				err = d.ioamOptions(o.Options, n)
			}
			next = o.NextHeader
		case packet.ProtoRouting:
			var o packet.IPv6Routing
			n, err = o.Decode(b)
			next = o.NextHeader
		case packet.ProtoAH:
			return d.done(nil, next, 0, 0)
		case packet.ProtoFragment:
			var o packet.IPv6Fragment
			n, err = o.Decode(b)
			next = o.NextHeader
			f.identity = uint64(o.ID)
			f.segment = 0
			if err == nil && o.IsLater() {
				d.report.Flags |= LaterFragment
				return d.done(b[n:], next, 0, 0)
			}
		default:
			return d.transport(b, next)
		}
		if err != nil {
			return err
		}
		b = b[n:]
		f.segment -= n
	}
	return nil
}

// fits reports whether the checksum of an IPv4 header, of at least 20 bytes, is right (RFC 791 §3.1).
func fits(header []byte) bool {
	if len(header) > 20 {
		return packet.Fold(packet.Sum(header, 0)) == 0xffff
	}
	// Nearly all have no options: five words, whose carries are added at the end.
	a, b := binary.BigEndian.Uint64(header), binary.BigEndian.Uint64(header[8:])
	sum := a>>32 + a&0xffffffff + b>>32 + b&0xffffffff + uint64(binary.BigEndian.Uint32(header[16:]))
	sum = sum>>32 + sum&0xffffffff
	sum = sum>>16 + sum&0xffff
	sum = sum>>16 + sum&0xffff
	return sum>>16+sum&0xffff == 0xffff
}

// transport reads an L4 header, b being behind an IP header of that protocol.
func (d *Decoder) transport(b []byte, protocol uint8) error {
	switch protocol {
	case packet.ProtoUDP:
		return d.udp(b)
	case packet.ProtoTCP:
		if d.dialect.Has(codepoint.QuirkProtocolRestored) && len(b) >= 4 && d.profile.INTUDPPort != 0 &&
			binary.BigEndian.Uint16(b[2:]) == d.profile.INTUDPPort {
			return d.udp(b)
		}
		return d.tcp(b)
	case packet.ProtoSCTP:
		src, dst, ok := packet.Ports(b)
		if !ok {
			return wire.ErrTruncatedSCTP
		}
		return d.done(b[4:], protocol, src, dst)
	case packet.ProtoGRE:
		return d.gre(b)
	case packet.ProtoIPv4:
		d.tunnel(protocol, TunnelIP, 0)
		return d.ipv4(b)
	case packet.ProtoIPv6:
		d.tunnel(protocol, TunnelIP, 0)
		return d.ipv6(b)
	}
	return d.done(b, protocol, 0, 0)
}

func (d *Decoder) udp(b []byte) error {
	if len(b) < 8 {
		return d.cutPorts(b, packet.ProtoUDP, wire.ErrTruncatedUDP)
	}
	// Two loads, not a packet.UDP: what is stored and loaded again in another width stalls.
	srcPort, dstPort := binary.BigEndian.Uint16(b), binary.BigEndian.Uint16(b[2:])
	d.report.Flow.SrcPort, d.report.Flow.DstPort = srcPort, dstPort
	b = b[8:]
	if d.report.Is(Tracked) {
		switch {
		case d.profile.MarksPort05(dstPort, b):
			return d.shimL4(b, packet.ProtoUDP)
		case dstPort == d.profile.INTUDPPort && dstPort != 0:
			return d.shim20(b, true, packet.ProtoUDP)
		case d.marked(b):
			return d.shimL4(b, packet.ProtoUDP)
		}
	}
	return d.udpPayload(b, dstPort)
}

// udpPayload goes on behind a UDP header whose (original) destination port is port.
func (d *Decoder) udpPayload(b []byte, port uint16) error {
	switch port {
	case packet.PortVXLAN:
		var h packet.VXLAN
		n, err := h.Decode(b)
		if err != nil || !h.I() {
			break
		}
		d.tunnel(packet.ProtoUDP, TunnelVXLAN, h.VNI)
		return d.ethernet(b[n:])
	case packet.PortVXLANGPE:
		return d.gpe(b)
	case packet.PortGeneve:
		return d.geneve(b)
	}
	return d.done(b, packet.ProtoUDP, d.report.Flow.SrcPort, port)
}

func (d *Decoder) tcp(b []byte) error {
	f := &d.frag
	var h packet.TCP
	n, err := h.Decode(b)
	if err == wire.ErrTruncatedTCP {
		return d.cutPorts(b, packet.ProtoTCP, err)
	}
	if err != nil && err != wire.ErrTruncatedTCPOptions {
		return err
	}
	d.report.Flow.SrcPort, d.report.Flow.DstPort = h.SrcPort, h.DstPort
	f.tcpOptions, f.tcpFlags, f.sequence = 4*int(h.DataOffset)-20, h.Flags, h.Seq
	body := b[n:]
	if d.profile.INTBeforeTCPOptions {
		body = b[20:]
	}
	f.identity ^= uint64(h.Seq)<<32 | uint64(h.Ack)
	if d.report.Is(Tracked) && (d.marked(body) || d.profile.MarksPort05(h.DstPort, body)) {
		return d.shimL4(body, packet.ProtoTCP)
	}
	return d.done(b[n:], packet.ProtoTCP, h.SrcPort, h.DstPort)
}

// cutPorts ends a packet that was cut off inside its L4 header: with the ports, which stand first, the flow is complete
// all the same. It returns err, what is wrong with the header.
func (d *Decoder) cutPorts(b []byte, protocol uint8, err error) error {
	if src, dst, ok := packet.Ports(b); ok {
		_ = d.done(b[4:], protocol, src, dst)
	}
	return err
}

func (d *Decoder) gre(b []byte) error {
	var h packet.GRE
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	b = b[n:]
	etherType := h.Protocol
	if d.report.Is(Tracked) && d.profile.GREProtocol != 0 && h.Protocol == d.profile.GREProtocol {
		var inserted bool
		n, etherType, inserted, err = d.shimGRE(b)
		if err != nil {
			return err
		}
		b = b[n:]
		if inserted { // with INT (INT 2.1 §5.7.1): the packet in it is the original one
			if etherType == packet.EtherTypeTEB {
				return d.ethernet(b)
			}
			return d.etherType(b, etherType)
		}
	}
	switch etherType {
	case packet.EtherTypeIPv4, packet.EtherTypeIPv6, packet.EtherTypeMPLS:
		d.tunnel(packet.ProtoGRE, TunnelGRE, h.Key)
		return d.etherType(b, etherType)
	case packet.EtherTypeTEB:
		d.tunnel(packet.ProtoGRE, TunnelGRE, h.Key)
		return d.ethernet(b)
	}
	return d.done(b, packet.ProtoGRE, 0, 0)
}

func (d *Decoder) gpe(b []byte) error {
	var h packet.VXLANGPE
	n, err := h.Decode(b)
	int2016 := d.profile.GPENextProtocol5 == codepoint.GPE5INT2016 && h.Carries2016()
	if err != nil && !(n > 0 && int2016) {
		return err
	}
	d.tunnel(packet.ProtoUDP, TunnelVXLANGPE, h.VNI)
	b = b[n:]
	next := h.NextProtocol
	if !h.P() && !int2016 {
		next = packet.NextEthernet // plain VXLAN
	}
	for range maxDepth {
		switch next {
		case packet.NextIPv4:
			return d.ipv4(b)
		case packet.NextIPv6:
			return d.ipv6(b)
		case packet.NextEthernet:
			return d.ethernet(b)
		case packet.NextNSH:
			var nsh packet.NSH
			n, err = nsh.Decode(b)
			next = nsh.NextProtocol
		default:
			n, next, err = d.gpeTelemetry(b, next)
			if n == 0 && err == nil {
				return d.done(nil, packet.ProtoUDP, d.report.Flow.SrcPort, packet.PortVXLANGPE)
			}
		}
		if n == 0 {
			return err
		}
		if err != nil {
			d.note(err)
		}
		b = b[n:]
	}
	return nil
}

func (d *Decoder) geneve(b []byte) error {
	var h packet.Geneve
	n, err := h.Decode(b)
	if err != nil {
		return err
	}
	d.tunnel(packet.ProtoUDP, TunnelGeneve, h.VNI)
	if d.report.Is(Tracked) {
		if err := d.geneveOptions(h.Options); err != nil {
			d.note(err)
		}
	}
	b = b[n:]
	if h.Protocol == packet.EtherTypeTEB {
		return d.ethernet(b)
	}
	return d.etherType(b, h.Protocol)
}

// tunnel ends the headers of a packet that carries another one.
func (d *Decoder) tunnel(protocol uint8, kind Tunnel, id uint32) {
	r := d.report
	if !r.Is(HasOuter) {
		r.Flags |= HasOuter
		r.Outer = r.Flow
		r.Outer.Protocol = protocol
		if protocol != packet.ProtoUDP {
			r.Outer.SrcPort, r.Outer.DstPort = 0, 0
		}
	}
	r.Flow.Tunnel, r.Flow.TunnelID = kind, id
}

// done ends the walk: b is the payload of the flow that protocol and ports complete.
func (d *Decoder) done(b []byte, protocol uint8, srcPort, dstPort uint16) error {
	f, r := &d.frag, d.report
	r.Flow.Protocol, r.Flow.SrcPort, r.Flow.DstPort = protocol, srcPort, dstPort
	r.Flags |= HasFlow
	if f.length > f.inserted {
		r.Bytes, r.INTBytes = uint32(f.length-f.inserted), uint16(max(f.inserted, 0))
	}
	if protocol == packet.ProtoTCP {
		d.stream()
	}
	id := f.identity
	if len(b) >= 16 {
		id = mix(id^binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:])^0x9e3779b97f4a7c15)
	} else {
		for _, c := range b {
			id = bits.RotateLeft64(id, 9) ^ uint64(c)
		}
	}
	r.PacketID = id
	return nil
}

// ioamOptions takes the nodes of an IOAM trace in IPv6 options as the stack. The extension header that they stand in
// has size bytes: without options of others, IOAM has brought all of it along.
func (d *Decoder) ioamOptions(options []byte, size int) error {
	var o packet.IPv6Option
	const header, unit = 2, 8
	others, found := header, false
	for len(options) > 0 {
		n, err := o.Decode(options)
		if err != nil {
			return err
		}
		options = options[n:]
		switch o.Type {
		case ioam.OptionMutable, ioam.OptionFixed:
		case packet.IPv6OptionPad1, packet.IPv6OptionPadN:
			continue
		default:
			others += n
			continue
		}
		found = true
		var option ioam.Option
		if _, err := option.Decode(o.Data); err != nil {
			return err
		}
		if option.Type == ioam.TypeDEX {
			err = d.ioamDirect(option.Data)
		} else if o.Type == ioam.OptionMutable {
			err = d.ioamTrace(option.Type, option.Data)
		}
		if err != nil {
			return err
		}
	}
	switch {
	case found && others == header:
		d.frag.inserted += size
	case found:
		d.frag.inserted += size - (others+unit-1)&^(unit-1)
	}
	return nil
}
