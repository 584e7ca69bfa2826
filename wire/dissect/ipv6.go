package dissect

import (
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

// isExtension reports whether a next header number is that of an IPv6 extension header that is read here.
func isExtension(nextHeader uint8) bool {
	switch nextHeader {
	case packet.ProtoHopByHop, packet.ProtoDestOptions, packet.ProtoRouting, packet.ProtoFragment, packet.ProtoAH:
		return true
	}
	return false
}

// ipv6Extensions reads the extension headers from nextHeader on and returns what follows them.
func (w *walk) ipv6Extensions(nextHeader uint8) Start {
	for isExtension(nextHeader) && len(w.layers) < maxLayers {
		var ok bool
		switch nextHeader {
		case packet.ProtoHopByHop:
			nextHeader, ok = w.ipv6Options("ipv6_hop_by_hop")
		case packet.ProtoDestOptions:
			nextHeader, ok = w.ipv6Options("ipv6_destination_options")
		case packet.ProtoRouting:
			nextHeader, ok = w.ipv6Routing()
		case packet.ProtoFragment:
			nextHeader, ok = w.ipv6Fragment()
		case packet.ProtoAH:
			nextHeader, ok = w.ipv6Auth()
		}
		if !ok {
			return Payload
		}
	}
	if isExtension(nextHeader) {
		return Payload
	}
	return w.protocol(nextHeader)
}

// ipv6Options reads a header of options. The first IOAM option is part of its layer, the others are layers of their
// own.
func (w *walk) ipv6Options(name string) (uint8, bool) {
	var h packet.IPv6Options
	l := w.begin()
	n, err := h.Decode(w.rest())
	if len(w.rest()) >= 2 {
		number(&l, "next_header", h.NextHeader, 0, 8).Meaning = protocolName(h.NextHeader)
		number(&l, "hdr_ext_len", h.HdrExtLen, 8, 8)
	}
	if err != nil {
		w.broken(name, &l, 2, err)
		return 0, false
	}
	end := w.off + n
	at := len(w.layers)
	w.layers = append(w.layers, Layer{Name: name, Bit: l.start, Width: 8 * n})
	w.off += 2
	first := true
	for w.off < end && len(w.layers) < maxLayers {
		var o packet.IPv6Option
		size, err := o.Decode(w.packet[w.off:end])
		if err != nil {
			w.fail(err)
			break
		}
		if o.Type != packet.IPv6OptionPad1 && o.Type != packet.IPv6OptionPadN {
			first = w.ipv6Option(&o, size, &l, first)
		}
		w.off += size
	}
	w.layers[at].Fields = l.fields
	w.off = end
	return h.NextHeader, true
}

// ipv6Option reads one option of size bytes at the current position, without stepping over it. header is the builder of
// the options header as long as first is true: until it has taken an IOAM option. It returns first for the next option.
func (w *walk) ipv6Option(o *packet.IPv6Option, size int, header *builder, first bool) bool {
	isIOAM := o.Type == ioam.OptionMutable || o.Type == ioam.OptionFixed
	var body ioam.Option
	if _, err := body.Decode(o.Data); !isIOAM || !w.telemetry || err != nil {
		l := w.begin()
		number(&l, "type", o.Type, 0, 8)
		number(&l, "length", len(o.Data), 8, 8).Unit = "bytes"
		l.bytes("hex", o.Data, 16)
		if isIOAM && w.telemetry {
			l.fail(err)
		}
		w.layers = append(w.layers, Layer{Name: "ipv6_option", Bit: l.start, Width: 8 * size, Fields: l.fields})
		return first
	}
	own := w.begin()
	l := &own
	shift := 0
	if first {
		l, shift = header, own.start-header.start
	}
	number(l, "ioam_option_type", o.Type, shift, 8)
	number(l, "opt_data_len", len(o.Data), shift+8, 8).Unit = "bytes"
	number(l, "ioam_opt_type", body.Type, shift+24, 8).Meaning = ioamTypeName(body.Type)
	if !first {
		w.layers = append(w.layers, Layer{Name: "ipv6_option", Bit: own.start, Width: 8 * size, Fields: own.fields})
	}
	w.ioam(body.Type, w.off+size-len(body.Data), w.off+size)
	return false
}

func (w *walk) ipv6Routing() (uint8, bool) {
	var h packet.IPv6Routing
	l := w.begin()
	n, err := h.Decode(w.rest())
	if len(w.rest()) >= 4 {
		number(&l, "next_header", h.NextHeader, 0, 8).Meaning = protocolName(h.NextHeader)
		number(&l, "hdr_ext_len", h.HdrExtLen, 8, 8)
		number(&l, "type", h.Type, 16, 8)
		number(&l, "segments_left", h.SegmentsLeft, 24, 8)
	}
	if err != nil {
		w.broken("ipv6_routing", &l, 4, err)
		return 0, false
	}
	l.bytes("data", h.Data, 32)
	w.add("ipv6_routing", &l, n)
	return h.NextHeader, true
}

func (w *walk) ipv6Fragment() (uint8, bool) {
	var h packet.IPv6Fragment
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		w.broken("ipv6_fragment", &l, 0, err)
		return 0, false
	}
	number(&l, "next_header", h.NextHeader, 0, 8).Meaning = protocolName(h.NextHeader)
	number(&l, "fragment_offset", h.Offset, 16, 13).Unit = "8 bytes"
	l.flag("mf", h.More, 31)
	number(&l, "id", h.ID, 32, 32)
	w.add("ipv6_fragment", &l, n)
	return h.NextHeader, !h.IsLater()
}

func (w *walk) ipv6Auth() (uint8, bool) {
	var h packet.IPv6Auth
	l := w.begin()
	n, err := h.Decode(w.rest())
	if err != nil {
		w.broken("ipv6_auth", &l, 12, err)
		return 0, false
	}
	number(&l, "next_header", h.NextHeader, 0, 8).Meaning = protocolName(h.NextHeader)
	number(&l, "payload_len", h.PayloadLen, 8, 8)
	number(&l, "spi", h.SPI, 32, 32)
	number(&l, "sequence", h.Sequence, 64, 32)
	l.bytes("icv", h.ICV, 96)
	w.add("ipv6_auth", &l, n)
	return h.NextHeader, true
}
