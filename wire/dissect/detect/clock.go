package detect

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/wire/dissect"
)

// clocks compares how fast the times of nodes go with the clock of the capture.
type clocks struct {
	last  map[uint64]tick
	ratio []float64 // of the steps of a node and those of the capture
}

type tick struct {
	at    time.Time
	value uint64
}

// Steps of the capture that are compared: a shorter one is mostly the time that packets spent on their way, in a longer
// one counters of 32 bits wrap.
const (
	minStep = 500 * time.Microsecond
	maxStep = 2 * time.Second
)

func (c *clocks) hops(hops []dissect.Object, at time.Time) {
	for i, h := range hops {
		node := h.Find("node_id")
		if node == nil {
			node = h.Find("switch_id")
		}
		key := uint64(i) | 1<<41
		if node != nil {
			key = node.Number()
		}
		c.add(key, h.Find("ingress_ts"), at)
	}
}

// add takes a timestamp of a node that was captured at a time.
func (c *clocks) add(node uint64, f *dissect.Field, at time.Time) {
	if f == nil || at.IsZero() || f.Meaning == dissect.NotAvailable || f.Number() == 0 {
		return
	}
	unit, ok := map[string]float64{"ns": 1, "us": 1e3, "ms": 1e6, "s": 1e9}[f.Unit]
	if !ok || unit == 1e9 {
		return
	}
	if c.last == nil {
		c.last = map[uint64]tick{}
	}
	now := tick{at, f.Number()}
	before, ok := c.last[node]
	if !ok {
		c.last[node] = now
		return
	}
	step := at.Sub(before.at)
	if step < minStep && step >= 0 {
		return // wait for more to pass
	}
	c.last[node] = now
	if step > maxStep || step < 0 {
		return
	}
	ticks := now.value - before.value
	if f.Width < 64 {
		ticks &= 1<<f.Width - 1
	}
	c.ratio = append(c.ratio, float64(ticks)*unit/float64(step))
}

// wrong returns 1 if times go at another rate than the clock of the capture, -1 if they go at its rate, and 0 if
// nothing is known.
func (c *clocks) wrong() int {
	if len(c.ratio) < 3 {
		return 0
	}
	slices.Sort(c.ratio)
	if m := c.ratio[len(c.ratio)/2]; m < 0.1 || m > 10 {
		return 1
	}
	return -1
}

// sequences looks whether the sequence numbers of reports count.
type sequences struct {
	last           map[uint64]uint64
	same, advanced int
}

func (s *sequences) add(report *dissect.Layer) {
	f := report.Find("sequence")
	if f == nil {
		return
	}
	key := report.Find("hw_id").Number()
	for _, name := range []string{"switch_id", "node_id"} {
		key = key<<32 ^ report.Find(name).Number()
	}
	for _, name := range []string{"drop", "switch_local"} {
		if second := report.Find(name); second != nil {
			if o, ok := second.Value.(dissect.Object); ok {
				key ^= o.Find("switch_id").Number()
			}
		}
	}
	if s.last == nil {
		s.last = map[uint64]uint64{}
	}
	if last, ok := s.last[key]; ok {
		if last == f.Number() {
			s.same++
		} else {
			s.advanced++
		}
	}
	s.last[key] = f.Number()
}

// odd reports whether the numbers do what the dialect does not say: count, or not.
func (s *sequences) odd(never bool) bool {
	if s.same+s.advanced < 4 {
		return false
	}
	if never {
		return s.advanced > s.same
	}
	return s.advanced == 0
}
