package fabric

import "math/rand/v2"

// A port is one end of a link, with the queues of what is to go out there.
type port struct {
	index uint32 // in the fabric
	id    uint32 // of its node, from 1
	node  *node
	peer  *port
	link  *link
	mac   [6]byte

	queues  []queue
	waiting int // packets in all of them
	turn    int // queue that is served in this round

	busyNs int64 // until then a packet leaves the queues
	woken  bool  // an evPort is scheduled for busyNs
	wireNs int64 // until then bits go into the link
	meter  meter
}

// A link joins two ports. Both directions have the same rate.
type link struct {
	name    string
	a, b    *port
	bps     uint64
	delayNs int64
	mtu     int

	down  int    // faults that cut it
	cuts  uint32 // how often it went down
	known bool   // routes take it for up

	gray   float64 // share of packets that it loses
	random *rand.Rand
}

// Framing on the wire that frames do not have: preamble (8), frame check sequence (4) and gap (12); and the least that
// a frame with all of it takes (IEEE 802.3 §3.1.1, §4.4.2).
const (
	framing   = 24
	leastWire = 84
)

// serialNs returns how long a frame of n bytes takes. It is rounded up, so that a link never carries more than its
// rate.
func (l *link) serialNs(n int) int64 {
	bits := uint64(max(n+framing, leastWire)) * 8e9
	return int64((bits + l.bps - 1) / l.bps)
}

// dequeue returns the packet that goes out next, nil if none waits: that of the first strict queue, and otherwise by
// deficit round robin (Shreedhar and Varghese, 1995).
func (p *port) dequeue() *parcel {
	if p.waiting == 0 {
		return nil
	}
	p.waiting--
	if len(p.queues) == 1 {
		return p.queues[0].pop()
	}
	for i := range p.queues {
		if q := &p.queues[i]; q.strict && q.first != nil {
			return q.pop()
		}
	}
	for {
		q := &p.queues[p.turn]
		if q.first != nil && q.deficit >= int64(q.first.length) {
			q.deficit -= int64(q.first.length)
			return q.pop()
		}
		if q.first == nil {
			q.deficit = 0
		}
		p.turn++
		if p.turn == len(p.queues) {
			p.turn = 0
		}
		if next := &p.queues[p.turn]; next.first != nil {
			next.deficit += next.quantum
		}
	}
}
