package fabric

import (
	"encoding/binary"
	"math/rand/v2"

	"github.com/waybill-int/waybill/fabric/scenario"
	"github.com/waybill-int/waybill/wire/packet"
)

// A conversation is one host that has something to send to another, by TCP or UDP.
type conversation struct {
	index uint32 // in the fabric
	forth flow
	back  flow // acknowledgements; none of udp
	udp   bool
	label string
	owner listener // nil: nobody waits for what arrives

	startNs, endNs int64
	over           bool // nothing more will be sent but answers to what is under way
	finished       bool // everything arrived, as far as the sender can know
	live           int  // packets in the network
	pending        int  // events on the agenda

	size    uint64 // bytes that there are to send so far
	closing bool   // there will not be more
	payload uint64 // bytes in a full packet

	bps  uint64 // of udp
	said uint64 // bytes that udp has sent

	floods bool       // of a ddos: nobody looks at what arrives
	forger *rand.Rand // each packet claims to come from another address; nil: they say the truth

	tx sender
	rx receiver
}

// A listener is told what arrives by TCP.
type listener interface {
	// heard says that the first bytes of c, and no more, have arrived in order.
	heard(f *Fabric, c *conversation, bytes uint64)
}

// A shape is what conversations of one traffic have in common.
type shape struct {
	label  string
	udp    bool
	bps    uint64 // of udp; 0: as much as the link of the sender takes
	packet uint64 // largest IP packet inside; 0: as large as the links of both hosts take
	port   uint16
	dscp   uint8
	tunnel tunnel
	vni    uint32
	send   string     // of a ddos: one of scenario.Floods
	forger *rand.Rand // of a ddos, see conversation
	phase  *rand.Rand // of udp: the first datagram waits for a random part of the time between two; nil: it does not
}

// endless is the size of a conversation that somebody stops.
const endless = 1 << 62

// begin opens a conversation with bytes to send. If closing, these are all.
func (f *Fabric) begin(s *shape, src, dst *host, v6 bool, bytes uint64, closing bool) *conversation {
	c := f.freeConversation()
	*c = conversation{
		index: c.index, udp: s.udp, label: s.label, startNs: f.nowNs, size: bytes, closing: closing,
		rx:    receiver{beyond: c.rx.beyond[:0]}, // memory that is used again
		forth: flow{route: c.forth.route.emptied(), before: c.forth.before.emptied()},
		back:  flow{route: c.back.route.emptied(), before: c.back.before.emptied()},
	}
	f.flows++
	c.forth = flow{
		id: f.flows, conversation: c, src: src, dst: dst, v6: v6, protocol: packet.ProtoTCP, srcPort: src.freePort(),
		dstPort: s.port, dscp: s.dscp, ttl: f.ttl, tunnel: s.tunnel, vni: s.vni, route: c.forth.route,
		before: c.forth.before,
	}
	if s.udp {
		c.forth.protocol = packet.ProtoUDP
	}
	c.forth.setOuterPort()
	header := c.forth.headerLen()
	c.payload = uint64(min(src.out().link.mtu, dst.out().link.mtu) - header)
	if s.packet > 0 {
		inner := flow{protocol: c.forth.protocol, v6: v6}
		c.payload = min(c.payload, s.packet-uint64(inner.headerLen()))
	}
	c.floods, c.forger = s.send != "", s.forger
	switch s.send {
	case scenario.FloodSYN:
		c.forth.protocol, c.payload = packet.ProtoTCP, 0
	case scenario.FloodReflection:
		c.forth.srcPort = reflectorPort
	case scenario.FloodICMP:
		c.forth.protocol, c.forth.srcPort, c.forth.dstPort = packet.ProtoICMP, 0, 0
		if v6 {
			c.forth.protocol = packet.ProtoICMPv6
		}
	case scenario.FloodFragments:
		c.forth.isFragment, c.forth.srcPort, c.forth.dstPort = true, 0, 0
	}
	if s.udp {
		c.bps = s.bps
		if c.bps == 0 {
			c.bps = src.out().link.bps
		}
		if s.phase != nil {
			f.schedule(c, f.nowNs+s.phase.Int64N(f.gapNs(c, c.payload)), evSend)
			return c
		}
		f.sayDatagram(c)
		f.release(c)
		return c
	}
	f.flows++
	c.back = flow{id: f.flows, conversation: c, route: c.back.route, before: c.back.before}
	c.back.reverse(&c.forth)
	c.back.setOuterPort()
	f.dial(c)
	return c
}

// freeConversation returns one that is not used.
func (f *Fabric) freeConversation() *conversation {
	if n := len(f.idle); n > 0 {
		c := f.idle[n-1]
		f.idle = f.idle[:n-1]
		return c
	}
	c := &conversation{index: uint32(len(f.conversations))}
	f.conversations = append(f.conversations, c)
	return c
}

// finish ends a conversation from the point of view of its sender.
func (f *Fabric) finish(c *conversation, finished bool) {
	if !c.over {
		c.over, c.finished, c.endNs = true, finished, f.nowNs
	}
}

// release ends a conversation of which nothing is left in the network.
func (f *Fabric) release(c *conversation) {
	if !c.over || c.live > 0 || c.pending > 0 {
		return
	}
	f.writeFlows(c)
	c.over = false // so that it is released once
	f.idle = append(f.idle, c)
}

// stop lets a conversation end at once: what is said, is said.
func (f *Fabric) stop(c *conversation) {
	switch {
	case c.over:
	case c.udp:
		f.finish(c, true)
	default:
		c.size, c.closing = min(c.size, max(c.tx.next, 1)), true
		f.say(c)
	}
}

// schedule adds an event about a conversation, which is kept until then.
func (f *Fabric) schedule(c *conversation, atNs int64, kind eventKind) {
	c.pending++
	f.agenda.add(atNs, kind, c.index)
}

// sayDatagram sends the next datagram and schedules the one behind it at the rate of the conversation.
func (f *Fabric) sayDatagram(c *conversation) {
	n := min(c.payload, c.size-c.said)
	s := segment{length: int(n)}
	if c.floods {
		f.disguise(c, &s)
	}
	f.send(&c.forth, &s)
	c.said += n
	if c.said == c.size {
		f.finish(c, true)
		return
	}
	f.schedule(c, f.nowNs+f.gapNs(c, n), evSend)
}

// reflectorPort is the source port of what reflectors send: that of DNS.
const reflectorPort = 53

// disguise makes the next packet of a flood what a bot sends.
func (f *Fabric) disguise(c *conversation, s *segment) {
	fl := &c.forth
	if fl.protocol == packet.ProtoTCP {
		s.flags, s.window, s.seq = flagSYN, 65535, uint32(mix(f.stats.Sent))
	}
	if c.forger == nil {
		return
	}
	forged := fl.src.address // with its MAC address
	binary.BigEndian.PutUint32(forged.v4[:], 11<<24|c.forger.Uint32()>>8)
	binary.BigEndian.PutUint64(forged.v6[8:], c.forger.Uint64())
	fl.forged = &forged
}

// gapNs returns how long a datagram with n bytes of payload takes at the rate of a conversation.
func (f *Fabric) gapNs(c *conversation, n uint64) int64 {
	bits := (n + uint64(c.forth.headerLen()) + ethernetLen + framing) * 8e9
	return int64(bits/c.bps) + 1
}
