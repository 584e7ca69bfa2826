package fabric

// A queue holds packets of one class that wait for a port, oldest first.
type queue struct {
	first, last *parcel
	bytes       uint64
	burst       *burst // while it is long

	strict  bool
	quantum int64 // bytes that it may send in a round of the others
	deficit int64 // bytes that it may still send in this round
}

func (q *queue) push(p *parcel) {
	p.next = nil
	if q.last == nil {
		q.first = p
	} else {
		q.last.next = p
	}
	q.last = p
	q.bytes += p.length
}

// pop removes the oldest packet. There must be one.
func (q *queue) pop() *parcel {
	p := q.first
	q.first = p.next
	if q.first == nil {
		q.last = nil
	}
	p.next = nil
	q.bytes -= p.length
	return p
}
