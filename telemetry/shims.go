package telemetry

import (
	"encoding/binary"
	"math/bits"
	"slices"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

// A carrier is what an INT header stands in; it decides what follows.
type carrier uint8

const (
	overL4 carrier = iota
	overGPE
	overGeneve
)

// marked reports whether an INT shim stands at the start of b, behind a TCP or UDP header.
func (d *Decoder) marked(b []byte) bool {
	p := d.profile
	switch {
	case p.MarksDSCP(d.report.DSCP):
		return true
	case p.ProbeMarker != 0 && len(b) >= 8 && binary.BigEndian.Uint64(b) == p.ProbeMarker:
		return true
	case d.dialect.Has(codepoint.QuirkUnmarked):
		return plausible10(b) || d.dialect.Has(codepoint.QuirkShortLength) && unmarked05(b) > 0
	}
	return false
}

// plausible10 reports whether b starts with a shim and an INT 1.0 header that agree with each other.
func plausible10(b []byte) bool {
	if len(b) < 12 || b[0] != inband.TypeHopByHop || b[1] != 0 {
		return false
	}
	words, hopML := int(b[2]), int(b[6]&0x1f)
	return words >= 3 && hopML > 0 && (words-3)%hopML == 0 && b[4]>>4 <= 2
}

// unmarked05 returns the length of what begins with a shim of Length 0 and a header of INT 0.5 at the front of b, tail
// included, as the generator of INTCollector writes it; 0 if b does not.
func unmarked05(b []byte) int {
	var h inband.Header05
	if len(b) < 4 || b[0] != inband.TypeHopByHop || b[1]|b[2]|b[3] != 0 {
		return 0
	}
	if _, err := h.Decode(b[4:]); err != nil || h.Version != 0 || h.TotalHopCount > h.MaxHopCount {
		return 0
	}
	end := 16 + 4*int(h.InstructionCount)*int(h.TotalHopCount)
	if h.InstructionCount == 0 || int(h.InstructionCount) != bits.OnesCount16(h.Bitmap) || end > len(b) {
		return 0
	}
	return end
}

// shimL4 reads an INT shim that DSCP or a marker announces behind TCP or UDP.
func (d *Decoder) shimL4(b []byte, protocol uint8) error {
	if p := d.profile; p.ProbeMarker != 0 && len(b) >= 8 && binary.BigEndian.Uint64(b) == p.ProbeMarker {
		b = b[8:]
		d.frag.inserted += 8
	}
	if inband.DetectL4(b) == inband.Family2x {
		return d.shim20(b, false, protocol)
	}
	f := &d.frag
	var shim inband.ShimL4Old
	n, err := shim.Decode(b)
	if err != nil {
		d.note(err)
		f.segment = 0 // who knows how much of it is INT
		return d.done(nil, protocol, d.report.Flow.SrcPort, d.report.Flow.DstPort)
	}
	end := shim.End()
	if end == 0 && d.dialect.Has(codepoint.QuirkShortLength) {
		end = unmarked05(b)
	}
	f.inserted += end
	var v inband.Version
	var tail []byte
	if shim.Type == inband.TypeHostINT && d.dialect.Has(codepoint.QuirkHostINT) && end >= n {
		tail, err = d.hostStack(b[n:min(end, len(b))], end-n)
		v = inband.Version05
	} else {
		v, err = d.old(b, n, end, overL4, 0, shim.Type)
		if v == inband.Version05 && end >= 8 && end <= len(b) {
			tail = b[end-4 : end]
		}
	}
	if err != nil {
		d.note(err)
	}
	port := d.report.Flow.DstPort
	switch v {
	case inband.Version05:
		var t inband.Tail05
		if _, err := t.Decode(tail); err == nil {
			d.report.DSCP = t.DSCP & 0x3f
			// Some leave the copy of the port empty. GEANT leaves the port in place, and its copy of it is garbage over
			// TCP.
			if t.DstPort != 0 && !d.dialect.Has(codepoint.QuirkWideTimestamps) {
				port = t.DstPort
			}
		}
	case inband.Version10:
		d.report.DSCP = shim.DSCP
	}
	rest := b[min(end, len(b)):]
	if protocol == packet.ProtoUDP {
		return d.udpPayload(rest, port)
	}
	if d.profile.INTBeforeTCPOptions {
		rest = rest[min(max(f.tcpOptions, 0), len(rest)):]
	}
	return d.done(rest, protocol, d.report.Flow.SrcPort, port)
}

// shim20 reads an INT 2.x shim; byPort says that the UDP destination port announced it.
func (d *Decoder) shim20(b []byte, byPort bool, protocol uint8) error {
	f := &d.frag
	port := d.report.Flow.DstPort
	var shim inband.ShimL4
	n, err := shim.Decode(b)
	if err != nil {
		d.note(err)
		f.segment = 0
		return d.done(nil, protocol, d.report.Flow.SrcPort, port)
	}
	end := shim.End()
	if d.dialect.Has(codepoint.QuirkShimCountsItself) {
		end -= 4
	}
	f.inserted += end
	if err := d.header20(b, n, end, shim.Type); err != nil {
		d.note(err)
	}
	rest := b[min(end, len(b)):]
	switch {
	case shim.NPT == inband.NPTProtocol && byPort:
		f.inserted += 8
		d.report.Flow.SrcPort, d.report.Flow.DstPort = 0, 0
		if end > len(b) {
			return nil // the original packet was cut off
		}
		return d.transportOf(rest, shim.Protocol)
	case shim.NPT == inband.NPTDstPort && byPort:
		d.report.Flow.DstPort = shim.DstPort
		return d.udpPayload(rest, shim.DstPort)
	case shim.NPT == inband.NPTDSCP && !byPort:
		d.report.DSCP = shim.DSCP
		if protocol == packet.ProtoTCP {
			if d.profile.INTBeforeTCPOptions {
				rest = rest[min(max(f.tcpOptions, 0), len(rest)):]
			}
			return d.done(rest, packet.ProtoTCP, d.report.Flow.SrcPort, port)
		}
		return d.udpPayload(rest, port)
	}
	d.note(wire.ErrUnknownNPT)
	return d.done(nil, protocol, d.report.Flow.SrcPort, port)
}

// transportOf goes on with the packet that INT put a UDP header (and, for IPSec, an IP header) in front of.
func (d *Decoder) transportOf(b []byte, protocol uint8) error {
	switch protocol {
	case packet.ProtoIPv4:
		return d.ipv4(b)
	case packet.ProtoIPv6:
		return d.ipv6(b)
	}
	return d.transport(b, protocol)
}

// shimGRE reads the shim behind a GRE header and what it covers; inserted says that the GRE header came with INT.
func (d *Decoder) shimGRE(b []byte) (n int, next uint16, inserted bool, err error) {
	var shim inband.ShimGRE
	n, err = shim.Decode(b)
	if err != nil {
		return 0, 0, false, err
	}
	end := shim.End()
	d.frag.inserted += end
	if err := d.header20(b, n, end, shim.Type); err != nil {
		d.note(err)
	}
	return min(end, len(b)), shim.NextProtocol, shim.G, nil
}

// gpeTelemetry reads the INT or IOAM header that Next Protocol next of VXLAN-GPE announces and returns its length and
// what follows; length 0 without an error: next announces something else.
func (d *Decoder) gpeTelemetry(b []byte, next uint8) (int, uint8, error) {
	p := d.profile
	switch {
	case p.GPEIOAMNextProtocol != 0 && next == p.GPEIOAMNextProtocol,
		next == 5 && p.GPENextProtocol5 == codepoint.GPE5IOAM:
		return d.gpeIOAM(b)
	case next == 5 && (p.GPENextProtocol5 == codepoint.GPE5INT2016 || p.GPENextProtocol5 == codepoint.GPE5INT05):
	case slices.Contains(p.GPENextProtocols, next):
	default:
		return 0, 0, nil
	}
	if inband.DetectL4(b) == inband.Family2x {
		var shim inband.ShimGPE
		n, err := shim.Decode(b)
		if err != nil {
			return 0, 0, err
		}
		if d.report.Is(Tracked) {
			err = d.header20(b, n, shim.End(), shim.Type)
		}
		d.frag.inserted += shim.End()
		if shim.G { // the original tunnel was VXLAN (INT 2.1 §5.7.3)
			d.report.Flow.Tunnel = TunnelVXLAN
		}
		return min(shim.End(), len(b)), shim.NextProtocol, err
	}
	var shim inband.ShimGPEOld
	n, err := shim.Decode(b)
	if err != nil {
		return 0, 0, err
	}
	if shim.End() < n {
		return 0, 0, wire.ErrINTHeaderTruncated
	}
	if d.report.Is(Tracked) {
		_, err = d.old(b, n, shim.End(), overGPE, next, shim.Type)
	}
	d.frag.inserted += shim.End()
	return min(shim.End(), len(b)), shim.NextProtocol, err
}

func (d *Decoder) gpeIOAM(b []byte) (int, uint8, error) {
	var shim ioam.Shim
	n, err := shim.Decode(b)
	if err != nil {
		return 0, 0, err
	}
	body, err := shim.BodyLen(len(b) - n)
	if err != nil {
		return 0, 0, err
	}
	if d.report.Is(Tracked) {
		err = d.ioamTrace(shim.Type, b[n:n+body])
	}
	return n + body, shim.NextProtocol, err
}

func (d *Decoder) geneveOptions(options []byte) error {
	var o packet.GeneveOption
	for len(options) > 0 {
		n, err := o.Decode(options)
		if err != nil {
			return err
		}
		options = options[n:]
		if !slices.Contains(d.profile.GeneveClasses, o.Class) {
			continue
		}
		d.frag.inserted += n
		if o.Type == inband.TypeDestination && d.destination(o.Data) {
			continue
		}
		zero := d.profile.FormatVersion0
		if o.Class == 0x0103 { // assigned to INT 2.1: never 2016
			zero = inband.ZeroUnset
		}
		v, _, err := inband.Identify(o.Data, inband.FamilyGeneve, zero)
		if err != nil {
			return err
		}
		if v == inband.Version20 {
			err = d.contents20(o.Data, len(o.Data), o.Type)
		} else if o.Type == inband.TypeHopByHop {
			err = d.contentsOld(o.Data, len(o.Data), v, overGeneve)
		} else if o.Type == inband.TypeDestination {
			err = d.followUp(o.Data, len(o.Data), v, overGeneve)
		}
		if err != nil {
			return err
		}
	}
	return nil
}
