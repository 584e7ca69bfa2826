package embed

import (
	"encoding/binary"

	"github.com/waybill-int/waybill/wire/packet"
)

// An edit changes a copy of a packet, and keeps its lengths and checksums right. What was inserted or removed starts
// behind all fields that the edit changes, so that these are where Parse found them.
type edit struct {
	p     *Packet
	f     []byte // the copy, from its first byte on
	delta delta  // of what the checksum at p.sum covers
}

// copied appends the packet to dst and returns it as an edit.
func copied(dst []byte, p *Packet) ([]byte, edit) {
	out := append(dst, p.Frame...)
	return out, edit{p: p, f: out[len(dst):]}
}

// put16 changes a word at an even offset behind the L4 header.
func (e *edit) put16(at int, v uint16) {
	e.delta.replace(binary.BigEndian.Uint16(e.f[at:]), v)
	binary.BigEndian.PutUint16(e.f[at:], v)
}

// put8 changes a byte behind the L4 header.
func (e *edit) put8(at int, v uint8) {
	even := at - (at-e.p.L4)&1
	before := binary.BigEndian.Uint16(e.f[even:])
	e.f[at] = v
	e.delta.replace(before, binary.BigEndian.Uint16(e.f[even:]))
}

// ip16 changes a word of the IP header, and with it the checksum of an IPv4 header.
func (e *edit) ip16(at int, v uint16) {
	before := binary.BigEndian.Uint16(e.f[at:])
	binary.BigEndian.PutUint16(e.f[at:], v)
	if e.p.IPVersion == 4 {
		var c delta
		c.replace(before, v)
		sum := e.f[e.p.L3+10:]
		binary.BigEndian.PutUint16(sum, c.apply(binary.BigEndian.Uint16(sum)))
	}
}

// protocol changes the IPv4 protocol or the IPv6 next header that announces the L4 header.
func (e *edit) protocol(v uint8) {
	at := e.p.protocolAt
	even := at - (at-e.p.L3)&1
	w := binary.BigEndian.Uint16(e.f[even:])
	if even == at {
		w = uint16(v)<<8 | w&0x00FF
	} else {
		w = w&0xFF00 | uint16(v)
	}
	e.ip16(even, w)
}

// dscp changes the DSCP.
func (e *edit) dscp(v uint8) {
	w := binary.BigEndian.Uint16(e.f[e.p.L3:])
	shift := 2
	if e.p.IPVersion == 6 {
		shift = 6
	}
	e.ip16(e.p.L3, w&^(0x3F<<shift)|uint16(v&0x3F)<<shift)
}

// ipLength makes the IP packet n bytes longer.
func (e *edit) ipLength(n int) {
	at := e.p.L3 + 2
	if e.p.IPVersion == 6 {
		at = e.p.L3 + 4
	}
	e.ip16(at, binary.BigEndian.Uint16(e.f[at:])+uint16(n))
}

// resize makes the IP packet and what is behind the IP header n bytes longer.
func (e *edit) resize(n int) {
	e.ipLength(n)
	switch e.p.sum.of {
	case sumUDP:
		before := binary.BigEndian.Uint16(e.f[e.p.L4+4:])
		e.put16(e.p.L4+4, before+uint16(n))
		e.delta.replace(before, before+uint16(n)) // of the pseudo header
	case sumTCP:
		before := uint16(e.p.End - e.p.L4)
		e.delta.replace(before, before+uint16(n))
	}
}

// summed reports whether there is a checksum that covers INT.
func (e *edit) summed() bool {
	s := e.p.sum
	return s.of != sumNone && (s.of != sumUDP || binary.BigEndian.Uint16(e.f[s.at:]) != 0)
}

// finish brings the checksum that covers INT up to date (INT 2.1 §5.6).
func (e *edit) finish(d *Domain) {
	if !d.updates() || !e.summed() {
		return
	}
	field := e.f[e.p.sum.at:]
	sum := e.delta.apply(binary.BigEndian.Uint16(field))
	if e.p.sum.of == sumUDP {
		sum = packet.UDPChecksum(sum)
	}
	binary.BigEndian.PutUint16(field, sum)
}
