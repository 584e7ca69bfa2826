package timing

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// Stamps of 64 bits count nanoseconds, whenever their clock began. Those that go on a thousand times slower than
// reports come count microseconds. What is sent again from a capture, or emulated, may go on at any other rate.

const (
	// rateNs is how long stamps are compared with the clock here: longer than reports are late.
	rateNs = int64(4e9)
	// wrongRates is how many times in a row they must be wrong: a clock that is set is wrong once.
	wrongRates = 2
	// rateFactor is how many times slower or faster than in another unit they may go.
	rateFactor = 1.25
)

// A stampRate compares the stamps of a node with the clock here.
type stampRate struct {
	stamp    uint64
	atNs     int64
	wrong    int     // how often in a row
	times    float64 // how much faster than the clock here, the last time
	reported bool
}

// rate compares the stamps of a hop with the time at which its report came.
func (t *Timing) rate(h *telemetry.Hop, atNs int64) {
	const has = telemetry.HasNode | telemetry.HasIngressTime | telemetry.HasWideTimes
	if h.Has&has != has {
		return
	}
	r := t.rates[h.NodeID]
	if r == nil {
		if len(t.rates) >= maxTwins {
			return
		}
		if t.rates == nil {
			t.rates = map[uint32]*stampRate{}
		}
		t.rates[h.NodeID] = &stampRate{stamp: h.IngressNs, atNs: atNs}
		return
	}
	passed := atNs - r.atNs
	if passed < rateNs && passed >= 0 {
		return
	}
	r.times = float64(int64(h.IngressNs-r.stamp)) / float64(passed)
	r.stamp, r.atNs = h.IngressNs, atNs
	if !isUnit(r.times) {
		if r.wrong, r.reported = 0, false; t.twins[h.NodeID] {
			delete(t.twins, h.NodeID) // for this, or the Scanner says so again
		}
		return
	}
	if r.wrong++; r.wrong >= wrongRates {
		t.forget(h.NodeID)
	}
}

// isUnit reports whether stamps that go so many times as fast as time count microseconds, milliseconds or seconds.
func isUnit(times float64) bool {
	return slices.ContainsFunc([]float64{1e-3, 1e-6, 1e-9},
		func(unit float64) bool { return times > unit/rateFactor && times < unit*rateFactor })
}

// WrongRates returns the nodes whose stamps were found to count no nanoseconds, with how much faster than time they go.
func (t *Timing) WrongRates() map[uint32]float64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	var found map[uint32]float64
	for node, r := range t.rates {
		if r.wrong < wrongRates || r.reported {
			continue
		}
		if found == nil {
			found = map[uint32]float64{}
		}
		found[node], r.reported = r.times, true
	}
	return found
}
