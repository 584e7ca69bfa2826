package collect

import (
	"context"
	"sync/atomic"
)

// A Forwarder reads datagrams from one socket and gives them to somebody who decodes them elsewhere. Of the allow-list
// it knows the sources only: what nodes a source may report of is looked at where datagrams are decoded.
type Forwarder struct {
	reader
	gate    *gate // nil: everybody may send reports
	forward Forward

	received, refused, unsent atomic.Uint64
}

// A Forward takes a copy of a datagram that arrived on a port at atNs, nanoseconds since 1970. It may wait until ctx is
// done; an error says that the datagram is lost.
type Forward func(ctx context.Context, d *Datagram, port uint16, atNs int64) error

// NewForwarder returns a Forwarder for socket; Run starts it. allow is nil if everybody may send reports.
func NewForwarder(socket *Socket, allow *AllowList, forward Forward) *Forwarder {
	f := &Forwarder{reader: reader{socket: socket}, forward: forward}
	if allow != nil {
		f.gate = &gate{permits: allow}
	}
	return f
}

// Run forwards until ctx is done, then takes what the kernel still holds. It closes the socket.
func (f *Forwarder) Run(ctx context.Context) error {
	return f.run(ctx, func(list []Datagram, port uint16, nowNs int64) {
		for i := range list {
			d, atNs := &list[i], nowNs
			if d.ArrivedNs > 0 {
				atNs = min(d.ArrivedNs, nowNs)
			}
			switch {
			case f.gate != nil && f.gate.find(d.Source.Addr()) == nil:
				f.refused.Add(1)
			case f.forward(ctx, d, port, atNs) != nil:
				f.unsent.Add(1)
			}
		}
		f.received.Add(uint64(len(list)))
	})
}

// ForwarderStats are the counters of a Forwarder: Received = forwarded + Refused + Unsent.
type ForwarderStats struct {
	Address     string // HOST:PORT
	Received    uint64 // datagrams
	KernelDrops uint64 // datagrams for which the receive buffer had no room
	Refused     uint64 // because of who sent them
	Unsent      uint64 // that nobody took: at the end, if there was no room
}

// Stats returns the counters as they are now. It may be called from any goroutine.
func (f *Forwarder) Stats() ForwarderStats {
	s := ForwarderStats{
		Address: f.socket.String(), Received: f.received.Load(), Refused: f.refused.Load(),
		Unsent: f.unsent.Load(),
	}
	if drops, err := f.socket.Drops(); err == nil {
		s.KernelDrops = drops
	}
	return s
}
