package scan

import (
	"fmt"
	"maps"

	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/telemetry/dropreason"
)

const (
	maxDropEnds = 1 << 12
	// BlackholeDrops is how many packets a place must have dropped to be a blackhole, and none of these flows arrived
	// meanwhile.
	BlackholeDrops = 10
	// noBlackholeNs is how long a place that drops packets to nowhere is not looked at again.
	noBlackholeNs = 10 * ScanNs
	// looksPerScan bounds the places whose flows are looked at in a scan, which takes some 50 ms for a million flows.
	looksPerScan = 16
)

// A dropEnd is where paths of dropped packets end.
type dropEnd struct{ node, port uint32 }

// droppedFlows are the flows whose packets were dropped at a place, between two scans.
type droppedFlows struct {
	flows, through uint64          // in all; of which a packet arrived afterwards
	paths          map[uint64]bool // that end there, by hash
}

// A blackholeDetector finds places where all packets of some flows are dropped, although their destinations can be
// reached.
type blackholeDetector struct {
	*scan
	storms    *stormDetector
	drops     map[dropEnd]*droppedFlows // of this scan: where paths end with a drop
	fruitless map[eventlog.Key]int64    // places of drops that are no blackholes: when to look again
	few       drop.Few[eventlog.Key]    // drops at places that may be blackholes
}

func newBlackholeDetector(s *scan, storms *stormDetector) *blackholeDetector {
	return &blackholeDetector{
		s, storms, map[dropEnd]*droppedFlows{}, map[eventlog.Key]int64{}, drop.Few[eventlog.Key]{},
	}
}

func (d *blackholeDetector) begin() { clear(d.drops) }

func (d *blackholeDetector) observe(o *Observation) {
	for i := range o.Paths {
		if p := &o.Paths[i]; p.dropped() {
			d.take(p)
		}
	}
}

// take adds the flows on p, which ends with a drop.
func (d *blackholeDetector) take(p *Path) {
	last := p.last()
	if last.Has&telemetry.HasNode == 0 {
		return
	}
	k := dropEnd{last.Node, last.Out}
	end := d.drops[k]
	if end == nil {
		if len(d.drops) >= maxDropEnds {
			d.leftOut++
			return
		}
		end = &droppedFlows{paths: map[uint64]bool{}}
		d.drops[k] = end
	}
	end.flows += uint64(p.Flows)
	end.through += uint64(p.Through)
	end.paths[p.Hash] = true
}

func (d *blackholeDetector) finish() {
	looks := 0
	for event, found := range d.storms.storms {
		if found.Key.Has&telemetry.HasNode == 0 || !found.Key.IsNowhere() {
			continue
		}
		key := eventlog.Key{Kind: telemetry.EventBlackhole, Node: event.Node, Port: event.Port, Reason: event.Reason}
		if d.log.Ongoing(key) {
			d.log.Note(key, d.lastNs, d.nowNs, found.Drops, nil)
			d.hit(key, found.Hit)
			continue
		}
		end := d.drops[dropEnd{event.Node, event.Port}]
		if end != nil && end.through > 0 || d.nowNs < d.fruitless[key] {
			delete(d.few, key)
			continue
		}
		fromNs := d.few.Join(key, &found, d.lastNs)
		if found.Drops < BlackholeDrops || end == nil || end.flows == 0 || looks == looksPerScan {
			continue
		}
		looks++
		delete(d.few, key)
		hole, reachable := d.lookInto(end)
		if !reachable {
			d.fruitless[key] = d.nowNs + noBlackholeNs // scans for addresses that nobody has
			continue
		}
		sinceNs := found.SinceNs()
		d.log.Amend(event, func(storm *telemetry.Event) { // which began when some of the flows still came through
			if storm.Count > found.Drops {
				fromNs, found.Drops, found.Hit = storm.Start.UnixNano(), storm.Count, storm.Extent
			}
		})
		d.log.Note(key, fromNs, d.nowNs, found.Drops, func(e *telemetry.Event) {
			e.Severity = telemetry.Critical
			place := found.Key.HopKey
			place.Has &^= telemetry.HasIngressPort
			d.at(e, &place)
			reason := event.Reason
			e.Reason, e.ReasonName = &reason, found.Key.Table.Name(reason)
			e.Cause = dropreason.Of(found.Key.Table, reason).ID
			if found.HasFlow {
				flow := telemetry.EndpointsOf(&found.Flow)
				e.Flow = &flow
			}
			e.Path = topology.PathID(hole.Path)
			e.Text = fmt.Sprintf("all packets of some flows to %s are dropped at %s: %s", drop.Prefixes(hole.To),
				d.name(event.Node), e.ReasonName)
			e.Evidence = append(
				e.Evidence,
				telemetry.Evidence{Name: "flows", Value: float64(hole.Flows)},
				telemetry.Evidence{Name: "first_drop_after", Value: float64(max(sinceNs-fromNs, 0)), Unit: "ns"},
				telemetry.Evidence{
					Name: "drops", Value: float64(found.Drops) * 1e9 / float64(d.nowNs-fromNs),
					Unit: "1/s",
				},
			)
		})
		d.hit(key, found.Hit)
	}
	maps.DeleteFunc(d.fruitless, func(_ eventlog.Key, until int64) bool { return d.nowNs >= until })
	d.few.Forget(d.nowNs)
}

// lookInto looks at the flows that end there, and says whether packets to their destinations arrive, of these flows or
// of others: once for each place of drops that may be a blackhole.
func (d *blackholeDetector) lookInto(end *droppedFlows) (hole Ended, reachable bool) {
	for _, owner := range d.source.Owners {
		more := owner.EndedOn(end.paths, d.lastNs)
		hole.add(&more)
	}
	if hole.Flows == 0 || hole.Arrived {
		return hole, hole.Arrived
	}
	for _, owner := range d.source.Owners {
		if owner.Reached(hole.To) {
			return hole, true
		}
	}
	return hole, false
}
