package analyze

import (
	"cmp"
	"fmt"
	"math"
	"time"

	"github.com/waybill-int/waybill/analyze/baseline"
	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A slowPlace is a node, or a link, whose packets take longer than usual. A node is one place, whatever its ports: if
// it is slow at all of them it is one event, and if at one of them, that one stands in it.
type slowPlace struct {
	keys  int   // that go on
	endNs int64 // the latest end of the others

	began int // of them just now
	port  uint32
	ports bool             // more than one
	worst baseline.Anomaly // of those that began first
}

// scanTiming takes what packets met and notes jumps of clocks, and nodes and links that are slower than usual.
func (s *Scanner) scanTiming(nowNs int64) {
	t := s.collector.Timing
	for _, shard := range s.collector.Shards {
		s.transits = shard.takeTransits(s.transits)
		t.take(&s.transits)
		s.transits.overflow = 0
	}
	jumps, anomalies := t.advance(nowNs)
	for i := range jumps {
		s.jump(&jumps[i])
	}
	if len(anomalies) > 0 {
		s.anomalies(anomalies, nowNs)
	}
}

// jump notes that a clock jumped. It is over when it is found.
func (s *Scanner) jump(j *clock.Jump) {
	key := eventlog.Key{Kind: telemetry.EventClockJump, Node: j.Node, ToNode: j.Against}
	s.log.Note(key, j.AfterNs, j.BeforeNs, uint64(j.Pairs), func(e *telemetry.Event) {
		e.Severity = telemetry.Warning
		s.at(e, &topology.HopKey{Node: j.Node, Has: telemetry.HasNode})
		way, step := "ahead", j.StepNs
		if step < 0 {
			way, step = "back", -step
		}
		by := roughly(step) + " ± " + roughly(j.UncertaintyNs)
		if j.Known {
			e.Text = fmt.Sprintf("the clock of %s jumped %s by %s", s.name(j.Node), way, by)
		} else {
			s.to(e, &topology.HopKey{Node: j.Against, Has: telemetry.HasNode})
			e.Text = fmt.Sprintf("the clock of %s jumped %s by %s against that of %s, or the other jumped",
				s.name(j.Node), way, by, s.name(j.Against))
		}
		e.Evidence = append(
			e.Evidence,
			telemetry.Evidence{Name: "step", Value: float64(j.StepNs), Unit: "ns"},
			telemetry.Evidence{Name: "uncertainty", Value: float64(j.UncertaintyNs), Unit: "ns"},
			telemetry.Evidence{Name: "neighbours", Value: float64(j.Pairs)},
		)
	})
	s.log.End(key, j.BeforeNs)
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

// placeOfKey returns the event that an anomaly is part of.
func placeOfKey(k *baseline.Key) eventlog.Key {
	e := eventlog.Key{Kind: telemetry.EventLatencyAnomaly, Node: k.Node}
	if k.Link {
		e.Port, e.ToNode, e.ToPort = k.Out, k.To, k.In
	}
	return e
}

// anomalies notes which places are slow since, and which no more.
func (s *Scanner) anomalies(list []baseline.Anomaly, nowNs int64) {
	began := map[eventlog.Key]*slowPlace{}
	for i := range list {
		a := &list[i]
		key := placeOfKey(&a.Key)
		p := s.slow[key]
		if p == nil {
			p = &slowPlace{}
			s.slow[key] = p
		}
		if a.Ended != "" {
			p.keys--
			p.endNs = max(p.endNs, a.EndNs)
			continue
		}
		if p.keys == 0 && began[key] == nil {
			p.port, p.worst = a.Key.Out, *a
		}
		if began[key] == nil {
			p.began = 0
			began[key] = p
		}
		p.keys++
		p.began++
		p.ports = p.ports || a.Key.Out != p.port
		if p.keys == p.began && worse(a, &p.worst) {
			p.worst = *a
		}
	}
	for key, p := range began {
		s.log.Note(key, p.worst.StartNs, nowNs, uint64(p.began), func(e *telemetry.Event) { s.tellSlow(e, p) })
		if p.ports {
			s.log.Amend(key, func(e *telemetry.Event) { e.Port = nil })
		}
	}
	for key, p := range s.slow {
		if p.keys == 0 {
			s.log.End(key, p.endNs)
			delete(s.slow, key)
		}
	}
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

// tellSlow completes the event of a place that is slow.
func (s *Scanner) tellSlow(e *telemetry.Event, p *slowPlace) {
	a := &p.worst
	k := &a.Key
	e.Severity = telemetry.Warning
	at := topology.HopKey{Node: k.Node, Has: telemetry.HasNode}
	if k.Link || !p.ports {
		at.Out, at.Has = k.Out, at.Has|telemetry.HasEgressPort
	}
	s.at(e, &at)
	now := roughly(int64(a.PeakNs))
	times := fmt.Sprintf("%.3g times as long as usual (%s)", a.Factor(), roughly(int64(a.MedianNs)))
	switch {
	case k.Link:
		s.to(e, &topology.HopKey{Node: k.To, In: k.In, Has: telemetry.HasNode | telemetry.HasIngressPort})
		e.Text = fmt.Sprintf("packets take %s from %s to %s, %s", now, s.name(k.Node), s.name(k.To), times)
	case a.Queued:
		e.Text = fmt.Sprintf("packets that meet no queue stay in %s for %s, %s", s.name(k.Node), now, times)
	default:
		e.Text = fmt.Sprintf("packets stay in %s for %s, %s; it tells of no queue, so this may be congestion",
			s.name(k.Node), now, times)
	}
	e.Evidence = append(
		e.Evidence,
		telemetry.Evidence{Name: "usual", Value: float64(a.MedianNs), Unit: "ns"},
		telemetry.Evidence{Name: "now", Value: float64(a.PeakNs), Unit: "ns"},
		telemetry.Evidence{Name: "factor", Value: tenths(a.Factor())},
		telemetry.Evidence{Name: "deviations", Value: tenths(a.Deviations)},
		telemetry.Evidence{Name: "windows", Value: float64(a.Windows)},
		telemetry.Evidence{Name: "learned", Value: float64(a.Learned)},
	)
}
