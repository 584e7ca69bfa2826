package node

import (
	"math/bits"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/event"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// A visit is what a node knows of the packet that it has in its hands.
type visit struct {
	state  *State
	egress Egress
	packet embed.Packet
	own    inband.Metadata
	queue  event.Verdict
	edge   bool // it leaves to an edge
}

// parse reads a frame. In one from outside there is no INT, whatever it looks like.
func (n *Node) parse(frame []byte, p *embed.Packet, outside bool) error {
	err := n.inside.Parse(frame, p)
	if err == nil && outside && p.INT.Present && !n.accepts(p) {
		err = n.outside.Parse(frame, p)
	}
	return err
}

// accepts reports whether a packet from outside has a message of its host to the sink, which may come in, and in front
// of which there is room for INT. Behind TCP and UDP there is one shim: a packet that has it gets no other INT.
func (n *Node) accepts(p *embed.Packet) bool {
	tunnel := n.inside.Carrier == embed.VXLANGPE || n.inside.Carrier == embed.Geneve
	return n.acceptEdge && tunnel && p.INT.DestinationOnly()
}

// marked reports whether the DSCP of p would mark it as INT.
func (n *Node) marked(p *embed.Packet) bool {
	return p.L3 > 0 && n.inside.Mode != embed.XD && n.inside.Carrier == embed.DSCP && n.inside.Points.MarksDSCP(p.DSCP)
}

// class returns the DSCP that chooses the queue (INT 2.1 §5.7.2).
func (n *Node) class(p *embed.Packet) uint8 {
	if !p.INT.Present && n.marked(p) {
		return p.DSCP &^ n.inside.Points.INTDSCPMask
	}
	return n.inside.ClassDSCP(p)
}

// balance returns the hash of the flow of the outermost packet, as it was before INT.
func balance(p *embed.Packet) uint64 {
	if p.HasOuter {
		return p.Outer.Hash()
	}
	return p.Flow.Hash()
}

// flowFlags returns whether a TCP packet begins or ends its flow. In a tunnel that is not looked for: events are found
// without it too.
func flowFlags(p *embed.Packet) (f stateFlags) {
	at := p.L4
	if p.HasOuter || p.LaterFragment || p.Flow.Protocol != packet.ProtoTCP {
		return 0
	}
	if p.Protocol != packet.ProtoTCP {
		at = p.INT.End // of a UDP header that INT brought along
	}
	const (
		flagsAt  = 13
		fin, syn = 0x01, 0x02
		rst      = 0x04
	)
	if at == 0 || at+flagsAt >= len(p.Frame) {
		return 0
	}
	flags := p.Frame[at+flagsAt]
	if flags&syn != 0 {
		f = flowStart
	}
	if flags&(fin|rst) != 0 {
		f |= flowEnd
	}
	return f
}

// packetHash returns a hash of what does not change on the way of a packet without INT and differs between packets of a
// flow: the IPv4 Identification, and the first 32 bytes behind the IP header (TCP sequence number, checksum, payload).
func packetHash(p *embed.Packet, flow uint64) uint64 {
	h := flow
	if p.IPVersion == 4 {
		h = fold(h, uint64(p.Frame[p.L3+4])<<8|uint64(p.Frame[p.L3+5]))
	}
	b := p.Frame[p.L4:p.End]
	for range 4 {
		if len(b) < 8 {
			break
		}
		h = fold(h, uint64(b[0])|uint64(b[1])<<8|uint64(b[2])<<16|uint64(b[3])<<24|
			uint64(b[4])<<32|uint64(b[5])<<40|uint64(b[6])<<48|uint64(b[7])<<56)
		b = b[8:]
	}
	return h
}

// fold mixes x into h: the folded multiplication of wyhash.
func fold(h, x uint64) uint64 {
	hi, lo := bits.Mul64(h^0xa0761d6478bd642f, x^0xe7037ed1a0b428db)
	return hi ^ lo
}

// key returns what watchlists look at.
func (n *Node) key(p *embed.Packet, inPort uint32) (k watch.Key) {
	k.FlowKey, k.DSCP, k.IngressPort = p.Flow, n.class(p), inPort
	if p.Tagged {
		k.VLAN = p.VLAN
	}
	return k
}

// embedded reports whether p has INT whose contents can be read, and what a report says of it.
func embedded(p *embed.Packet) (telemetry.Flags, bool) {
	t := &p.INT
	switch {
	case !t.Present || t.Malformed != 0:
		return 0, false
	case t.FollowUp():
		return telemetry.Embedded | telemetry.Tracked, true
	case t.Type == inband.TypeDestination:
		return 0, false
	case t.Type == inband.TypeMX:
		return telemetry.Instructed | telemetry.Tracked, true
	}
	return telemetry.Embedded | telemetry.Tracked, true
}
