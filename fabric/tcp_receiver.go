package fabric

// A receiver is the side of a TCP connection that data comes to. It acknowledges every segment at once and keeps what
// comes out of order.
type receiver struct {
	isn    uint32
	next   uint64 // first position that has not arrived
	beyond []span // what has arrived behind it, in order, with holes between
	last   uint64 // position of the FIN, if hasFIN
	hasFIN bool
}

// A span is a piece of a stream, without its end.
type span struct{ from, to uint64 }

// add notes that a piece has arrived.
func (r *receiver) add(from, to uint64) {
	if from > r.next {
		r.keep(from, to)
		return
	}
	r.next = max(r.next, to)
	n := 0
	for n < len(r.beyond) && r.beyond[n].from <= r.next {
		r.next = max(r.next, r.beyond[n].to)
		n++
	}
	r.beyond = r.beyond[:copy(r.beyond, r.beyond[n:])]
}

// keep puts a piece in its place among those beyond a hole, and joins it with its neighbours.
func (r *receiver) keep(from, to uint64) {
	i := len(r.beyond)
	for i > 0 && r.beyond[i-1].to >= from {
		i--
	}
	j := i
	for j < len(r.beyond) && r.beyond[j].from <= to {
		from, to = min(from, r.beyond[j].from), max(to, r.beyond[j].to)
		j++
	}
	if i == j {
		r.beyond = append(r.beyond, span{})
		copy(r.beyond[i+1:], r.beyond[i:])
		r.beyond[i] = span{from, to}
		return
	}
	r.beyond[i] = span{from, to}
	r.beyond = append(r.beyond[:i+1], r.beyond[j:]...)
}

// hear handles what comes to the receiver, and answers.
func (f *Fabric) hear(c *conversation, s *segment) {
	r := &c.rx
	answer := segment{flags: flagACK, window: f.window(f.windowShift)}
	switch {
	case s.flags&flagSYN != 0:
		r.isn = uint32(mix(uint64(c.back.id) ^ f.seed))
		answer.flags, answer.seq, answer.ack = flagSYN|flagACK, r.isn, s.seq+1
		answer.window, answer.options = f.window(0), s.options
		f.send(&c.back, &answer)
		return
	case len(s.payload) == 0 && s.flags&flagFIN == 0:
		return
	}
	from := r.next + uint64(int64(int32(s.seq-(c.tx.isn+1)-uint32(r.next))))
	to := from + uint64(len(s.payload))
	if s.flags&flagFIN != 0 {
		r.hasFIN, r.last = true, to
		to++
	}
	if int64(to) > int64(r.next) {
		r.add(from, to)
	}
	data := r.next
	if r.hasFIN && r.next > r.last {
		data = r.last
		answer.flags |= flagFIN
	}
	c.forth.bytes = data
	answer.seq, answer.ack = r.isn+1, c.tx.isn+1+uint32(r.next)
	f.send(&c.back, &answer)
	if c.owner != nil {
		c.owner.heard(f, c, data)
	}
}
