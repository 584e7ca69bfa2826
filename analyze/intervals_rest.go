package analyze

import (
	"math"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/telemetry"
)

// dropsSince adds what was dropped since the last look, and notes it as given if it is.
func (v *Intervals) dropsSince(batch *telemetry.Intervals, startNs int64, give bool) {
	for _, s := range v.collector.Shards {
		s.mu.Lock()
		for key, d := range s.drops.Drops {
			at := dropPlace{s, key}
			n := d.Packets - v.drops[at]
			if n == 0 {
				continue
			}
			if give {
				v.drops[at] = d.Packets
			}
			r := telemetry.DropInterval{
				StartNs: startNs, Place: placeOf(&key.HopKey), Reason: key.Reason,
				Reasons: key.Table, DropKey: key.RuleKey,
			}
			// A record for each destination, as far as they are told apart, and one for the rest.
			for prefix, to := range d.To {
				toward := dropToward{at, prefix}
				r.Packets, r.Flow, r.HasFlow = to.Packets-v.dropsTo[toward], to.Flow, true
				if give {
					v.dropsTo[toward] = to.Packets
				}
				if r.Packets > 0 {
					n -= r.Packets
					batch.Drops = append(batch.Drops, r)
				}
			}
			if n > 0 {
				r.Packets, r.Flow, r.HasFlow = n, telemetry.FlowKey{}, false
				batch.Drops = append(batch.Drops, r)
			}
		}
		s.mu.Unlock()
	}
}

// A dropPlace is a row in the table of drops of a shard.
type dropPlace struct {
	shard *Shard
	drop.Key
}

// A dropToward is a destination of packets that were dropped at a place.
type dropToward struct {
	dropPlace
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
