package analyze

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A drop storm is so many drops a second at one place, for one reason.
const stormDrops = 20

// stormGapNs is after how long without a drop those before, if they are few, are none of the storm that follows.
const stormGapNs = ScanNs / 4

// isApart reports whether drops at nowNs are others than so few before, of which the last was at lastNs: what fills a
// queue now did not drop these.
func isApart(before uint64, lastNs, nowNs int64) bool {
	return nowNs-lastNs > stormGapNs && before < stormDrops*uint64(stormGapNs)/uint64(ScanNs)
}

// A dropStorm is what was dropped at one place for one reason since the last scan.
type dropStorm struct {
	drops   uint64
	rows    []droppedPackets // of its ports of entry, in all shards
	key     dropKey
	flow    telemetry.FlowKey
	hasFlow bool
}

// sinceNs returns when it began.
func (s *dropStorm) sinceNs() int64 {
	slices.SortFunc(s.rows, func(a, b droppedPackets) int { return cmp.Compare(a.sinceNs, b.sinceNs) })
	since, until, drops := s.rows[0].sinceNs, s.rows[0].untilNs, uint64(0)
	for i := range s.rows {
		if r := &s.rows[i]; isApart(drops, until, r.sinceNs) {
			since, drops = r.sinceNs, 0
		}
		drops += s.rows[i].n
		until = max(until, s.rows[i].untilNs)
	}
	return since
}

// A stormDetector finds places where many packets are dropped.
type stormDetector struct {
	*scan
	storms map[eventlog.Key]dropStorm // since the last scan, few or many
}

func (d *stormDetector) begin() { clear(d.storms) }

func (d *stormDetector) observe(o *observation) {
	for i := range o.drops {
		at := &o.drops[i]
		event := eventlog.Key{Kind: telemetry.EventDropStorm, Node: at.Node, Port: at.Out, Reason: at.reason}
		before := d.storms[event]
		d.storms[event] = dropStorm{
			before.drops + at.n, append(before.rows, *at), at.dropKey, at.flow, at.hasFlow,
		}
	}
}

// finish notes where many packets were dropped.
func (d *stormDetector) finish() {
	for event, found := range d.storms {
		rate := float64(found.drops) * 1e9 / float64(d.nowNs-d.lastNs)
		if rate < stormDrops && !d.log.Ongoing(event) {
			continue
		}
		d.log.Note(event, max(found.sinceNs(), d.lastNs), d.nowNs, found.drops, func(e *telemetry.Event) {
			key := &found.key
			cause := dropreason.Of(key.table, key.reason)
			e.Severity, e.Cause = max(telemetry.Warning, cause.Severity), cause.ID
			place := key.HopKey
			place.Has &^= telemetry.HasIngressPort // packets from all ports
			d.at(e, &place)
			reason := key.reason
			e.Reason, e.ReasonName = &reason, key.table.Name(key.reason)
			if found.hasFlow {
				flow := telemetry.EndpointsOf(&found.flow)
				e.Flow = &flow
			}
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "drops", Value: rate, Unit: "1/s"})
		})
		d.log.Amend(event, func(e *telemetry.Event) {
			e.Text = fmt.Sprintf("drop storm at %s: %s packets, %s", d.stormPlace(&found.key), countText(e.Count),
				causeText(&found.key))
		})
	}
}

// stormPlace names the node that drops packets, and the port if they were on their way out by it: others have none yet.
func (d *stormDetector) stormPlace(key *dropKey) string {
	place := key.HopKey
	if group := dropreason.Of(key.table, key.reason).Group; group != dropreason.Buffer && group != dropreason.Hardware {
		place.Has &^= telemetry.HasEgressPort
	}
	return d.portText(&place)
}

// causeText names why packets were dropped, in the words of the catalogue; as the device does if it is not in there.
func causeText(key *dropKey) string {
	cause := dropreason.Of(key.table, key.reason)
	if cause == dropreason.Unknown || cause == dropreason.Unmapped {
		return key.table.Name(key.reason)
	}
	return strings.ReplaceAll(cause.ID, "_", " ")
}
