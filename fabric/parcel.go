package fabric

// maxHops is how many hops of a packet are remembered: as many as a TTL of 64 allows.
const maxHops = 64

// room is what a frame may grow by beyond the largest MTU: Ethernet, and a telemetry device that notices too late.
const room = 14 + 256

// A parcel is a packet on its way from host to host, with what nobody in the network knows.
type parcel struct {
	next   *parcel // in a queue, or free
	buffer []byte  // frame is a part of it
	frame  []byte

	index   uint32 // in the pool
	flow    *flow
	id      uint64 // from 1, in the order of sending
	bornNs  int64
	sampled bool   // has hop records
	copied  uint64 // the packet that it is a copy of, or that it follows; 0: a host sent it

	// On a link, and in the switch behind it.
	in      *port  // where it arrives
	cuts    uint32 // of the link when it left
	arrived int64  // ns

	// In a switch.
	state    PacketState
	watched  bool // the telemetry device of the switch has seen it arrive
	class    uint8
	route    *route // that it takes; nil in a host
	enqueued int64  // ns
	length   uint64 // of the frame then, bytes
	ahead    uint64 // bytes in the queue then
	stored   uint64 // bytes in the buffer then

	hops int
	path [maxHops]hop
}

// A hop is one switch on the path of a packet.
type hop struct {
	node, in, out uint16
	queue         uint8
}

// A pool holds packets that are used again. There are never more than fit the queues and links of the network.
type pool struct {
	all   []*parcel
	free  *parcel
	bytes int // of each buffer
}

// get returns a packet with an empty frame.
func (p *pool) get() *parcel {
	q := p.free
	if q == nil {
		q = &parcel{index: uint32(len(p.all)), buffer: make([]byte, 0, p.bytes)}
		p.all = append(p.all, q)
	} else {
		p.free = q.next
	}
	q.next, q.hops, q.watched, q.copied, q.route = nil, 0, false, 0, nil
	return q
}

func (p *pool) put(q *parcel) {
	q.frame, q.flow = nil, nil
	q.next = p.free
	p.free = q
}
