// Package eventlog keeps events: those that go on and the latest of those that are over, both bounded. Who finds events
// notes them by a Key; who reads gets copies. A Log locks itself.
package eventlog

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Key is what makes an event the same as one that goes on: its kind and its subject. Fields that a kind does not
// have are 0.
type Key struct {
	Kind     telemetry.EventKind
	Node     uint32
	Port     uint32
	Queue    uint8
	Reason   uint8
	ToNode   uint32
	ToPort   uint32
	Rule     int32 // of a policy, counted from 1
	Unnamed  bool  // it is not known which node
	Exporter telemetry.ExporterKey
}

// ID is the identity of an event with that key that starts then; it is the same in every run.
func (k *Key) ID(startNs int64) string {
	h := fnv.New64a()
	var b [32]byte
	b[0], b[1], b[2], b[3] = byte(k.Kind), k.Queue, k.Reason, k.Exporter.HWID
	for i, v := range []uint32{k.Node, k.Port, k.ToNode, k.ToPort, k.Exporter.Node} {
		binary.BigEndian.PutUint32(b[4+4*i:], v)
	}
	if k.Unnamed {
		b[3] = 1
	}
	binary.BigEndian.PutUint64(b[24:], uint64(startNs))
	h.Write(b[:])
	h.Write([]byte(k.Exporter.Source.String()))
	if k.Rule != 0 {
		fmt.Fprint(h, k.Rule)
	}
	if k.Exporter.Domain != 0 {
		fmt.Fprint(h, "/", k.Exporter.Domain)
	}
	return fmt.Sprintf("%016x", h.Sum64())
}

// An openEvent goes on.
type openEvent struct {
	telemetry.Event
	last int64 // when it was noted last
}

// An endedEvent is over.
type endedEvent struct {
	telemetry.Event
	number uint64 // how many had ended before
}

// A Log keeps events: those that go on, and the latest of those that are over. Both are bounded. What happens to the
// same subject before the event is over is the same event. When there is no room for one more that is over, the oldest
// of the kind with the most gives way, so that many small things do not push out a rare one.
type Log struct {
	mu      sync.Mutex
	max     int
	perKind int // that go on
	open    map[Key]*openEvent
	kinds   [telemetry.NumEventKinds]int          // events that go on, by kind
	over    [telemetry.NumEventKinds][]endedEvent // the first that ended first
	kept    int                                   // events in over
	ended   uint64                                // all that are over
	changes uint64                                // of what Events returns

	overflow  uint64 // notes of events for which there was no place
	unwatched uint64 // see AddUnwatched

	restored map[Key]bool // of open: not noted since they were restored
	graceNs  int64        // until when they need not be
}

// New returns a log of at most limit events that go on and as many that are over. One kind takes at most a quarter of
// the places for those that go on, or 64, so that who forges reports cannot hide other kinds.
func New(limit int) *Log {
	return &Log{max: limit, perKind: max(limit/4, min(limit, 64)), open: map[Key]*openEvent{}}
}

// Note says that something began at startNs, or goes on, at atNs (since 1970), count times more. fill completes a new
// event; what it finds in it is kind, start and count.
func (l *Log) Note(key Key, startNs, atNs int64, count uint64, fill func(*telemetry.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	e := l.open[key]
	if e == nil {
		if len(l.open) >= l.max || l.kinds[key.Kind] >= l.perKind {
			l.overflow++
			return
		}
		e = &openEvent{Event: telemetry.Event{
			ID: key.ID(startNs), Kind: key.Kind, Start: time.Unix(0, startNs).UTC(),
			Evidence: []telemetry.Evidence{},
		}}
		fill(&e.Event)
		l.open[key] = e
		l.kinds[key.Kind]++
	}
	delete(l.restored, key)
	e.Count += count
	e.last = max(e.last, atNs)
	l.changes++
}

// Amend changes what an event says, if it goes on. The list of its evidence must be replaced, not written to.
func (l *Log) Amend(key Key, change func(*telemetry.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.open[key]; e != nil {
		change(&e.Event)
		l.changes++
	}
}

// AmendEnded changes what an event of a kind says that is over, if it is kept. Lists in it must be replaced, not
// written to.
func (l *Log) AmendEnded(kind telemetry.EventKind, id string, change func(*telemetry.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for i := range l.over[kind] {
		if e := &l.over[kind][i].Event; e.ID == id {
			change(e)
			l.changes++
		}
	}
}

// FillBytes calls fill with an event that goes on and has no bytes that show it.
func (l *Log) FillBytes(key Key, fill func(*telemetry.Event)) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.open[key]; e != nil && e.Bytes == nil {
		fill(&e.Event)
		l.changes++
	}
}

// AddUnwatched counts things that no event can be about because there was no room to watch them.
func (l *Log) AddUnwatched(n uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.unwatched += n
}

// Ongoing reports whether an event with that key is open.
func (l *Log) Ongoing(key Key) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.open[key] != nil
}

// End ends an event at atNs, if it goes on.
func (l *Log) End(key Key, atNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if e := l.open[key]; e != nil {
		l.close(key, e, atNs)
	}
}

// EndQuiet ends the events of a kind that were not noted since sinceNs: they were over when they were noted last.
func (l *Log) EndQuiet(kind telemetry.EventKind, sinceNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for key, e := range l.open {
		if key.Kind == kind && e.last < sinceNs && !l.restored[key] {
			l.close(key, e, e.last)
		}
	}
}

func (l *Log) close(key Key, e *openEvent, atNs int64) {
	delete(l.open, key)
	l.kinds[key.Kind]--
	delete(l.restored, key)
	at := time.Unix(0, atNs).UTC()
	e.End = &at
	l.keep(e.Event)
}

// keep adds an event that is over.
func (l *Log) keep(e telemetry.Event) {
	l.changes++
	l.over[e.Kind] = append(l.over[e.Kind], endedEvent{e, l.ended})
	l.ended++
	if l.kept++; l.kept <= l.max {
		return
	}
	most := 0
	for kind := range l.over {
		if len(l.over[kind]) > len(l.over[most]) {
			most = kind
		}
	}
	l.over[most][0] = endedEvent{} // its texts are garbage
	l.over[most] = l.over[most][1:]
	l.kept--
}

// endedSince returns the events that ended after the first ended ones and are kept, in the order in which they ended.
func (l *Log) endedSince(ended uint64) []telemetry.Event {
	var over []endedEvent
	for _, kind := range l.over {
		first, _ := slices.BinarySearchFunc(kind, ended,
			func(e endedEvent, n uint64) int { return cmp.Compare(e.number, n) })
		over = append(over, kind[first:]...)
	}
	slices.SortFunc(over, func(a, b endedEvent) int { return cmp.Compare(a.number, b.number) })
	list := make([]telemetry.Event, len(over))
	for i := range over {
		list[i] = over[i].Event
	}
	return list
}

// Events returns the limit latest events that match, the latest start first, and how many match. Nil matches all.
func (l *Log) Events(match func(*telemetry.Event) bool, limit int) (list []telemetry.Event, total int) {
	l.mu.Lock()
	for _, e := range l.open {
		if match == nil || match(&e.Event) {
			list = append(list, e.Event)
		}
	}
	for _, over := range l.over {
		for i := range over {
			if match == nil || match(&over[i].Event) {
				list = append(list, over[i].Event)
			}
		}
	}
	l.mu.Unlock()
	slices.SortFunc(list, func(a, b telemetry.Event) int {
		return cmp.Or(b.Start.Compare(a.Start), cmp.Compare(a.Kind, b.Kind), cmp.Compare(a.ID, b.ID))
	})
	total = len(list)
	return list[:min(limit, total)], total
}

// Changes grows whenever Events would return something else: with the same number an answer made of it still holds.
func (l *Log) Changes() uint64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.changes
}

// Counters are totals of a Log.
type Counters struct {
	Open      int
	Ended     uint64
	Overflow  uint64
	Unwatched uint64 // links, groups and new flows that no event can be about, for want of room
}

// Counters returns totals.
func (l *Log) Counters() Counters {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counters{Open: len(l.open), Ended: l.ended, Overflow: l.overflow, Unwatched: l.unwatched}
}
