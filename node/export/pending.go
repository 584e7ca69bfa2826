package export

// A pending is a datagram that is being filled. There is one for each destination and hardware subsystem: reports of
// different ones never share a datagram (TR 2.0 §2.7).
type pending struct {
	destination int
	hwID        uint8
	sequence    uint32 // of the next datagram
	sent        bool   // a datagram, since Lose
	buf         []byte // the payload; empty: nothing is pending
	reports     int
	flow        uint64 // of the first report
	sinceNs     uint64 // when the first report came

	before, after *pending // in the queue
}

// A queue is the pendings that wait, the longest first. All wait equally long, so it is in the order of their ends too.
type queue struct{ first, last *pending }

func (q *queue) push(p *pending) {
	p.before, p.after = q.last, nil
	if q.last != nil {
		q.last.after = p
	} else {
		q.first = p
	}
	q.last = p
}

func (q *queue) remove(p *pending) {
	if p.before != nil {
		p.before.after = p.after
	} else {
		q.first = p.after
	}
	if p.after != nil {
		p.after.before = p.before
	} else {
		q.last = p.before
	}
	p.before, p.after = nil, nil
}
