package timing

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/waybill-int/waybill/analyze/baseline"
	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/telemetry"
)

// A SlowPlace is a node, or a link, whose packets take longer than usual. A node is one place, whatever its ports: if
// it is slow at all of them it is one event, and if at one of them, that one stands in it.
type SlowPlace struct {
	Key   baseline.Key // of all that are part of it: a link, or a node without its ports
	keys  int          // that go on
	EndNs int64        // the latest end of the others

	Began int // of them just now
	port  uint32
	Ports bool             // more than one
	Worst baseline.Anomaly // of those that began first
}

// SlowPlaces are those of the anomalies that go on; a baseline.Tracker bounds these.
type SlowPlaces map[baseline.Key]*SlowPlace

// placeOf returns the place that an anomaly is part of.
func placeOf(k *baseline.Key) baseline.Key {
	if !k.Link {
		return baseline.Key{Node: k.Node}
	}
	return baseline.Key{Link: true, Node: k.Node, Out: k.Out, To: k.To, In: k.In}
}

// Observe takes anomalies that began or ended. It returns the places at which some began, and those at which none go
// on any more.
func (s SlowPlaces) Observe(list []baseline.Anomaly) (began map[baseline.Key]*SlowPlace, ended []*SlowPlace) {
	began = map[baseline.Key]*SlowPlace{}
	for i := range list {
		a := &list[i]
		key := placeOf(&a.Key)
		p := s[key]
		if p == nil {
			p = &SlowPlace{Key: key}
			s[key] = p
		}
		if a.Ended != "" {
			p.keys--
			p.EndNs = max(p.EndNs, a.EndNs)
			continue
		}
		if p.keys == 0 && began[key] == nil {
			p.port, p.Worst = a.Key.Out, *a
		}
		if began[key] == nil {
			p.Began = 0
			began[key] = p
		}
		p.keys++
		p.Began++
		p.Ports = p.Ports || a.Key.Out != p.port
		if p.keys == p.Began && worse(a, &p.Worst) {
			p.Worst = *a
		}
	}
	for key, p := range s {
		if p.keys == 0 {
			ended = append(ended, p)
			delete(s, key)
		}
	}
	return began, ended
}

// worse reports whether a is to stand for a place rather than b: the earlier, or else the one that is further off.
func worse(a, b *baseline.Anomaly) bool {
	if a.StartNs != b.StartNs {
		return a.StartNs < b.StartNs
	}
	if fa, fb := a.Factor(), b.Factor(); fa != fb {
		return fa > fb
	}
	return cmp.Or(cmp.Compare(a.Key.Out, b.Key.Out), cmp.Compare(a.Key.In, b.Key.In),
		cmp.Compare(a.Key.Queue, b.Key.Queue)) < 0
}

// Text says how slow a place is, with the names of nodes.
func (p *SlowPlace) Text(name func(uint32) string) string {
	a, k := &p.Worst, &p.Worst.Key
	now := roughly(int64(a.PeakNs))
	times := fmt.Sprintf("%.3g times as long as usual (%s)", a.Factor(), roughly(int64(a.MedianNs)))
	switch {
	case k.Link:
		return fmt.Sprintf("packets take %s from %s to %s, %s", now, name(k.Node), name(k.To), times)
	case a.Queued:
		return fmt.Sprintf("packets that meet no queue stay in %s for %s, %s", name(k.Node), now, times)
	}
	return fmt.Sprintf("packets stay in %s for %s, %s; it tells of no queue, so this may be congestion", name(k.Node),
		now,
		times)
}

// Evidence returns what shows that a place is slow.
func (p *SlowPlace) Evidence() []telemetry.Evidence {
	a := &p.Worst
	return []telemetry.Evidence{
		{Name: "usual", Value: float64(a.MedianNs), Unit: "ns"},
		{Name: "now", Value: float64(a.PeakNs), Unit: "ns"},
		{Name: "factor", Value: tenths(a.Factor())},
		{Name: "deviations", Value: tenths(a.Deviations)},
		{Name: "windows", Value: float64(a.Windows)},
		{Name: "learned", Value: float64(a.Learned)},
	}
}

// JumpText says that a clock jumped, with the names of nodes.
func JumpText(j *clock.Jump, name func(uint32) string) string {
	way, step := "ahead", j.StepNs
	if step < 0 {
		way, step = "back", -step
	}
	by := roughly(step) + " ± " + roughly(j.UncertaintyNs)
	if j.Known {
		return fmt.Sprintf("the clock of %s jumped %s by %s", name(j.Node), way, by)
	}
	return fmt.Sprintf("the clock of %s jumped %s by %s against that of %s, or the other jumped", name(j.Node), way, by,
		name(j.Against))
}

// tenths rounds a number that is not exact.
func tenths(v float64) float64 { return math.Round(v*10) / 10 }

// roughly returns a duration with three digits. ns is not negative.
func roughly(ns int64) string {
	unit := time.Duration(1)
	for time.Duration(ns) >= 1000*unit {
		unit *= 10
	}
	return time.Duration(ns).Round(unit).String()
}
