package ioam

import "github.com/waybill-int/waybill/wire/ioam"

// Transit does what a transit node does: it appends p to dst with a record of own in every trace of the domain (RFC
// 9197 §4.4), and returns the new frame. A pre-allocated trace keeps the packet's size; in an incremental one the
// record stands before the older ones. Fields of undefined trace type bits are filled with all ones.
//
// With own nil the node adds nothing. mtu is that of the egress link, in bytes of the IPv6 packet; 0: no limit. A
// record for which there is no room sets O, and where O was set before nothing is added. A trace of another namespace,
// or one that is malformed, is left as it is.
func (d *Domain) Transit(dst []byte, p *Packet, own *ioam.Node, mtu int) (out []byte, r Result) {
	e := copied(dst, p)
	switch {
	case p.L3 == 0:
		return e.b, Result{Why: NotIPv6}
	case p.Malformed != 0:
		return e.b, Result{Why: MalformedIOAM}
	case own == nil:
		return e.b, Result{Why: NoRecord}
	}
	traces := 0
	var o Option
	for s := e.options(p.HopByHop + extensionMinLen); s.Next(&o); {
		if o.IsTrace() {
			traces++
			r.merge(d.add(&e, &o, own, mtu))
			s = e.options(o.End)
		}
	}
	if traces == 0 {
		r.Why = NoIOAM
	}
	return e.b, r
}

// merge adds what was done to one more trace.
func (r *Result) merge(one Result) {
	if one.Why != Done {
		r.Why = one.Why
	}
	if r.Action != Added && one.Action != Forwarded {
		r.Action = one.Action
	}
	r.Grown += one.Grown
	r.Records += one.Records
	r.SetO = r.SetO || one.SetO
}

// add adds the record of own to the trace o, and moves o.End if the option has become longer.
func (d *Domain) add(e *edit, o *Option, own *ioam.Node, mtu int) Result {
	switch {
	case !d.owns(o):
		return Result{Why: UnknownNamespace}
	case o.Malformed != 0, !o.Mutable:
		return Result{Why: MalformedIOAM}
	case o.Trace.Overflow:
		return Result{Why: Overflow}
	}
	why := Done
	n, padding := own.LenFor(o.Trace.Type), 0
	if n > 4*int(o.Trace.RemainingLen) {
		why = Overflow
	} else if o.Type == ioam.TypeIncremental {
		padding = e.padding(o.End)
		why = e.holds(o, n, padding, mtu)
	}
	// From here on the trace is well-formed and has room, so that the functions of package wire/ioam do not fail.
	header, r := o.End-len(o.Data), Result{Action: Added, Records: 1}
	switch {
	case why != Done:
		o.Trace.Overflow = true
		r = Result{Action: Marked, Why: why, SetO: true}
	case o.Type == ioam.TypePreallocated:
		_, _ = o.Trace.AddPreallocated(o.Space, own)
	default:
		r.Grown = e.push(o, own, n, padding)
	}
	_ = o.Trace.Update(e.frame()[header:])
	return r
}

// holds says why an incremental trace that padding follows cannot take n bytes more.
func (e *edit) holds(o *Option, n, padding, mtu int) Why {
	if o.End-o.Start-2+n > maxOptDataLen {
		return CarrierFull
	}
	return e.fits(n+padAfter(n, padding)-padding, mtu)
}

// push inserts the record of n bytes behind the trace header and returns how many bytes the packet is longer.
func (e *edit) push(o *Option, own *ioam.Node, n, padding int) int {
	at := o.End - len(o.Space)
	e.replace(at, at, n)
	_, _, _ = o.Trace.AddIncremental(e.frame()[at:at:at+n], own)
	e.frame()[o.Start+1] += uint8(n)
	o.End += n
	now := padAfter(n, padding)
	if now != padding {
		e.pad(o.End, o.End+padding, now)
	}
	e.resize(n + now - padding)
	return n + now - padding
}

// padAfter returns the padding, below 8 bytes, that keeps the alignment of all that follows when an option in front of
// padding becomes n bytes longer.
func padAfter(n, padding int) int { return (padding - n) & (unit - 1) }
