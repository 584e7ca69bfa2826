package fabric

import "encoding/binary"

// An address is what a host, or a tenant's machine on it, is known by.
type address struct {
	mac [6]byte
	v4  [4]byte
	v6  [16]byte
}

// A host sends and receives.
type host struct {
	node *node
	address
	tenant address // inside tunnels

	number   int    // from 1
	nextPort uint16 // source port of the next conversation
	nextID   uint16 // Identification of the next IPv4 packet
}

// tenantAddress returns the address of the tenant's machine on a host: the same in all tunnels.
func tenantAddress(number int) address {
	a := address{
		mac: [6]byte{0x02, 0x02},
		v4:  [4]byte{172, 16 + byte(number>>16), byte(number >> 8), byte(number)},
		v6:  [16]byte{0xfd, 0x01},
	}
	binary.BigEndian.PutUint32(a.mac[2:], uint32(number))
	binary.BigEndian.PutUint32(a.v6[12:], uint32(number))
	return a
}

// Queues of a host. Packets without payload do not wait behind data of others, as with the fair queueing of real hosts:
// otherwise acknowledgements would be late by all that the receiver has to send.
const (
	bulk   = 0
	sparse = 1
)

// Ports that hosts take for their side of a conversation: the dynamic ones of Linux.
const (
	firstPort = 32768
	lastPort  = 60999
)

// freePort returns a port for a new conversation.
func (h *host) freePort() uint16 {
	port := h.nextPort
	if h.nextPort++; h.nextPort > lastPort {
		h.nextPort = firstPort
	}
	return port
}

// out is the port of a host.
func (h *host) out() *port { return h.node.ports[0] }

// send makes a packet of a flow and gives it to the queue of its host.
func (f *Fabric) send(fl *flow, s *segment) {
	p := f.pool.get()
	f.stats.Sent++
	f.stats.InFlight++
	p.id, p.flow, p.bornNs = f.stats.Sent+f.stats.Copies, fl, f.nowNs
	p.sampled = f.sample > 0 && p.id%f.sample == 0
	p.frame = fl.build(p.buffer, s, p.id)
	fl.sent++
	fl.conversation.live++
	class := uint8(bulk)
	if s.length == 0 {
		class = sparse
	}
	f.enqueue(p, fl.src.out(), class)
}

// receive handles a packet that has come to a host. What the host cannot make sense of is dropped as a network stack
// does.
func (f *Fabric) receive(p *parcel) {
	h, fl := p.in.node.host, p.flow
	var s segment
	if fl.dst != h || !fl.conversation.floods && !fl.open(p.frame, &s) {
		f.drop(p, loss{place: PlaceHost, reason: ReasonRefused, node: h.node})
		return
	}
	f.stats.Delivered++
	fl.delivered++
	if f.truth != nil {
		f.watchPath(p)
	}
	c := fl.conversation
	switch {
	case c.udp:
		fl.bytes += uint64(len(s.payload))
	case fl == &c.forth:
		f.hear(c, &s)
	default:
		f.acknowledged(c, &s)
	}
	f.end(p)
}
