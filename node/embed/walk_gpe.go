package embed

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

const (
	vxlanLen = 8 // VXLAN-GPE too
	gpe5     = 5 // Next Protocol of VXLAN-GPE whose meaning is configured
)

// tunnelAt takes down the tunnel header behind the outermost headers.
func (w *walk) tunnelAt(at int, kind telemetry.Tunnel) {
	if w.outermost() {
		w.p.tunnelAt, w.p.tunnel = at, kind
	}
}

func (w *walk) vxlan(at int) {
	var h packet.VXLAN
	n, err := h.Decode(w.b[min(at, len(w.b)):])
	if err != nil || !h.I() {
		w.done(packet.ProtoUDP, w.p.Flow.SrcPort, w.p.Flow.DstPort)
		return
	}
	w.tunnelAt(at, telemetry.TunnelVXLAN)
	w.enter(packet.ProtoUDP, telemetry.TunnelVXLAN, h.VNI)
	w.ethernet(at + n)
}

// gpe goes through VXLAN-GPE and what its Next Protocols announce.
func (w *walk) gpe(at int) {
	var h packet.VXLANGPE
	n, err := h.Decode(w.b[min(at, len(w.b)):])
	int2016 := h.Carries2016() && w.d.Points.GPENextProtocol5 == codepoint.GPE5INT2016
	if n == 0 || err != nil && !int2016 {
		w.done(packet.ProtoUDP, w.p.Flow.SrcPort, w.p.Flow.DstPort)
		return
	}
	w.tunnelAt(at, telemetry.TunnelVXLANGPE)
	w.enter(packet.ProtoUDP, telemetry.TunnelVXLANGPE, h.VNI)
	next := h.NextProtocol
	if !h.P() && !int2016 {
		next = packet.NextEthernet
	}
	at, err = at+n, nil
	for range maxDepth {
		switch {
		case next == packet.NextIPv4 || next == packet.NextIPv6:
			w.ip(at)
			return
		case next == packet.NextEthernet:
			w.ethernet(at)
			return
		case next == packet.NextNSH:
			var nsh packet.NSH
			n, err = nsh.Decode(w.b[at:])
			next = nsh.NextProtocol
			w.depth++
		case w.d.isGPE(next):
			n, next = w.gpeShim(at, next)
		case next == gpe5 && w.d.Points.GPENextProtocol5 == codepoint.GPE5IOAM,
			next != 0 && next == w.d.Points.GPEIOAMNextProtocol:
			n, next, err = w.gpeIOAM(at)
		default:
			return
		}
		if err != nil || n == 0 {
			return
		}
		at += n
	}
}

// isGPE reports whether Next Protocol next of VXLAN-GPE announces INT of this or another domain.
func (d *Domain) isGPE(next uint8) bool {
	if next == gpe5 {
		return d.Points.GPENextProtocol5 == codepoint.GPE5INT2016 || d.Points.GPENextProtocol5 == codepoint.GPE5INT05
	}
	return slices.Contains(d.Points.GPENextProtocols, next)
}

// isOwnGPE reports whether next can announce INT of the domain's version.
func (d *Domain) isOwnGPE(next uint8) bool {
	switch d.Version {
	case inband.Version2016:
		return next == gpe5 && d.Points.GPENextProtocol5 == codepoint.GPE5INT2016
	case inband.Version05:
		return next == gpe5 && d.Points.GPENextProtocol5 == codepoint.GPE5INT05
	}
	return next != gpe5
}

// GPENextProtocols returns the Next Protocols of VXLAN-GPE that announce INT of the domain, and the one of them that a
// source writes.
func (d *Domain) GPENextProtocols() (own []uint8, next uint8) {
	next, _ = d.gpeNext()
	for _, one := range append([]uint8{gpe5}, d.Points.GPENextProtocols...) {
		if d.isGPE(one) && d.isOwnGPE(one) && !slices.Contains(own, one) {
			own = append(own, one)
		}
	}
	return own, next
}

// gpeNext returns the Next Protocol that announces INT of the domain; false if it is not configured. INT 1.0 has 0x08,
// 2.0 0x80 and 2.1 0x82; an operator who uses others lists only those of the version.
func (d *Domain) gpeNext() (uint8, bool) {
	if d.Version == inband.Version2016 || d.Version == inband.Version05 {
		return gpe5, d.isOwnGPE(gpe5)
	}
	listed := d.Points.GPENextProtocols
	preferred := []uint8{0x82, 0x80}
	if d.Version == inband.Version10 {
		preferred = []uint8{0x08}
	}
	for _, next := range preferred {
		if slices.Contains(listed, next) {
			return next, true
		}
	}
	if len(listed) == 0 {
		return 0, false
	}
	return listed[0], true
}

// gpeIOAM steps over the IOAM behind VXLAN-GPE.
func (w *walk) gpeIOAM(at int) (int, uint8, error) {
	var h ioam.Shim
	n, err := h.Decode(w.b[at:])
	if err != nil {
		return 0, 0, err
	}
	body, err := h.BodyLen(len(w.b) - at - n)
	w.depth++ // INT behind it is not where the source puts it
	return n + body, h.NextProtocol, err
}

// gpeShim reads one INT shim behind VXLAN-GPE, and returns how long it is with what it covers, and what follows. Length
// 0: nobody knows.
func (w *walk) gpeShim(at int, next uint8) (int, uint8) {
	s := w.readGPEShim(at, next)
	if s.g {
		w.p.Flow.Tunnel = telemetry.TunnelVXLAN
		if w.outermost() {
			w.p.Outer.DstPort = packet.PortVXLAN
		}
	}
	if own := w.outermost() && w.d.Carrier == VXLANGPE && w.d.Mode != XD && w.d.isOwnGPE(next); own {
		w.chain(&s)
	} else {
		w.p.INT.Nested = true
	}
	return max(0, s.end-at), uint8(s.next)
}

// readGPEShim reads the INT shim at offset at, which Next Protocol next announces.
func (w *walk) readGPEShim(at int, next uint8) shim {
	b := w.b[at:]
	s := shim{at: at, family: inband.DetectL4(b)}
	if next == gpe5 {
		s.family = inband.FamilyOld
	} else if s.family == inband.FamilyUnknown {
		s.family = w.d.family()
	}
	if s.family == inband.Family2x {
		var h inband.ShimGPE
		if _, err := h.Decode(b); err != nil {
			s.err = wire.ErrTruncatedShim
			return s
		}
		s.intType, s.g, s.next = h.Type, h.G, uint16(h.NextProtocol)
		s.cover(h.End(), len(w.b))
		return s
	}
	var h inband.ShimGPEOld
	if _, err := h.Decode(b); err != nil {
		s.err = wire.ErrTruncatedShim
		return s
	}
	s.intType, s.next = h.Type, uint16(h.NextProtocol)
	s.cover(h.End(), len(w.b))
	return s
}

// chain takes down one of the domain's headers behind VXLAN-GPE: the header that nodes look at comes first, and
// destination headers behind it (INT 2.1 §5.1).
func (w *walk) chain(s *shim) {
	p := w.p
	t := &p.INT
	switch {
	case !t.Present:
		t.Present, t.Carrier, t.Start = true, VXLANGPE, s.at
		w.ownShim(s)
	case s.end == 0: // whatever it is, it cannot be removed
		t.End = 0
		t.Malformed = s.err
	case s.intType == inband.TypeDestination && t.Destination == 0:
		t.g = t.g || s.g
		t.Destination, t.DestinationEnd = s.at+shimLen, s.end
	case t.Type == inband.TypeDestination && s.intType != inband.TypeDestination && t.Malformed == 0:
		w.ownShim(s)
	}
	if s.end == 0 {
		return
	}
	t.End, t.next = s.end, s.next
	p.Payload = t.End
}
