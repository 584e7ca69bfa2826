package collect

import (
	"context"
	"errors"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// A reader reads datagrams from one socket, and knows how far it is.
type reader struct {
	socket *Socket // nil: there is nothing to read

	// Up to when all that arrived was handed over, nanoseconds since 1970; and whether what was read is on its way.
	drainedNs atomic.Int64
	reading   atomic.Bool
}

// run gives take what the socket receives until ctx is done, and then what the kernel still holds. It closes the
// socket. The list is take's until it returns.
func (r *reader) run(ctx context.Context, take func(list []Datagram, port uint16, nowNs int64)) error {
	defer r.socket.Close()
	stop := context.AfterFunc(ctx, func() { r.socket.SetReadDeadline(time.Now()) })
	defer stop()
	batch, port := NewBatch(DefaultBatchSize), r.socket.Addr().Port()
	r.drainedNs.Store(time.Now().UnixNano())
	defer r.reading.Store(false)
	for {
		r.reading.Store(false)
		n, err := r.socket.ReadBatch(batch)
		r.reading.Store(true)
		switch {
		case errors.Is(err, os.ErrDeadlineExceeded) || errors.Is(err, net.ErrClosed):
			return nil
		case err != nil:
			return err
		}
		nowNs := time.Now().UnixNano()
		take(batch.datagrams[:n], port, nowNs)
		if all, atNs := batch.emptied(nowNs); all {
			r.drainedNs.Store(atNs)
		}
	}
}

// Delivered returns up to when all that arrived was handed over, nanoseconds since 1970; nowNs is now. It may be called
// from any goroutine. It asks the kernel whether datagrams wait in the socket.
func (r *reader) Delivered(nowNs int64) int64 {
	drainedNs := r.drainedNs.Load() // first: what arrives meanwhile waits
	if drainedNs == 0 {
		return nowNs // it does not run yet
	}
	if r.socket.waits() || r.reading.Load() {
		nowNs = min(drainedNs, nowNs)
	}
	if r.socket.stamped {
		nowNs -= stampedBefore
	}
	return nowNs
}

// stampedBefore is how long before a datagram is in the socket the kernel may have said when it came.
const stampedBefore = 5e6
