package analyze

import "github.com/waybill-int/waybill/telemetry"

// A hole is a part of a stream that has not come, and what came behind it.
type hole struct {
	ns         int64 // when it was missed; 0: no hole
	tag        uint32
	from, to   uint32
	path       uint32 // of the packets before and behind it
	full       uint32 // see fullQueues
	generation uint16
	arrivals   uint8 // of the stream, before the packet behind it
}

const (
	holeSets, holesOfSet = 1024, 4
	// holeLifeNs is how long a hole waits to be filled: senders wait for longer only if they were in vain before.
	holeLifeNs = int64(4e9)
)

// A holeTable keeps the holes of all streams of a shard, a flow up to four. A new one takes the place of the oldest.
type holeTable struct {
	sets      [][holesOfSet]hole
	displaced uint64 // holes that gave way, and might have been filled
}

func newHoleTable() holeTable { return holeTable{sets: make([][holesOfSet]hole, holeSets)} }

func (t *holeTable) open(h hole) {
	set := &t.sets[h.tag%holeSets]
	oldest := &set[0]
	for i := range set {
		if set[i].ns < oldest.ns {
			oldest = &set[i]
		}
	}
	if oldest.ns > 0 && h.ns-oldest.ns < holeLifeNs {
		t.displaced++
	}
	*oldest = h
}

// fill takes the data of r out of the hole of a flow that it belongs in, and returns that hole as it was; false if
// there is none.
func (t *holeTable) fill(tag uint32, r *telemetry.Report, nowNs int64) (hole, bool) {
	set := &t.sets[tag%holeSets]
	for i := range set {
		h := &set[i]
		if h.ns == 0 || h.tag != tag || int32(r.StreamTo-h.from) <= 0 || int32(h.to-r.StreamFrom) <= 0 ||
			nowNs-h.ns >= holeLifeNs {
			continue
		}
		was := *h
		switch {
		// the first part, or one in the middle: what is missing in front of it is given up
		case int32(h.to-r.StreamTo) > 0:
			h.from = r.StreamTo
		case int32(r.StreamFrom-h.from) > 0:
			h.to = r.StreamFrom
		default:
			h.ns = 0
		}
		return was, true
	}
	return hole{}, false
}
