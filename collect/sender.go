package collect

import (
	"context"
	"fmt"
	"net"
)

// A sender queues datagrams for one address and sends them together.
type sender struct {
	conn      *net.UDPConn
	transport transport // how this system sends

	payloads []byte // the queued payloads, one behind the other
	ends     []int  // where each of them ends in payloads
	summary  Summary
}

// A sender is full at this many datagrams, or this many bytes, whichever comes first.
const (
	maxQueued      = 512
	maxQueuedBytes = 1 << 20
)

// dial returns a sender to address. segment lets it hand runs of datagrams of equal length to the kernel as one.
func dial(ctx context.Context, address string, segment bool) (*sender, error) {
	network, hostPort, err := splitAddress(address)
	if err != nil {
		return nil, err
	}
	if network == networkXDP || network == networkPacket {
		return nil, fmt.Errorf("address %q: reports are sent to udp:// addresses", address)
	}
	dialer := net.Dialer{}
	netConn, err := dialer.DialContext(ctx, "udp", hostPort)
	if err != nil {
		return nil, err
	}
	s := &sender{
		conn:     netConn.(*net.UDPConn), // what DialContext returns for "udp"
		payloads: make([]byte, 0, maxQueuedBytes),
		ends:     make([]int, 0, maxQueued),
	}
	if err := s.transport.init(s, segment); err != nil {
		netConn.Close()
		return nil, err
	}
	return s, nil
}

// full says that flush must come before the next queue.
func (s *sender) full() bool { return len(s.ends) == maxQueued || len(s.payloads) >= maxQueuedBytes }

// queue copies a payload and returns the copy, which may be changed until flush.
func (s *sender) queue(payload []byte) []byte {
	start := len(s.payloads)
	s.payloads = append(s.payloads, payload...)
	s.ends = append(s.ends, len(s.payloads))
	return s.payloads[start:len(s.payloads):len(s.payloads)]
}

// payload returns queued payload i.
func (s *sender) payload(i int) []byte {
	start := 0
	if i > 0 {
		start = s.ends[i-1]
	}
	return s.payloads[start:s.ends[i]:s.ends[i]]
}

// flush sends what is queued. After an error the rest is forgotten; the summary counts what was sent before.
func (s *sender) flush() error {
	sent, err := 0, error(nil)
	for err == nil && sent < len(s.ends) {
		var n int
		n, err = s.transport.send(s, sent)
		for i := range n {
			s.summary.Sent++
			s.summary.Bytes += uint64(len(s.payload(sent + i)))
		}
		sent += n
	}
	if err != nil && sent < len(s.ends) {
		err = fmt.Errorf("datagram %d with %d bytes: %w", s.summary.Sent+1, len(s.payload(sent)), err)
	}
	s.payloads, s.ends = s.payloads[:0], s.ends[:0]
	return err
}

// close closes the socket, after a last look for an answer of the receiver.
func (s *sender) close() {
	s.transport.finish(s)
	s.conn.Close()
}
