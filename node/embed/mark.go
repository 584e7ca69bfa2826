package embed

import (
	"github.com/waybill-int/waybill/wire/inband"
)

// ClassDSCP returns the DSCP that p is to be classified by: what it is without the mark of INT (INT 2.1 §5.7.2).
func (d *Domain) ClassDSCP(p *Packet) uint8 {
	if d.Carrier != DSCP || !p.INT.Present {
		return p.DSCP
	}
	return d.originalDSCP(p)
}

// cleaned returns a DSCP that does not mark INT: dscp, or if it does its bits outside of the mark.
func (d *Domain) cleaned(dscp uint8) uint8 {
	if d.Carrier == DSCP && d.Points.MarksDSCP(dscp) {
		dscp &^= d.Points.INTDSCPMask
	}
	return dscp
}

// originalDSCP returns the DSCP that p had before INT. Of a mark that is only some bits, nodes may have changed the
// rest on the way. It never marks INT, whatever the shim says.
func (d *Domain) originalDSCP(p *Packet) uint8 {
	mask := d.Points.INTDSCPMask
	return d.cleaned(p.DSCP&^mask | p.INT.dscp&mask)
}

// CleanMark is for a packet that enters the domain and gets no INT: it appends p to dst, without the DSCP that would
// mark INT (INT 1.0 §4.6.1, INT 2.1 §5.7.2). rewritten says whether it had that. What Parse says of the INT in such a
// packet means nothing, and after CleanMark it is to be parsed again.
func (d *Domain) CleanMark(dst []byte, p *Packet) (out []byte, rewritten bool) {
	out, e := copied(dst, p)
	clean := d.cleaned(p.DSCP)
	if p.L3 == 0 || clean == p.DSCP {
		return out, false
	}
	e.dscp(clean)
	return out, true
}

// MarkCopy sets C in frame, a copy that the node has made as Rep allows (INT 2016 §5.3.3, up to INT 1.0 §4.7), in
// place. The sink will discard it. It reports whether frame has the INT for that.
func (d *Domain) MarkCopy(frame []byte) bool {
	var p Packet
	return d.Parse(frame, &p) == nil && d.MarkParsedCopy(&p)
}

// MarkParsedCopy is MarkCopy for who has memory for a Packet: it sets C in the frame that p was parsed from, in place.
func (d *Domain) MarkParsedCopy(p *Packet) bool {
	t := &p.INT
	if !t.Present || t.Malformed != 0 || t.Type != inband.TypeHopByHop || d.Version == inband.Version20 {
		return false
	}
	e := edit{p: p, f: p.Frame}
	e.put8(t.Header, p.Frame[t.Header]|d.flagC())
	e.finish(d)
	return true
}

// FollowUp appends to dst the packet that a node sends after p if it processes INT outside of its fast path: it has all
// metadata of p and those of own, and as its header is a destination header and C is set, it triggers nothing on the
// way and does not leave the domain (INT 2016 §4.2). p itself is to be forwarded as it is. There is no follow-up
// packet, and Action is Forwarded, if no record can be added.
func (d *Domain) FollowUp(dst []byte, p *Packet, own *inband.Metadata) (out []byte, r Result) {
	if d.Version != inband.Version2016 && d.Version != inband.Version05 {
		return append(dst, p.Frame...), Result{Why: WrongMode}
	}
	out, r = d.Push(dst, p, own, 0)
	if r.Action != Pushed {
		return append(dst, p.Frame...), Result{Why: r.Why}
	}
	t := &p.INT
	e := edit{p: p, f: out[len(dst):]}
	e.put8(t.Header, e.f[t.Header]|d.flagC())
	at := t.Shim
	if t.Carrier == Geneve {
		at += 2
	}
	e.put8(at, inband.TypeDestination)
	e.finish(d)
	return out, r
}

// SetDSFlags appends p to dst with flags set in DS Flags, in addition to those that are. That is all that a node may
// change of INT-MX, and of the domain-specific fields of INT-MD (INT 2.1 §5.2.2).
func (d *Domain) SetDSFlags(dst []byte, p *Packet, flags uint16) (out []byte, r Result) {
	out, e := copied(dst, p)
	t := &p.INT
	switch {
	case !t.Present:
		return out, Result{Why: NoINT}
	case t.Malformed != 0:
		return out, Result{Why: MalformedINT}
	case t.Version != inband.Version20 || t.Type == inband.TypeDestination:
		return out, Result{Why: WrongMode}
	case t.DSFlags|flags == t.DSFlags:
		return out, Result{}
	}
	const dsFlags = 10 // offset in the header
	e.put16(t.Header+dsFlags, t.DSFlags|flags)
	e.finish(d)
	return out, Result{Action: Marked}
}
