package scan

import (
	"time"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// KeepBursts says what a burst is, and where its details are kept. Without it there are no details. Call it before
// Scan.
func (s *Scanner) KeepBursts(c burst.Config, log *burst.Log) {
	s.bursts, s.kept = burst.NewSearch(c), log
}

// scanQueues puts the samples of all owners together and notes the bursts that are over.
func (s *Scanner) scanQueues(nowNs int64) {
	units := s.source.QueueUnits()
	most := s.leastBelow()
	s.bursts.Resume(nowNs)
	delivered := nowNs
	if s.Delivered != nil {
		delivered = s.Delivered(nowNs) // before the owners: what was handed over since is no harm
	}
	for _, owner := range s.source.Owners {
		list, overflow, lastNs := owner.TakeSamples(s.samples, most)
		if lastNs != 0 {
			delivered = min(delivered, lastNs)
		}
		if overflow > 0 {
			s.unsampled += overflow
			s.bursts.Missed()
		}
		for i := range list {
			if len(units) > 0 {
				if unit, ok := units[list[i].Node]; ok {
					list[i].Unit = unit
				}
			}
			s.bursts.Observe(&list[i])
		}
		s.samples = list
	}
	s.bursts.Behind(uint64(max(nowNs-delivered, 0)))
	s.bursts.Advance(nowNs)
	for _, b := range s.bursts.Take() {
		s.burst(&b, nowNs)
	}
	if s.kept != nil {
		s.kept.SetCounters(s.bursts.Counters(), s.unsampled)
	}
}

// leastBelow returns, for each unit that hops tell, a depth above which no burst ends. The configuration may say that
// the unit of a node is another.
func (s *Scanner) leastBelow() (least [4]uint32) {
	configured := uint32(1<<32 - 1)
	for _, unit := range s.source.QueueUnits() {
		configured = min(configured, s.bursts.LeastBelow(unit))
	}
	for unit := range least {
		least[unit] = min(s.bursts.LeastBelow(telemetry.QueueUnit(unit)), configured)
	}
	return least
}

// maxClockError is how far the clock of a node may be off for its times to be shown.
const maxClockError = int64(time.Minute)

// maxAway is of how many nodes it is kept how far their clocks are off.
const maxAway = 1 << 14

// burst notes a burst, which is over.
func (s *Scanner) burst(b *burst.Burst, nowNs int64) {
	start, end := s.burstTimes(b, nowNs)
	key := eventlog.Key{Kind: telemetry.EventMicroburst, Node: b.Node, Port: b.Port, Queue: b.Queue}
	if b.Incast {
		key.Kind = telemetry.EventIncast
	}
	names := s.flowNames(b)
	if s.kept != nil {
		names.ID, names.StartUnixNs, names.Name = key.ID(start), start, s.source.Names()[b.Node]
		s.kept.Add(names)
	}
	s.log.Note(key, start, end, b.Packets, func(e *telemetry.Event) {
		e.Severity = telemetry.Info
		if b.Drops > 0 {
			e.Severity = telemetry.Warning
		}
		place := topology.HopKey{Node: b.Node, Out: b.Port, Has: telemetry.HasNode | telemetry.HasEgressPort}
		s.at(e, &place)
		queue := b.Queue
		e.Queue = &queue
		e.Text = b.Text(s.portText(&place))
		if len(b.Culprits) > 0 {
			e.Flow = names.Endpoints(b.Culprits[0].Flow)
		}
		e.Evidence = append(e.Evidence, b.Evidence()...)
		e.Extent = names.Extent()
	})
	s.log.End(key, end)
}

// burstTimes returns when a burst began and ended. That is exact by the clock of the node; of a node that counts from
// its start, or whose clock is far off, the first one ends now, and all others are as far from it as by that clock.
func (s *Scanner) burstTimes(b *burst.Burst, nowNs int64) (start, end int64) {
	start, end = int64(b.StartNs)+b.AwayNs, int64(b.EndNs)+b.AwayNs
	away := s.away[b.Node]
	if off := nowNs - end - away; off > maxClockError || off < -maxClockError {
		away = nowNs - end
		if len(s.away) >= maxAway {
			clear(s.away)
		}
		s.away[b.Node] = away
	}
	return start + away, end + away
}

// maxOpenBursts is how many bursts that are not over are told.
const maxOpenBursts = 64

// keepOpenBursts lets the log know which bursts are not over: who asks why a flow is slow does not wait for their end.
func (s *Scanner) keepOpenBursts(nowNs int64) {
	if s.kept == nil {
		return
	}
	open := s.bursts.Open(maxOpenBursts)
	list := make([]*burst.Record, len(open))
	for i := range open {
		list[i] = s.flowNames(&open[i])
		list[i].StartUnixNs, _ = s.burstTimes(&open[i], nowNs)
		list[i].Name = s.source.Names()[open[i].Node]
	}
	s.kept.SetOpen(list)
}

// flowNames returns b with the names of its flows, of those that did not give way to others.
func (s *Scanner) flowNames(b *burst.Burst) *burst.Record {
	k := burst.NewRecord(b)
	for _, owner := range s.source.Owners {
		owner.NameFlows(k.Flows, k.Keys, k.Known)
	}
	return k
}
