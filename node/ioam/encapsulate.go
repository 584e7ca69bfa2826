package ioam

import (
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

// Encapsulate does what a source does: it appends p to dst with the option that q asks for, at the end of the
// hop-by-hop header or in a new one (RFC 9486), and returns the new frame.
//
// own is the record of the source in a trace; nil if it adds none. mtu is that of the egress link, in bytes of the IPv6
// packet; 0: no limit. If the option does not fit, it is not inserted; if only own does not, O is set instead.
//
// A packet from outside the domain must have gone through Decapsulate: options that somebody else has put there in the
// domain's name would be taken for its own.
func (d *Domain) Encapsulate(dst []byte, p *Packet, q *Request, own *ioam.Node, mtu int) (out []byte, r Result) {
	e := copied(dst, p)
	if why := d.insertable(p, q); why != Done {
		return e.b, Result{Why: why}
	}
	head := 0
	if p.HopByHop == 0 {
		head = optionLen // Next Header, Hdr Ext Len and PadN, so that the option is aligned to 4 bytes
	}
	size := head + optionLen + q.bodyLen()
	n := roundUp(size)
	if why := e.fits(n, mtu); why != Done {
		return e.b, Result{Why: why}
	}
	at := e.insert(q, head, size, n)
	r = Result{Action: Inserted, Grown: n}
	if own == nil || q.Type == ioam.TypeDEX {
		return e.b, r
	}
	var o Option
	options := e.options(at)
	if options.Next(&o) {
		added := d.add(&e, &o, own, mtu)
		r.Why, r.Records, r.SetO = added.Why, added.Records, added.SetO
		r.Grown += added.Grown
	}
	return e.b, r
}

// insertable says why p can get no option for q.
func (d *Domain) insertable(p *Packet, q *Request) Why {
	switch {
	case p.L3 == 0:
		return NotIPv6
	case q.Check() != nil, !d.Knows(q.NamespaceID):
		return BadRequest
	case p.Malformed != 0:
		return MalformedIOAM
	}
	var o Option
	for s := p.Options(); s.Next(&o); {
		if d.owns(&o) && o.Type == q.Type && o.NamespaceID == q.NamespaceID {
			return AlreadyIOAM
		}
	}
	return Done
}

// insert writes the option behind all others and returns its offset. Of the n bytes, head are a new hop-by-hop header,
// and those behind size are padding.
func (e *edit) insert(q *Request, head, size, n int) int {
	at := e.p.HopByHopEnd
	if head > 0 {
		at = e.p.L3 + ipv6Len
	}
	e.replace(at, at, n)
	f := e.frame()
	if head > 0 {
		f[at], f[e.p.L3+nextHeaderAt] = f[e.p.L3+nextHeaderAt], packet.ProtoHopByHop
		f[at+extensionMinLen] = packet.IPv6OptionPadN
		e.p.HopByHop, e.p.HopByHopEnd = at, at
	}
	q.append(f[at+head : at+head : at+n])
	e.pad(at+size, at+n, n-size)
	e.resize(n)
	return at + head
}

// roundUp returns the next multiple of 8.
func roundUp(n int) int { return (n + unit - 1) &^ (unit - 1) }
