package ledger

import (
	"slices"
	"sort"

	"github.com/waybill-int/waybill/telemetry"
)

// Unheard are what exporters could not tell, as the ledger of the last hour says or a store: a History of each of them.
type Unheard struct {
	list   []History
	byNode map[uint32][]int // places in list
	others []int            // that name no node
}

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
	var list []History
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
	return UnheardOf(list)
}

// UnheardOf returns what is in histories, which are its own then.
func UnheardOf(list []History) Unheard {
	u := Unheard{list: list, byNode: map[uint32][]int{}}
	for i := range list {
		if key := &list[i].Key; key.HasNode {
			u.byNode[key.Node] = append(u.byNode[key.Node], i)
		} else {
			u.others = append(u.others, i)
		}
	}
	return u
}

func (h *History) add(startNs, endNs int64, n *counts, known bool) {
	sent, lost := uint64(0), uint64(0)
	if known {
		sent, lost = n.sent, n.sent-min(n.unique-n.late, n.sent)
	}
	h.Add(startNs, endNs, n.received, sent, lost)
}

// Add adds how many datagrams came in an interval that begins after the others, of how many that were sent, and how
// many were lost. Times are in nanoseconds since 1970.
func (h *History) Add(startNs, endNs int64, received, sent, lost uint64) {
	h.intervals = append(h.intervals, arrivals{startNs, endNs, received, sent, lost})
}

// Kept reports whether all intervals since a time are kept.
func (u Unheard) Kept(sinceNs int64) bool {
	return !slices.ContainsFunc(u.list, func(h History) bool { return h.KeptNs > max(sinceNs, h.FirstNs) })
}

// Between returns what could not be seen of nodes from fromNs to toNs: of their exporters those of which datagrams were
// lost, or nothing came, in the intervals that this touches. Of a node that reports nothing itself, others tell, and
// any of them may be the one. It is not known if the intervals of one of them are no longer kept.
func (u Unheard) Between(nodes []uint32, fromNs, toNs int64) (list []telemetry.Unseen, known bool) {
	places := slices.Clone(u.others)
	for _, n := range nodes {
		places = append(places, u.byNode[n]...)
	}
	if slices.ContainsFunc(nodes, func(n uint32) bool { return u.byNode[n] == nil }) {
		places = places[:0]
		for i := range u.list {
			places = append(places, i)
		}
	}
	slices.Sort(places)
	known = true
	for _, i := range slices.Compact(places) {
		h := &u.list[i]
		if one, any := h.between(fromNs, toNs); any {
			list = append(list, one)
		}
		known = known && (h.KeptNs <= max(fromNs, h.FirstNs) || h.FirstNs >= toNs)
	}
	return list, known
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
