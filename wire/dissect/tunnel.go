package dissect

import (
	"slices"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

func (w *walk) gre() Start {
	var h packet.GRE
	l := w.begin()
	n, err := h.Decode(w.rest())
	if len(w.rest()) >= 4 {
		l.flag("c", h.HasChecksum, 0)
		l.flag("k", h.HasKey, 2)
		l.flag("s", h.HasSequence, 3)
		number(&l, "protocol", h.Protocol, 16, 16).Meaning = etherTypeName(h.Protocol)
	}
	if err != nil {
		return w.broken("gre", &l, 4, err)
	}
	at := 32
	if h.HasChecksum {
		number(&l, "checksum", h.Checksum, at, 16)
		at += 32
	}
	if h.HasKey {
		number(&l, "key", h.Key, at, 32)
		at += 32
	}
	if h.HasSequence {
		number(&l, "sequence", h.Sequence, at, 32)
	}
	w.add("gre", &l, n)
	if w.behindIFA {
		return w.ifaMetadata()
	}
	if w.telemetry && w.profile.GREProtocol != 0 && h.Protocol == w.profile.GREProtocol {
		return INTShimGREv2
	}
	return w.etherType(h.Protocol)
}

func (w *walk) vxlan() Start {
	var h packet.VXLAN
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		return w.broken("vxlan", &l, 0, err)
	}
	number(&l, "flags", h.Flags, 0, 8)
	number(&l, "vni", h.VNI, 32, 24)
	w.add("vxlan", &l, n)
	return Ethernet
}

func (w *walk) vxlanGPE() Start {
	var h packet.VXLANGPE
	l := w.begin()
	n, err := h.Decode(w.rest())
	if len(w.rest()) >= 8 {
		number(&l, "flags", h.Flags, 0, 8)
		l.flag("i", h.I(), 4)
		l.flag("p", h.P(), 5)
		number(&l, "next_protocol", h.NextProtocol, 24, 8).Meaning = nextProtocolName(h.NextProtocol)
		number(&l, "vni", h.VNI, 32, 24)
	}
	int2016 := w.profile.GPENextProtocol5 == codepoint.GPE5INT2016 && h.Carries2016()
	if err != nil && !(n > 0 && int2016) {
		return w.broken("vxlan_gpe", &l, 8, err)
	}
	w.add("vxlan_gpe", &l, n)
	if !h.P() && !int2016 {
		return Ethernet
	}
	return gpeNext(w, h.NextProtocol)
}

// Next Protocol numbers that package packet leaves to the deployment.
const (
	gpe5    = packet.NextINT2016 // see codepoint.GPE5
	nshIOAM = 6                  // RFC 9452 §3
)

// gpeNext returns what a Next Protocol of VXLAN-GPE, or of a shim behind it, stands for.
func gpeNext(w *walk, next uint8) Start {
	switch next {
	case packet.NextIPv4:
		return IPv4
	case packet.NextIPv6:
		return IPv6
	case packet.NextEthernet:
		return Ethernet
	case packet.NextNSH:
		return NSH
	}
	if next == gpe5 && w.profile.GPENextProtocol5 == codepoint.GPE5MPLS {
		return MPLS
	}
	if !w.telemetry {
		return Payload
	}
	switch {
	case next == gpe5 && w.profile.GPENextProtocol5 == codepoint.GPE5INT2016:
		return INTShimGPE2016
	case next == gpe5 && w.profile.GPENextProtocol5 == codepoint.GPE5INT05:
		return INTShimGPEv05
	case next == gpe5 && w.profile.GPENextProtocol5 == codepoint.GPE5IOAM:
		return IOAMShim
	case w.profile.GPEIOAMNextProtocol != 0 && next == w.profile.GPEIOAMNextProtocol:
		return IOAMShim
	case slices.Contains(w.profile.GPENextProtocols, next):
		// Type is 8 bits wide in INT 1.0 and 4 bits in 2.x; its values are 1 to 3.
		if rest := w.rest(); len(rest) > 0 && rest[0]>>4 == 0 {
			return INTShimGPEv1
		}
		return INTShimGPEv2
	}
	return Payload
}

func (w *walk) nsh() Start {
	var h packet.NSH
	l := w.begin()
	n, err := h.Decode(w.rest())
	if len(w.rest()) >= 8 && err != wire.ErrNSHVersion {
		l.flag("o", h.O, 2)
		number(&l, "ttl", h.TTL, 4, 6)
		number(&l, "length", h.Length, 10, 6).Unit = "words"
		number(&l, "md_type", h.MDType, 20, 4)
		number(&l, "next_protocol", h.NextProtocol, 24, 8).Meaning = nextProtocolName(h.NextProtocol)
		number(&l, "spi", h.SPI, 32, 24)
		number(&l, "si", h.SI, 56, 8)
		if len(h.Context) > 0 {
			l.bytes("context", h.Context, 64)
		}
	}
	if err != nil {
		return w.broken("nsh", &l, 8, err)
	}
	w.add("nsh", &l, n)
	if h.NextProtocol == nshIOAM && w.telemetry {
		return w.ioamShim(nshNext)
	}
	return nshNext(w, h.NextProtocol)
}

// nshNext returns what a Next Protocol of NSH, or of a shim behind it, stands for.
func nshNext(w *walk, next uint8) Start {
	switch next {
	case packet.NextIPv4:
		return IPv4
	case packet.NextIPv6:
		return IPv6
	case packet.NextEthernet:
		return Ethernet
	case packet.NextNSH:
		return NSH
	case packet.NSHMPLS:
		return MPLS
	}
	return Payload
}

func (w *walk) geneve() Start {
	var h packet.Geneve
	l := w.begin()
	n, err := h.Decode(w.rest())
	if len(w.rest()) >= 8 {
		number(&l, "version", h.Version, 0, 2)
		number(&l, "opt_len", h.OptLen, 2, 6).Unit = "words"
		l.flag("o", h.O, 8)
		l.flag("c", h.C, 9)
		number(&l, "protocol", h.Protocol, 16, 16).Meaning = etherTypeName(h.Protocol)
		number(&l, "vni", h.VNI, 32, 24)
	}
	if err != nil {
		return w.broken("geneve", &l, 8, err)
	}
	end := w.off + n
	w.add("geneve", &l, n-len(h.Options))
	for w.off < end && len(w.layers) < maxLayers {
		if !w.geneveOption(end) {
			break
		}
	}
	w.off = end
	return w.etherType(h.Protocol)
}

// geneveOption reads one option of those that end at end; false if it goes on behind it.
func (w *walk) geneveOption(end int) bool {
	var o packet.GeneveOption
	l := w.begin()
	n, err := o.Decode(w.packet[w.off:end:end])
	if end-w.off >= 4 {
		number(&l, "class", o.Class, 0, 16)
		number(&l, "type", o.Type, 16, 8)
		number(&l, "length", o.Length, 27, 5).Unit = "words"
	}
	if err != nil {
		w.broken("geneve_option", &l, 4, err)
		return false
	}
	if !w.telemetry || !slices.Contains(w.profile.GeneveClasses, o.Class) {
		l.bytes("hex", o.Data, 32)
		w.add("geneve_option", &l, n)
		return true
	}
	w.geneveINT(&o, &l, n)
	return true
}
