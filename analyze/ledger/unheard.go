package ledger

import (
	"sort"

	"github.com/waybill-int/waybill/telemetry"
)

// Unheard are what exporters could not tell in the last hour: a History of each of them.
type Unheard []History

// A History is how the datagrams of an exporter came.
type History struct {
	Key       telemetry.ExporterKey
	Name      string // of the node
	FirstNs   int64  // when the first came
	KeptNs    int64  // since when there are intervals
	LossKnown string // yes, or why not
	intervals []arrivals
}

// arrivals are those of an interval, in which something came or was missing.
type arrivals struct {
	startNs, endNs       int64
	received, sent, lost uint64
}

// Unheard returns how the datagrams of all exporters came.
func (l *Ledger) Unheard() Unheard {
	l.mu.Lock()
	defer l.mu.Unlock()
	var list Unheard
	names := l.names()
	for _, e := range l.exporters {
		e.mu.Lock()
		places := map[*exporter]int{}
		for _, x := range e.accounts {
			if x.forgotten || !x.key.Header {
				continue
			}
			places[x] = len(list)
			h := History{Key: x.key, FirstNs: x.first, KeptNs: e.ledger.sinceNs(), LossKnown: x.lossKnown()}
			if x.key.HasNode {
				h.Name = names[x.key.Node]
			}
			list = append(list, h)
		}
		for i := range e.ledger.list {
			r := &e.ledger.list[i]
			if at, ok := places[r.x]; ok {
				list[at].add(r.start, r.end, &r.counts, r.known)
			}
		}
		for x, at := range places {
			if now := x.counts(); now != x.closed {
				more := now.minus(x.closed)
				list[at].add(e.ledger.opensNs, e.ledger.closesNs, &more, list[at].LossKnown == lossIsKnown)
			}
		}
		e.mu.Unlock()
	}
	return list
}

func (h *History) add(startNs, endNs int64, n *counts, known bool) {
	a := arrivals{startNs: startNs, endNs: endNs, received: n.received}
	if known {
		a.sent, a.lost = n.sent, n.sent-min(n.unique-n.late, n.sent)
	}
	h.intervals = append(h.intervals, a)
}

// Between returns what could not be seen of nodes from fromNs to toNs: of their exporters those of which datagrams were
// lost, or nothing came, in the intervals that this touches. Of a node that reports nothing itself, others tell, and
// any of them may be the one.
func (u Unheard) Between(nodes []uint32, fromNs, toNs int64) (list []telemetry.Unseen) {
	themselves := map[uint32]bool{}
	for _, n := range nodes {
		themselves[n] = false
	}
	for i := range u {
		if _, ok := themselves[u[i].Key.Node]; ok && u[i].Key.HasNode {
			themselves[u[i].Key.Node] = true
		}
	}
	others := false
	for _, does := range themselves {
		others = others || !does
	}
	for i := range u {
		h := &u[i]
		if !others && h.Key.HasNode && !themselves[h.Key.Node] {
			continue
		}
		if one, any := h.between(fromNs, toNs); any {
			list = append(list, one)
		}
	}
	return list
}

// between returns what an exporter could not tell; false if nothing is known to be missing.
func (h *History) between(fromNs, toNs int64) (telemetry.Unseen, bool) {
	one := telemetry.Unseen{Source: h.Key.Source, Name: h.Name}
	one.Node, _, _ = h.Key.Describe()
	received := uint64(0)
	first := sort.Search(len(h.intervals), func(i int) bool { return h.intervals[i].endNs > fromNs })
	for _, a := range h.intervals[first:] {
		if a.startNs > toNs {
			break
		}
		received += a.received
		one.Lost += a.lost
		one.Sent += a.sent
	}
	one.Silent = received == 0 && h.FirstNs < fromNs && h.KeptNs <= fromNs
	return one, one.Lost > 0 || one.Silent
}
