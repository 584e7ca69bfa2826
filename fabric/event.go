package fabric

// An event is something that happens at a moment of virtual time.
type event struct {
	atNs  int64
	order uint64 // of being scheduled: what is due at the same moment happens in this order, in every run
	index uint32 // what it happens to; its meaning depends on kind
	kind  eventKind
}

type eventKind uint8

const (
	evArrive   eventKind = iota // the last bit of packet index is at the other end of its link
	evPort                      // port index can send the next packet
	evRetry                     // the retransmission timer of conversation index may be due
	evSend                      // conversation index may send its next datagram
	evStop                      // conversation index has nothing more to say
	evSource                    // traffic index does its next thing
	evFault                     // half index%2 of fault index/2: 0 begins, 1 ends
	evConverge                  // routes follow the change of link that fault index made
	evTick                      // the telemetry device of node index does what is due by time
)

func (e *event) before(o *event) bool {
	return e.atNs < o.atNs || e.atNs == o.atNs && e.order < o.order
}

// An agenda holds events and gives the earliest first. It is a heap with four children to a node: half as deep as one
// with two, and four events are two cache lines.
type agenda struct {
	heap  []event
	order uint64
}

// add schedules an event.
func (a *agenda) add(atNs int64, kind eventKind, index uint32) {
	a.order++
	e := event{atNs: atNs, order: a.order, index: index, kind: kind}
	a.heap = append(a.heap, e)
	h, i := a.heap, len(a.heap)-1
	for i > 0 {
		parent := (i - 1) / 4
		if !e.before(&h[parent]) {
			break
		}
		h[i] = h[parent]
		i = parent
	}
	h[i] = e
}

// next removes the earliest event. There must be one.
func (a *agenda) next() event {
	h := a.heap
	first, last := h[0], h[len(h)-1]
	h = h[:len(h)-1]
	a.heap = h
	i := 0
	for {
		child := 4*i + 1
		if child >= len(h) {
			break
		}
		end := min(child+4, len(h))
		for c := child + 1; c < end; c++ {
			if h[c].before(&h[child]) {
				child = c
			}
		}
		if !h[child].before(&last) {
			break
		}
		h[i] = h[child]
		i = child
	}
	if len(h) > 0 {
		h[i] = last
	}
	return first
}
