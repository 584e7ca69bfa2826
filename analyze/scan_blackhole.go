package analyze

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
	// blackholeDrops is how many packets a place must have dropped to be a blackhole, and none of these flows arrived
	// meanwhile.
	blackholeDrops = 10
	// noBlackholeNs is how long a place that drops packets to nowhere is not looked at again.
	noBlackholeNs = 10 * ScanNs
	// maxDestinations bounds the destinations of a blackhole that are looked at.
	maxDestinations = 4096
	// looksPerScan bounds the places whose flows are looked at in a scan, which takes some 50 ms for a million flows.
	looksPerScan = 16
)

// A dropEnd is where paths of dropped packets end.
type dropEnd struct{ node, port uint32 }

// droppedFlows are the flows whose packets were dropped at a place, between two scans.
type droppedFlows struct {
	flows, through uint64 // in all; of which a packet arrived afterwards
	paths          []pathPlace
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

func (d *blackholeDetector) observe(o *observation) {
	for i := range o.paths {
		if p := &o.paths[i]; p.dropped() {
			d.take(o.Shard, p.place, p.path)
		}
	}
}

// take adds the flows on p, which ends with a drop.
func (d *blackholeDetector) take(shard *Shard, place int, p *path) {
	last := &p.hops[len(p.hops)-1]
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
		end = &droppedFlows{}
		d.drops[k] = end
	}
	end.flows += uint64(p.sinceScan.flows)
	end.through += uint64(p.sinceScan.through)
	end.paths = append(end.paths, pathPlace{shard, place, p.generation})
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
		if found.Drops < blackholeDrops || end == nil || end.flows == 0 || looks == looksPerScan {
			continue
		}
		looks++
		delete(d.few, key)
		hole := d.lookInto(end)
		if !hole.reachable {
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
			e.Path = topology.PathID(hole.path)
			e.Text = fmt.Sprintf("all packets of some flows to %s are dropped at %s: %s", drop.Prefixes(hole.to),
				d.name(event.Node), e.ReasonName)
			e.Evidence = append(
				e.Evidence,
				telemetry.Evidence{Name: "flows", Value: float64(hole.flows)},
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

// A blackhole is what flows tell of a place where their packets are dropped.
type blackhole struct {
	flows     int
	to        map[telemetry.Addr]bool
	path      uint64 // the lowest hash of those that end there
	reachable bool   // packets to these destinations arrived, of these flows or others
}

// lookInto looks at the flows that end there: once for each place of drops that may be a blackhole.
func (d *blackholeDetector) lookInto(end *droppedFlows) blackhole {
	hole := blackhole{to: map[telemetry.Addr]bool{}}
	ends := map[*Shard]map[uint32]uint16{}
	for _, p := range end.paths {
		if ends[p.shard] == nil {
			ends[p.shard] = map[uint32]uint16{}
		}
		ends[p.shard][uint32(p.place)] = p.generation
	}
	for _, shard := range d.collector.Shards {
		if ends[shard] == nil {
			continue
		}
		shard.eachFlow(func(f *flow) bool {
			fp := &f.paths[0]
			if generation, ok := ends[shard][fp.path]; !fp.used || !ok || generation != fp.generation ||
				fp.last < d.lastNs {
				return true
			}
			if p := shard.pathOf(fp); p != nil && (hole.flows == 0 || p.hash < hole.path) {
				hole.path = p.hash
			}
			hole.flows++
			hole.reachable = hole.reachable || f.arrived
			if len(hole.to) < maxDestinations {
				hole.to[f.key.Dst] = true
			}
			return true
		})
	}
	for _, shard := range d.collector.Shards {
		if hole.reachable || hole.flows == 0 {
			break
		}
		shard.eachFlow(func(f *flow) bool {
			hole.reachable = f.arrived && hole.to[f.key.Dst]
			return !hole.reachable
		})
	}
	return hole
}

// eachFlow calls f for every flow until it returns false. The shard is locked for 4096 flows at a time.
func (s *Shard) eachFlow(f func(*flow) bool) {
	for from := 0; ; from += chunkSize {
		s.mu.Lock()
		end := min(from+chunkSize, s.flows.count)
		for place := from; place < end; place++ {
			if !f(s.flows.at(place)) {
				s.mu.Unlock()
				return
			}
		}
		done := end == s.flows.count
		s.mu.Unlock()
		if done {
			return
		}
	}
}
