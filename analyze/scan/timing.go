package scan

import (
	"github.com/waybill-int/waybill/analyze/baseline"
	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// scanTiming takes what packets met and notes jumps of clocks, and nodes and links that are slower than usual.
func (s *Scanner) scanTiming(nowNs int64) {
	t := s.source.Timing
	for _, owner := range s.source.Owners {
		s.transits = owner.TakeTransits(s.transits)
		t.Take(&s.transits)
	}
	jumps, anomalies := t.Advance(nowNs)
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
		if !j.Known {
			s.to(e, &topology.HopKey{Node: j.Against, Has: telemetry.HasNode})
		}
		e.Text = timing.JumpText(j, s.name)
		e.Evidence = append(
			e.Evidence,
			telemetry.Evidence{Name: "step", Value: float64(j.StepNs), Unit: "ns"},
			telemetry.Evidence{Name: "uncertainty", Value: float64(j.UncertaintyNs), Unit: "ns"},
			telemetry.Evidence{Name: "neighbours", Value: float64(j.Pairs)},
		)
	})
	s.log.End(key, j.BeforeNs)
}

// placeOfKey returns the event that an anomaly is part of.
func placeOfKey(k baseline.Key) eventlog.Key {
	return eventlog.Key{
		Kind: telemetry.EventLatencyAnomaly, Node: k.Node, Port: k.Out, ToNode: k.To, ToPort: k.In,
	}
}

// anomalies notes which places are slow since, and which no more.
func (s *Scanner) anomalies(list []baseline.Anomaly, nowNs int64) {
	began, ended := s.slow.Observe(list)
	for _, p := range began {
		key := placeOfKey(p.Key)
		s.log.Note(key, p.Worst.StartNs, nowNs, uint64(p.Began), func(e *telemetry.Event) { s.tellSlow(e, p) })
		if p.Ports {
			s.log.Amend(key, func(e *telemetry.Event) { e.Port = nil })
		}
	}
	for _, p := range ended {
		s.log.End(placeOfKey(p.Key), p.EndNs)
	}
}

// tellSlow completes the event of a place that is slow.
func (s *Scanner) tellSlow(e *telemetry.Event, p *timing.SlowPlace) {
	a := &p.Worst
	k := &a.Key
	e.Severity = telemetry.Warning
	at := topology.HopKey{Node: k.Node, Has: telemetry.HasNode}
	if k.Link || !p.Ports {
		at.Out, at.Has = k.Out, at.Has|telemetry.HasEgressPort
	}
	s.at(e, &at)
	if k.Link {
		s.to(e, &topology.HopKey{Node: k.To, In: k.In, Has: telemetry.HasNode | telemetry.HasIngressPort})
	}
	e.Text, e.Evidence = p.Text(s.name), append(e.Evidence, p.Evidence()...)
}
