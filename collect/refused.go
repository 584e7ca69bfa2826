package collect

import (
	"net/netip"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// maxRefused is how many sources of refused datagrams a receiver lists.
const maxRefused = 512

// A RefusedSource is somebody who sends reports and may not: a source that no permit holds, or one that sends reports
// of nodes that its permit does not name.
type RefusedSource struct {
	Source      netip.Addr
	Permit      *Permit // nil: there is none for the source
	Node        uint32  // of the latest datagram, where Permit is not nil
	Datagrams   uint64
	First, Last time.Time
}

// refusals account for the datagrams that a receiver refused, by source: one that makes up node ids takes no more room.
type refusals struct {
	mu       sync.Mutex
	sources  map[netip.Addr]*refusedSource
	total    uint64
	unlisted uint64 // of sources that found no room
}

type refusedSource struct {
	permit      *Permit
	node        uint32
	datagrams   uint64
	first, last int64
}

// add counts a datagram from source that arrived at nowNs. h is nil if the source alone decided.
func (r *refusals) add(source netip.Addr, permit *Permit, h *telemetry.Header, nowNs int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.total++
	x := r.sources[source]
	if x == nil {
		if len(r.sources) >= maxRefused {
			r.unlisted++
			return
		}
		if r.sources == nil {
			r.sources = map[netip.Addr]*refusedSource{}
		}
		x = &refusedSource{permit: permit, first: nowNs}
		r.sources[source] = x
	}
	if h != nil {
		x.node = h.NodeID
	}
	x.datagrams++
	x.last = nowNs
}

// counts returns how many datagrams were refused, and how many of these are of sources that found no room in the list.
func (r *refusals) counts() (total, unlisted uint64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.total, r.unlisted
}

// Refused returns who sent the datagrams that were refused, in no order. It may be called from any goroutine.
func (r *Receiver) Refused() []RefusedSource {
	r.refused.mu.Lock()
	defer r.refused.mu.Unlock()
	list := make([]RefusedSource, 0, len(r.refused.sources))
	for source, x := range r.refused.sources {
		list = append(list, RefusedSource{
			Source: source, Permit: x.permit, Node: x.node, Datagrams: x.datagrams,
			First: time.Unix(0, x.first).UTC(), Last: time.Unix(0, x.last).UTC(),
		})
	}
	return list
}
