package embed

import (
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

func (w *walk) gre(at int) {
	var h packet.GRE
	n, err := h.Decode(w.b[at:])
	if err != nil {
		w.done(packet.ProtoGRE, 0, 0)
		return
	}
	p := w.p
	if w.outermost() {
		p.Payload = at + n
		if h.HasChecksum {
			p.sum = checksum{at: at + 4, of: sumGRE}
		}
	}
	w.tunnelAt(at, telemetry.TunnelGRE)
	if protocol := w.d.Points.GREProtocol; protocol != 0 && h.Protocol == protocol {
		w.greShim(at, at+n, h.Key)
		return
	}
	w.greProtocol(at+n, h.Protocol, h.Key)
}

// greProtocol goes on with what the (original) Protocol of GRE announces.
func (w *walk) greProtocol(at int, protocol uint16, key uint32) {
	switch protocol {
	case packet.EtherTypeIPv4, packet.EtherTypeIPv6, packet.EtherTypeMPLS, packet.EtherTypeTEB:
		w.enter(packet.ProtoGRE, telemetry.TunnelGRE, key)
		w.etherType(at, protocol)
	default:
		w.done(packet.ProtoGRE, 0, 0)
	}
}

// greShim reads the INT shim at offset at, behind the GRE header at offset gre.
func (w *walk) greShim(gre, at int, key uint32) {
	var h inband.ShimGRE
	s := shim{at: at, family: inband.Family2x}
	if _, err := h.Decode(w.b[at:]); err != nil {
		s.err = wire.ErrTruncatedShim
	} else {
		s.intType, s.g, s.next = h.Type, h.G, h.NextProtocol
		s.cover(h.End(), len(w.b))
	}
	p := w.p
	if w.outermost() && w.d.Carrier == GRE && w.d.Mode != XD {
		t := &p.INT
		t.Present, t.Carrier, t.Start = true, GRE, at
		if s.g {
			t.Start = p.L3
		}
		t.next = s.next
		w.ownShim(&s)
		if t.End != 0 {
			p.Payload = t.End
		}
	} else {
		p.INT.Nested = true
	}
	if s.end == 0 {
		w.done(packet.ProtoGRE, 0, 0)
		return
	}
	w.depth++
	if s.g { // the GRE header and the IP header in front of it are of INT
		w.etherType(s.end, s.next)
		return
	}
	w.greProtocol(s.end, s.next, key)
}
