package ioam

// Decapsulate does what the last node of the domain does: it appends p to dst without all options of the domain in its
// hop-by-hop header, and returns the new frame, the packet as it was before Encapsulate. Malformed options are removed
// like others.
//
// If there is nothing but padding besides, the header goes too. An option that another program has put between others
// is replaced by so much padding that those behind it stay aligned.
func (d *Domain) Decapsulate(dst []byte, p *Packet) (out []byte, r Result) {
	e := copied(dst, p)
	switch {
	case p.L3 == 0:
		return e.b, Result{Why: NotIPv6}
	case p.Malformed != 0:
		return e.b, Result{Why: MalformedIOAM}
	}
	var o Option
	for d.last(&e, &o) { // backwards: sources have put their options behind those that were there
		r.Action = Removed
		r.Grown += e.remove(&o)
	}
	if r.Action == Forwarded {
		r.Why = NoIOAM
	}
	return e.b, r
}

// last finds the last option of the domain.
func (d *Domain) last(e *edit, last *Option) bool {
	found := false
	var o Option
	for s := e.options(e.p.HopByHop + extensionMinLen); s.Next(&o); {
		if d.owns(&o) {
			*last, found = o, true
		}
	}
	return found
}

// remove takes o out and returns how many bytes the packet is longer, which is negative.
func (e *edit) remove(o *Option) int {
	start, end := o.Start, o.End+e.padding(o.End)
	if (end-start)%unit == 0 { // as Encapsulate has put it behind others: what is in front of it stays as it is
		e.replace(start, end, 0)
		e.resize(start - end)
		return start - end
	}
	start -= e.paddingBefore(start)
	if start == e.p.HopByHop+extensionMinLen && end == e.p.HopByHopEnd {
		return e.removeHeader()
	}
	left := (end - start) % unit
	e.pad(start, end, left)
	e.resize(left - (end - start))
	return left - (end - start)
}

// removeHeader takes the whole hop-by-hop header out.
func (e *edit) removeHeader() int {
	n := e.p.HopByHopEnd - e.p.HopByHop
	f := e.frame()
	f[e.p.L3+nextHeaderAt] = f[e.p.HopByHop]
	e.replace(e.p.HopByHop, e.p.HopByHopEnd, 0)
	e.p.HopByHop, e.p.HopByHopEnd = 0, 0
	e.p.TotalLength -= n
	e.payloadLength()
	return -n
}
