package burst

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// maxWaitingSamples bounds the samples that wait for a scan, 64 bytes each.
const maxWaitingSamples = 1 << 14

// A Waiting holds what packets met at queues since somebody looked last.
type Waiting struct {
	list []Sample
	// floor is the occupancy from which on a packet is sampled. It is 0 unless there are more packets than samples can
	// be looked at: then packets that met short queues are left out first. The end of a burst is found some packets too
	// early or too late then, as those in front of the queue are not known.
	floor    uint32
	floors   [4]uint32 // the same by unit, as far as hops tell: not higher than the least depth at which a burst ends
	calm     int       // looks in a row that found few samples
	overflow uint64
}

// Wants reports whether a hop tells of a queue that is long enough, at a moment that is known.
func (l *Waiting) Wants(h *telemetry.Hop) bool {
	const place = telemetry.HasQueue | telemetry.HasNode | telemetry.HasEgressPort
	const times = telemetry.HasIngressTime | telemetry.HasEgressTime
	return h.QueueOccupancy >= l.floors[h.Has.QueueUnit()&3] && h.Has&place == place && h.Has&times != 0
}

// Full reports whether there is no room for one more sample, and then counts it as one for which there was none.
func (l *Waiting) Full() bool {
	if len(l.list) < maxWaitingSamples {
		return false
	}
	l.overflow++
	return true
}

// Add adds a sample, for which there is room.
func (l *Waiting) Add(s *Sample) { l.list = append(l.list, *s) }

// Starved reports whether packets that met short queues are left out.
func (l *Waiting) Starved() bool { return l.floor > 0 }

// Take exchanges the samples for an empty list, and returns for how many there was no room. No burst ends above a queue
// of most, by unit, so that packets that met shorter ones may be left out from now on.
func (l *Waiting) Take(empty []Sample, most [4]uint32) (list []Sample, overflow uint64) {
	list, overflow = l.list, l.overflow
	l.calm++
	switch n := len(list); {
	case n > maxWaitingSamples/2:
		l.floor, l.calm = min(max(2*l.floor, leastFloor), slices.Max(most[:])), 0
	case n > maxWaitingSamples/16:
		l.calm = 0
	case l.calm > calmLooks && l.floor > 0:
		if l.floor, l.calm = l.floor/2, 0; l.floor < leastFloor {
			l.floor = 0
		}
	}
	for unit := range l.floors {
		l.floors[unit] = min(l.floor, most[unit])
	}
	l.list, l.overflow = empty[:0], 0
	return list, overflow
}

const (
	leastFloor = 1500 // the length of a packet
	calmLooks  = 100  // before the floor is lowered: 10 s
)
