package loss

import "github.com/waybill-int/waybill/telemetry"

// A Hole is a part of a stream that has not come, and what came behind it.
type Hole struct {
	Ns         int64 // when it was missed; 0: no hole
	Tag        uint32
	From, To   uint32
	Path       uint32 // of the packets before and behind it
	Full       uint32 // see fullQueues
	Generation uint16
	Arrivals   uint8 // of the stream, before the packet behind it
}

const (
	holeSets, holesOfSet = 1024, 4
	// holeLifeNs is how long a hole waits to be filled: senders wait for longer only if they were in vain before.
	holeLifeNs = int64(4e9)
)

// A Holes keeps the holes of all streams of a shard, a flow up to four. A new one takes the place of the oldest.
type Holes struct {
	sets      [][holesOfSet]Hole
	Displaced uint64 // holes that gave way, and might have been filled
}

// NewHoles returns a table without holes.
func NewHoles() Holes { return Holes{sets: make([][holesOfSet]Hole, holeSets)} }

// Open keeps a hole; the oldest of its set gives way to it.
func (t *Holes) Open(h Hole) {
	set := &t.sets[h.Tag%holeSets]
	oldest := &set[0]
	for i := range set {
		if set[i].Ns < oldest.Ns {
			oldest = &set[i]
		}
	}
	if oldest.Ns > 0 && h.Ns-oldest.Ns < holeLifeNs {
		t.Displaced++
	}
	*oldest = h
}

// Fill takes the data of r out of the hole of a flow that it belongs in, and returns that hole as it was; false if
// there is none.
func (t *Holes) Fill(tag uint32, r *telemetry.Report, nowNs int64) (Hole, bool) {
	set := &t.sets[tag%holeSets]
	for i := range set {
		h := &set[i]
		if h.Ns == 0 || h.Tag != tag || int32(r.StreamTo-h.From) <= 0 || int32(h.To-r.StreamFrom) <= 0 ||
			nowNs-h.Ns >= holeLifeNs {
			continue
		}
		was := *h
		switch {
		// the first part, or one in the middle: what is missing in front of it is given up
		case int32(h.To-r.StreamTo) > 0:
			h.From = r.StreamTo
		case int32(r.StreamFrom-h.From) > 0:
			h.To = r.StreamFrom
		default:
			h.Ns = 0
		}
		return was, true
	}
	return Hole{}, false
}
