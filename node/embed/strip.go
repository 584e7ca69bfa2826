package embed

import (
	"encoding/binary"
	"errors"
	"slices"

	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// A Stripped is what a sink took out of a packet. All its bytes are views into the frame that Parse was given.
type Stripped struct {
	Present bool
	Carrier Carrier
	Version inband.Version // VersionUnknown: the contents were not read
	Type    uint8

	Bitmap                           uint16 // instructions, at the places that the specification has for them
	HopML, Remaining                 uint8
	DomainID, DSInstruction, DSFlags uint16
	E, M, D, C                       bool

	Hops           int           // records
	Stack          inband.Stack  // the records, newest first
	Layout         inband.Layout // of the metadata in each record
	Records        []byte        // all records as they are in the packet
	SourceOnly     []byte        // as Stack.SourceOnly
	SourceInserted []byte        // of MX
	Destination    []byte        // contents of a destination header

	Removed int  // bytes that the frame is shorter
	Discard bool // the packet must not leave the domain: D or C is set, or INT could not be removed
}

// ErrFragment is the reason why Strip discards a fragment with INT: without it the datagram cannot be put together.
var ErrFragment = errors.New("INT in a fragment")

// Strip does what a sink does: it appends p to dst as it was before INT, and returns the new frame and what was in it.
//
// If INT breaks a rule (err is then INT.Malformed) what its length covers is removed all the same. If that is not
// inside the packet, or nobody can say what the packet was, nothing is appended and Discard is set. Discard is also set
// for clones, probes and copies, with the packet as it was: D (INT 2.1 §5.8) and C (INT 2016 §5.3.3). A packet without
// INT of the domain is appended as it is.
func (d *Domain) Strip(dst []byte, p *Packet) (out []byte, s Stripped, err error) {
	t := &p.INT
	if !t.Present {
		return append(dst, p.Frame...), s, nil
	}
	d.take(p, &s)
	if t.Malformed != 0 {
		err = t.Malformed
	}
	switch {
	case p.Fragment:
		err = ErrFragment
	case t.End != 0:
		out = d.strip(dst, p)
		s.Removed = len(p.Frame) - (len(out) - len(dst))
		return out, s, err
	}
	s.Discard = true
	return dst, s, err
}

// take fills s with what INT says and has collected.
func (d *Domain) take(p *Packet, s *Stripped) {
	t := &p.INT
	*s = Stripped{
		Present: true, Carrier: t.Carrier, Version: t.Version, Type: t.Type,
		Bitmap: t.Bitmap, HopML: t.HopML, Remaining: t.Remaining,
		DomainID: t.DomainID, DSInstruction: t.DSInstruction, DSFlags: t.DSFlags,
		E: t.E, M: t.M, D: t.D, C: t.C, Discard: t.D || t.C,
	}
	if t.Destination != 0 {
		s.Destination = p.Frame[t.Destination:t.DestinationEnd:t.DestinationEnd]
	}
	if t.Malformed != 0 {
		return
	}
	switch t.Type {
	case inband.TypeMX:
		s.SourceInserted = p.Frame[t.Stack:t.StackEnd:t.StackEnd]
	case inband.TypeMD:
		var again INT
		again.Type, again.Header = t.Type, t.Header
		s.Stack, _ = d.readContents(&again, p.Frame[t.Header:t.StackEnd])
		s.Layout = inband.NewLayout(d.format(), t.Bitmap)
		s.Hops, s.Records, s.SourceOnly = s.Stack.Len(), s.Stack.Records, s.Stack.SourceOnly
	}
}

// strip appends p without INT.
func (d *Domain) strip(dst []byte, p *Packet) []byte {
	t := &p.INT
	switch t.Carrier {
	case NewUDP:
		return d.stripUDP(dst, p)
	case GRE:
		if t.g {
			return d.stripOuter(dst, p, t.next)
		}
	case Geneve:
		return d.stripGeneve(dst, p)
	}
	out := append(dst, p.Frame[:t.Start]...)
	out = append(out, p.Frame[t.End:]...)
	e := edit{p: p, f: out[len(dst):]}
	e.delta.remove(p.Frame[t.Start:t.End])
	e.resize(t.Start - t.End)
	switch t.Carrier {
	case DSCP:
		e.dscp(d.originalDSCP(p))
	case DstPort:
		e.put16(p.L4+2, t.next)
	case VXLANGPE:
		d.restoreGPE(&e)
	case GRE:
		e.put16(p.L4+2, t.next)
	}
	e.finish(d)
	return out
}

// stripUDP removes INT with the UDP header, and with the IP header in front of it, that came along.
func (d *Domain) stripUDP(dst []byte, p *Packet) []byte {
	t := &p.INT
	if t.g {
		etherType := uint16(packet.EtherTypeIPv4)
		if t.next == packet.ProtoIPv6 {
			etherType = packet.EtherTypeIPv6
		}
		return d.stripOuter(dst, p, etherType)
	}
	out := append(dst, p.Frame[:t.Start]...)
	out = append(out, p.Frame[t.End:]...)
	e := edit{p: p, f: out[len(dst):]}
	e.ipLength(t.Start - t.End)
	e.protocol(uint8(t.next))
	return out
}

// stripOuter removes INT with all headers from the outermost IP header on, up to a packet of the given EtherType.
func (d *Domain) stripOuter(dst []byte, p *Packet, etherType uint16) []byte {
	t := &p.INT
	if etherType == packet.EtherTypeTEB { // with an Ethernet header of its own
		return append(dst, p.Frame[t.End:]...)
	}
	out := append(dst, p.Frame[:p.L3]...)
	if p.etherTypeAt != 0 {
		binary.BigEndian.PutUint16(out[len(dst)+p.etherTypeAt:], etherType)
	}
	return append(out, p.Frame[t.End:]...)
}

// restoreGPE writes back what announced INT, and makes VXLAN of what was VXLAN.
func (d *Domain) restoreGPE(e *edit) {
	p := e.p
	if !p.INT.g {
		e.put8(p.tunnelAt+gpeNextAt, uint8(p.INT.next))
		return
	}
	e.put8(p.tunnelAt+gpeNextAt, 0)
	e.put8(p.tunnelAt, e.f[p.tunnelAt]&^packet.VXLANFlagP)
	e.put16(p.L4+2, packet.PortVXLAN)
}

// stripGeneve removes every option of the domain.
func (d *Domain) stripGeneve(dst []byte, p *Packet) []byte {
	var h packet.Geneve
	n, err := h.Decode(p.Frame[p.tunnelAt:p.End])
	if err != nil {
		return append(dst, p.Frame...) // Parse has read it
	}
	at := p.tunnelAt + geneveLen
	out := append(dst, p.Frame[:at]...)
	e := edit{p: p}
	removed := 0
	for end := p.tunnelAt + n; at < end; {
		var o packet.GeneveOption
		size, err := o.Decode(p.Frame[at:end])
		if err != nil {
			break // Parse has read it
		}
		option := p.Frame[at : at+size]
		if slices.Contains(d.Points.GeneveClasses, o.Class) && d.isOwnClass(o.Class) {
			e.delta.remove(option)
			removed += size
		} else {
			out = append(out, option...)
		}
		at += size
	}
	out = append(out, p.Frame[at:]...)
	e.f = out[len(dst):]
	e.put8(p.tunnelAt, e.f[p.tunnelAt]-uint8(removed/4)) // Opt Len
	e.resize(-removed)
	e.finish(d)
	return out
}
