package embed

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

const (
	geneveLen = 8 // without options
	optionLen = 4 // without data
)

// geneve goes through the options of a Geneve header and on.
func (w *walk) geneve(at int) {
	var h packet.Geneve
	n, err := h.Decode(w.b[min(at, len(w.b)):])
	if err != nil {
		w.done(packet.ProtoUDP, w.p.Flow.SrcPort, w.p.Flow.DstPort)
		return
	}
	own := w.outermost() && w.d.Carrier == Geneve && w.d.Mode != XD
	complete := true
	for from, end := at+geneveLen, at+n; from < end; {
		var o packet.GeneveOption
		size, err := o.Decode(w.b[from:end])
		if err != nil {
			complete = false
			if own && slices.Contains(w.d.Points.GeneveClasses, o.Class) && w.d.isOwnClass(o.Class) {
				w.p.INT.Present, w.p.INT.Carrier = true, Geneve
			}
			break
		}
		if slices.Contains(w.d.Points.GeneveClasses, o.Class) {
			w.geneveINT(from, &o, own && w.d.isOwnClass(o.Class))
		}
		from += size
	}
	t := &w.p.INT
	switch {
	case complete:
		w.tunnelAt(at, telemetry.TunnelGeneve)
	case own && t.Present: // there may be more of it
		t.Malformed, t.End = wire.ErrGeneveOptionOverrun, 0
	}
	if own {
		w.p.Payload = at + n
	}
	w.enter(packet.ProtoUDP, telemetry.TunnelGeneve, h.VNI)
	w.etherType(at+n, h.Protocol)
}

// geneveClassINT is the option class that was assigned to INT with version 2.1.
const geneveClassINT = 0x0103

// isOwnClass reports whether a Geneve option class can be that of the domain's version.
func (d *Domain) isOwnClass(class uint16) bool {
	return d.Version == inband.Version20 || class != geneveClassINT
}

// OwnGeneveClasses returns the option classes of Geneve that announce INT of the domain.
func (d *Domain) OwnGeneveClasses() (own []uint16) {
	for _, class := range d.Points.GeneveClasses {
		if d.isOwnClass(class) {
			own = append(own, class)
		}
	}
	return own
}

// geneveClass returns the option class of the domain; false if none is configured. INT 2.1 has one of its own.
func (d *Domain) geneveClass() (uint16, bool) {
	classes := d.Points.GeneveClasses
	if d.Version == inband.Version20 && slices.Contains(classes, geneveClassINT) {
		return geneveClassINT, true
	}
	for _, class := range classes {
		if class != geneveClassINT {
			return class, true
		}
	}
	return 0, false
}

// geneveINT takes down the INT in a Geneve option at offset at.
func (w *walk) geneveINT(at int, o *packet.GeneveOption, own bool) {
	t := &w.p.INT
	end := at + optionLen + len(o.Data)
	switch {
	case !own:
		t.Nested = true
	case !t.Present || t.Type == inband.TypeDestination && o.Type != inband.TypeDestination && t.Malformed == 0:
		t.Present, t.Carrier, t.Type = true, Geneve, o.Type
		t.Start, t.Shim, t.End = at, at, end
		w.contents(inband.FamilyGeneve, at+optionLen, end)
	case o.Type == inband.TypeDestination && t.Destination == 0:
		t.Destination, t.DestinationEnd = at+optionLen, end
	}
}
