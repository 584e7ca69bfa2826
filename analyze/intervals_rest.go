package analyze

import (
	"math"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/telemetry"
)

// dropsSince adds what was dropped since the last look, and notes it as given if it is.
func (v *Intervals) dropsSince(batch *telemetry.Intervals, startNs int64, give bool) {
	for _, s := range v.collector.Owners {
		batch.Drops = append(batch.Drops, s.dropsSince(give)...)
	}
	for i := range batch.Drops {
		batch.Drops[i].StartNs = startNs
	}
}

// dropsSince returns what was dropped since it was given last, and notes it as given if it is: a record for each place
// and destination, as far as they are told apart, and one for the rest.
func (s *Shard) dropsSince(give bool) (list []telemetry.DropInterval) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.intervals
	for key, d := range s.drops.Drops {
		n := d.Packets - p.drops[key]
		if n == 0 {
			continue
		}
		if give {
			p.drops[key] = d.Packets
		}
		r := telemetry.DropInterval{
			Place: placeOf(&key.HopKey), Reason: key.Reason, Reasons: key.Table, DropKey: key.RuleKey,
		}
		for prefix, to := range d.To {
			toward := dropToward{key, prefix}
			r.Packets, r.Flow, r.HasFlow = to.Packets-p.dropsTo[toward], to.Flow, true
			if give {
				p.dropsTo[toward] = to.Packets
			}
			if r.Packets > 0 {
				n -= r.Packets
				list = append(list, r)
			}
		}
		if n > 0 {
			r.Packets, r.Flow, r.HasFlow = n, telemetry.FlowKey{}, false
			list = append(list, r)
		}
	}
	return list
}

// A dropToward is a destination of packets that were dropped at a place.
type dropToward struct {
	drop.Key
	prefix telemetry.Addr
}

// exportersSince adds what exporters sent since the last look, and what was lost of it, and notes it as given if it is.
func (v *Intervals) exportersSince(batch *telemetry.Intervals, startNs int64, give bool) {
	for i, e := range v.collector.Exporters {
		batch.Exporters = e.AppendSince(batch.Exporters, &v.exporters[i], startNs, give)
	}
}

// noteExporters makes what the accounts have counted so far what was given: that of before a restart was given by the
// process before this one.
func (v *Intervals) noteExporters() {
	v.exportersSince(&telemetry.Intervals{}, 0, true)
}

// A seenEvent is what was given of an event.
type seenEvent struct {
	count uint64
	ended bool
}

// takeEvents adds events that are new or have changed.
func (v *Intervals) takeEvents(batch *telemetry.Intervals) {
	if v.log == nil {
		return
	}
	list, _ := v.log.Events(nil, math.MaxInt)
	seen := make(map[string]seenEvent, len(list))
	for i := range list {
		e := &list[i]
		now := seenEvent{e.Count, e.End != nil}
		seen[e.ID] = now
		if before, ok := v.events[e.ID]; !ok || before != now {
			batch.Events = append(batch.Events, *e)
		}
	}
	v.events = seen // those that the log has forgotten are over
}
