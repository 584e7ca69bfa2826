package scan

import (
	"fmt"
	"time"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

// A stormDetector finds places where many packets are dropped.
type stormDetector struct {
	*scan
	storms map[eventlog.Key]drop.Storm // since the last scan, few or many
	before map[eventlog.Key]drop.Storm // and between that and the one before
}

func (d *stormDetector) begin() {
	d.storms, d.before = d.before, d.storms
	clear(d.storms)
}

func (d *stormDetector) observe(o *Observation) {
	for i := range o.Drops {
		at := &o.Drops[i]
		event := stormOf(at)
		storm := d.storms[event]
		storm.Add(at)
		d.storms[event] = storm
	}
}

// stormOf is the key of the storm of which packets may be.
func stormOf(at *drop.Packets) eventlog.Key {
	return eventlog.Key{Kind: telemetry.EventDropStorm, Node: at.Node, Port: at.Out, Reason: at.Reason}
}

// finish notes where many packets were dropped.
func (d *stormDetector) finish() {
	for event, found := range d.storms {
		ongoing := d.log.Ongoing(event)
		latest := float64(found.Drops) * 1e9 / float64(max(d.nowNs-d.lastNs, int64(time.Second)))
		if before, few := d.before[event]; few && !ongoing {
			found.Join(&before)
		}
		sinceNs, drops, rate := found.Begin()
		switch {
		case ongoing:
			drops = found.Drops // few long before others are part of it, too
		case rate < drop.StormRate && latest < drop.StormRate: // few before many do not make them fewer
			continue
		}
		d.log.Note(event, sinceNs, found.UntilNs(), drops, func(e *telemetry.Event) {
			key := &found.Key
			cause := dropreason.Of(key.Table, key.Reason)
			e.Severity, e.Cause = max(telemetry.Warning, cause.Severity), cause.ID
			place := key.HopKey
			place.Has &^= telemetry.HasIngressPort // packets from all ports
			d.at(e, &place)
			reason := key.Reason
			e.Reason, e.ReasonName = &reason, key.Table.Name(key.Reason)
			if found.HasFlow {
				flow := telemetry.EndpointsOf(&found.Flow)
				e.Flow = &flow
			}
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "drops", Value: rate, Unit: "1/s"})
		})
		at := found.Key.Place()
		d.log.Amend(event, func(e *telemetry.Event) {
			e.Extent = e.Extent.Plus(found.Hit)
			e.Text = fmt.Sprintf("drop storm at %s: %s packets, %s", d.portText(&at), telemetry.CountText(e.Count),
				found.Key.CauseText())
		})
	}
}
