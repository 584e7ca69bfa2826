package analyze

import (
	"math"
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// takeDrops adds what was dropped.
func (v *Intervals) takeDrops(batch *telemetry.Intervals, startNs int64) {
	for _, s := range v.collector.Shards {
		s.mu.Lock()
		for key, d := range s.drops.drops {
			at := dropPlace{s, key}
			n := d.packets - v.drops[at]
			if n == 0 {
				continue
			}
			v.drops[at] = d.packets
			batch.Drops = append(batch.Drops, telemetry.DropInterval{
				StartNs: startNs, Place: placeOf(&key.station), Reason: key.reason, Reasons: key.table, DropKey: key.ruleKey,
				Packets: n, Flow: d.flow, HasFlow: d.hasFlow,
			})
		}
		s.mu.Unlock()
	}
}

// An exporterName is what makes an exporter in answers different from others.
type exporterName struct {
	source           netip.Addr
	node             uint32
	hwID             uint8
	hasNode, hasHWID bool
	version          string
}

// takeExporters adds what exporters sent, and what was lost of it.
func (v *Intervals) takeExporters(batch *telemetry.Intervals, startNs int64) {
	for _, x := range v.collector.ExporterList() {
		r := telemetry.ExporterInterval{StartNs: startNs, Source: x.Source, Version: x.Version, Dialect: x.Dialect, LossKnown: x.LossKnown}
		if x.Node != nil {
			r.Node, r.HasNode = *x.Node, true
		}
		if x.HWID != nil {
			r.HWID, r.HasHWID = *x.HWID, true
		}
		name := exporterName{r.Source, r.Node, r.HWID, r.HasNode, r.HasHWID, r.Version}
		before := v.exporters[name]
		v.exporters[name] = x
		if before.Received == x.Received {
			continue
		}
		r.Received, r.Reports = x.Received-before.Received, x.Reports-before.Reports
		r.Lost = lost(&x) - lost(&before)
		r.Reordered, r.Duplicate, r.Restarted = int64(x.Reordered-before.Reordered), int64(x.Duplicate-before.Duplicate), int64(x.Restarted-before.Restarted)
		r.Malformed, r.Damaged = total(x.Malformed)-total(before.Malformed), total(x.Damaged)-total(before.Damaged)
		batch.Exporters = append(batch.Exporters, r)
	}
}

func lost(x *telemetry.Exporter) int64 {
	if x.Lost == nil {
		return 0
	}
	return int64(*x.Lost)
}

func total(counts map[string]uint64) (n uint64) {
	for _, c := range counts {
		n += c
	}
	return n
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
