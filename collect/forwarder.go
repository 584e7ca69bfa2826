package collect

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A Forwarder reads datagrams from one socket and gives them to somebody who decodes them elsewhere. Of the allow-list
// it knows the sources only: what nodes a source may report of is looked at where datagrams are decoded.
type Forwarder struct {
	socket  *Socket
	gate    *gate // nil: everybody may send reports
	forward func(ctx context.Context, d *Datagram, nowNs int64) error

	drainedNs                 atomic.Int64
	reading                   atomic.Bool
	received, refused, unsent atomic.Uint64
}

// NewForwarder returns a Forwarder for socket; Run starts it. forward takes a copy of a datagram that arrived at nowNs,
// nanoseconds since 1970; it may wait until ctx is done.
func NewForwarder(
	socket *Socket, allow *AllowList, forward func(ctx context.Context, d *Datagram, nowNs int64) error,
) *Forwarder {
	f := &Forwarder{socket: socket, forward: forward}
	if allow != nil {
		f.gate = &gate{permits: allow}
	}
	return f
}

// Run forwards until ctx is done, then takes what the kernel still holds. It closes the socket.
func (f *Forwarder) Run(ctx context.Context) error {
	defer f.socket.Close()
	stop := context.AfterFunc(ctx, func() { f.socket.SetReadDeadline(time.Now()) })
	defer stop()
	batch := NewBatch(DefaultBatchSize)
	f.drainedNs.Store(time.Now().UnixNano())
	defer f.reading.Store(false)
	for {
		f.reading.Store(false)
		n, err := f.socket.ReadBatch(batch)
		f.reading.Store(true)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		nowNs := time.Now().UnixNano()
		for i := range n {
			switch d := batch.Datagram(i); {
			case f.gate != nil && f.gate.find(d.Source.Addr()) == nil:
				f.refused.Add(1)
			case f.forward(ctx, &d, nowNs) != nil:
				f.unsent.Add(1)
			}
		}
		f.received.Add(uint64(n))
		if batch.emptied() {
			f.drainedNs.Store(nowNs)
		}
	}
}

// Delivered returns up to when all that arrived was forwarded, nanoseconds since 1970; nowNs is now. It may be called
// from any goroutine.
func (f *Forwarder) Delivered(nowNs int64) int64 {
	drainedNs := f.drainedNs.Load() // first: what arrives meanwhile waits
	if drainedNs == 0 {
		return nowNs // it does not run yet
	}
	if f.socket.waits() || f.reading.Load() {
		return min(drainedNs, nowNs)
	}
	return nowNs
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
		Address: f.socket.Addr().String(), Received: f.received.Load(), Refused: f.refused.Load(),
		Unsent: f.unsent.Load(),
	}
	if drops, err := f.socket.Drops(); err == nil {
		s.KernelDrops = drops
	}
	return s
}
