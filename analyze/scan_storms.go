package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A drop storm is so many drops a second at one place, for one reason.
const stormDrops = 20

// A dropStorm is what was dropped at one place for one reason since the last scan.
type dropStorm struct {
	drops   uint64
	key     dropKey
	flow    telemetry.FlowKey
	hasFlow bool
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
		event := eventlog.Key{Kind: telemetry.EventDropStorm, Node: at.node, Port: at.out, Reason: at.reason}
		d.storms[event] = dropStorm{d.storms[event].drops + at.n, at.dropKey, at.flow, at.hasFlow}
	}
}

// finish notes where many packets were dropped.
func (d *stormDetector) finish() {
	for event, found := range d.storms {
		rate := float64(found.drops) * 1e9 / float64(d.nowNs-d.lastNs)
		if rate < stormDrops && !d.log.Ongoing(event) {
			continue
		}
		d.log.Note(event, d.lastNs, d.nowNs, found.drops, func(e *telemetry.Event) {
			key := &found.key
			cause := dropreason.Of(key.table, key.reason)
			e.Severity, e.Cause = max(telemetry.Warning, cause.Severity), cause.ID
			place := key.station
			place.has &^= telemetry.HasIngressPort // packets from all ports
			d.at(e, &place)
			reason := key.reason
			e.Reason, e.ReasonName = &reason, key.table.Name(key.reason)
			if found.hasFlow {
				flow := telemetry.EndpointsOf(&found.flow)
				e.Flow = &flow
			}
			e.Text = fmt.Sprintf("many packets dropped at %s: %s", d.name(key.node), e.ReasonName)
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "drops", Value: rate, Unit: "1/s"})
		})
	}
}
