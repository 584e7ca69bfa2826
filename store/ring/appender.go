package ring

import (
	"net/netip"
	"sync"
)

// An Appender takes the datagrams of one receiver, so that receivers do not wait for each other.
type Appender struct {
	ring     *Ring
	listener netip.AddrPort

	mu    sync.Mutex
	block *block // being filled; nil: none
}

// Appender returns what takes the datagrams of a socket with that address. All of them are made before Run.
func (r *Ring) Appender(listener netip.AddrPort) *Appender {
	a := &Appender{ring: r, listener: listener}
	r.appenders = append(r.appenders, a)
	return a
}

// Record takes a copy of a datagram that arrived at nowNs, in ns since 1970. It never waits for the disk: if all blocks
// are full, the datagram is counted as dropped.
func (a *Appender) Record(nowNs int64, source netip.AddrPort, payload []byte, truncated bool) {
	payload = payload[:min(len(payload), maxPayload)]
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.block != nil && !a.block.fits(len(payload)) {
		a.flushBlock()
	}
	if a.block == nil {
		select {
		case a.block = <-a.ring.free:
			a.block.reset(a.listener)
		default:
			a.ring.dropped.Add(1)
			return
		}
	}
	a.block.add(nowNs, source, payload, truncated)
}

// flush hands over what there is.
func (a *Appender) flush() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.block != nil {
		a.flushBlock()
	}
}

// flushBlock gives the block to the writer. There is always room: as many wait as there are. mu is held.
func (a *Appender) flushBlock() {
	a.ring.full <- a.block
	a.block = nil
}
