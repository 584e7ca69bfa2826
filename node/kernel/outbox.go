//go:build linux

package kernel

import (
	"net"
	"net/netip"

	"golang.org/x/net/ipv4"
)

// An outbox keeps the datagrams of one family of addresses that wait, for one system call. They are no segments of one
// packet (UDP_SEGMENT), which would take a third of the time: where such packets meet a full queue, TestLostReports
// finds drop reports of more packets than were lost, and drops of reports must make no reports.
type outbox struct {
	conn    *ipv4.PacketConn // its batches are the same for both families
	waiting []ipv4.Message   // capacity above length: memory of those before
	to      map[netip.AddrPort]*net.UDPAddr
}

// outboxSize is how many datagrams wait at most.
const outboxSize = 64

// add puts a copy of a datagram behind the others, and says whether the outbox is full.
func (o *outbox) add(b []byte, to netip.AddrPort) (full bool) {
	if len(o.waiting) < cap(o.waiting) {
		o.waiting = o.waiting[:len(o.waiting)+1]
	} else {
		o.waiting = append(o.waiting, ipv4.Message{})
	}
	m := &o.waiting[len(o.waiting)-1]
	if m.Buffers == nil {
		m.Buffers = make([][]byte, 1)
	}
	m.Buffers[0], m.Addr = append(m.Buffers[0][:0], b...), o.address(to)
	return len(o.waiting) >= outboxSize
}

// flush sends what waits, in its order, and returns how many datagrams the kernel took and refused.
func (o *outbox) flush() (sent, failed uint64, last error) {
	for ms := o.waiting; len(ms) > 0; {
		n, err := o.conn.WriteBatch(ms, 0)
		if err != nil { // it is of the first, or the kernel would have taken what is before it
			failed, last, n = failed+1, err, 1
		} else {
			sent += uint64(n)
		}
		ms = ms[n:]
	}
	o.waiting = o.waiting[:0]
	return sent, failed, last
}

// address returns what to is for the library, without new memory for each datagram.
func (o *outbox) address(to netip.AddrPort) *net.UDPAddr {
	a := o.to[to]
	if a == nil {
		if o.to == nil {
			o.to = map[netip.AddrPort]*net.UDPAddr{}
		}
		a = net.UDPAddrFromAddrPort(to)
		o.to[to] = a
	}
	return a
}
