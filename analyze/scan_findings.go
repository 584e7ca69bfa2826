package analyze

import (
	"fmt"
	"slices"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A foundNow is what the shards found of one event since the last scan.
type foundNow struct {
	finding
	rule  string
	nodes []topology.HopKey // of the path
}

// A findingDetector notes what shards found by themselves.
type findingDetector struct {
	*scan
	found map[eventlog.Key]foundNow // in this scan
}

func (d *findingDetector) begin() { clear(d.found) }

func (d *findingDetector) finish() {
	for key, found := range d.found {
		d.log.Note(key, found.since, found.last, found.count, func(e *telemetry.Event) { d.describe(e, &found) })
		d.log.FillBytes(key, func(e *telemetry.Event) { d.example(e, &found) })
	}
	d.noteRates()
}

// noteRates notes nodes whose stamps count no nanoseconds.
func (d *findingDetector) noteRates() {
	for node, times := range d.collector.Timing.WrongRates() {
		d.log.Note(eventlog.Key{Kind: telemetry.EventImplausible, Node: node, Reason: uint8(wrongRate)}, d.lastNs,
			d.nowNs, 1, func(e *telemetry.Event) {
				e.Severity = telemetry.Warning
				d.at(e, &topology.HopKey{Node: node, Has: telemetry.HasNode})
				e.Text = fmt.Sprintf(
					"%s: timestamps go %.3g times as fast as time; their unit is another, see the dialect",
					d.name(node), times)
				e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "times", Value: times})
			})
	}
}

func (d *findingDetector) observe(o *observation) {
	t := &o.findings
	for _, f := range t.reports {
		d.take(o.Shard, f)
	}
	for i := range t.list {
		if f := &t.list[i]; f.since != 0 {
			d.take(o.Shard, f)
		}
	}
	t.next(d.nowNs)
}

// take adds what a shard found of one event.
func (d *findingDetector) take(shard *Shard, f *finding) {
	key := eventlog.Key{
		Kind: f.kind, Node: f.node, Port: f.port, ToNode: f.toNode, ToPort: f.toPort,
		Reason: uint8(f.why), Rule: f.rule + 1,
	}
	all, ok := d.found[key]
	if ok {
		all.since, all.last, all.hidden = min(all.since, f.since), max(all.last, f.last), max(all.hidden, f.hidden)
		all.count += f.count - f.noted
	} else {
		all = foundNow{finding: *f}
		all.count, all.datagram = f.count-f.noted, nil
		if shard.policy != nil {
			all.rule = shard.policy.RuleName(f.rule)
		}
	}
	if !ok || all.datagram == nil && f.datagram != nil { // the flow is the one that the datagram is about
		all.flow, all.hasFlow, all.path, all.datagram, all.nodes = f.flow, f.hasFlow, f.path, f.datagram, nil
		if place, ok := shard.paths.byHash[f.path]; ok {
			for h := range shard.paths.paths[place].hops {
				all.nodes = append(all.nodes, shard.paths.paths[place].hops[h].HopKey)
			}
		}
	}
	d.found[key] = all
}

// describe fills in a new event.
func (d *findingDetector) describe(e *telemetry.Event, f *foundNow) {
	e.Severity = telemetry.Warning
	d.at(e, &topology.HopKey{Node: f.node, Out: f.port, Has: f.has})
	if f.toHas != 0 {
		d.to(e, &topology.HopKey{Node: f.toNode, In: f.toPort, Has: f.toHas})
	}
	if f.rule != "" && f.findingKey.rule != telemetry.NoRule {
		e.Rule = f.rule
	}
	from, to := d.place(f.node, f.has), d.place(f.toNode, f.toHas)
	switch f.kind {
	case telemetry.EventHopLimit:
		e.Text = fmt.Sprintf("packets meet more nodes than INT allows; metadata end at %s, seen by %s", from, to)
	case telemetry.EventMTUExceeded:
		e.Text = fmt.Sprintf("a node has no room to add its metadata; the latest are of %s, seen by %s", from, to)
	case telemetry.EventHopWithoutINT:
		e.Text = fmt.Sprintf("nodes between %s and %s add no metadata", from, to)
		e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "nodes", Value: float64(f.hidden)})
	case telemetry.EventImplausible:
		e.Text = fmt.Sprintf("%s: %s; they count nowhere", from, [...]string{
			zeroTimes: "timestamps are 0", backwards: "packets left before they came",
			latencyAgainst: "latencies contradict the timestamps",
		}[f.why])
		for i, name := range [...]string{"ingress_time", "egress_time", "latency"} {
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: name, Value: float64(f.times[i]), Unit: "ns"})
		}
	case telemetry.EventContradiction:
		name, unit := "egress_after", "ns"
		switch f.why {
		case otherPort:
			name, unit = "ingress_port", ""
		case otherQueue:
			name, unit = "queue", ""
		case otherLatency:
			name = "latency"
		case otherNode:
			name, unit = "next_node", ""
		}
		e.Text = fmt.Sprintf("%s tells two stories of one packet: %s differs; %s", from, name,
			map[bool]string{false: "neither counts", true: "only the first counts"}[f.stack])
		e.Evidence = append(
			e.Evidence,
			telemetry.Evidence{Name: "ingress_time", Value: float64(f.times[0]), Unit: "ns"},
			telemetry.Evidence{Name: name, Value: float64(f.times[1]), Unit: unit},
			telemetry.Evidence{Name: "other_" + name, Value: float64(f.times[2]), Unit: unit},
		)
	case telemetry.EventUnexpectedNode:
		e.Text = fmt.Sprintf("packets pass %s, which is not in the policy", from)
		if f.has&telemetry.HasEgressPort != 0 {
			e.Text = fmt.Sprintf("packets pass %s of %s, which is not in the policy", d.portName(f.node, f.port), from)
		}
	case telemetry.EventWaypointMissed:
		e.Severity = telemetry.Critical
		e.Text = fmt.Sprintf("%s: flows go around %s", f.rule, from)
	case telemetry.EventPathNotAllowed:
		e.Text = fmt.Sprintf("%s: flows leave the allowed paths at %s", f.rule, from)
		switch f.why {
		case telemetry.MustAvoid:
			e.Severity = telemetry.Critical
			e.Text = fmt.Sprintf("%s: flows pass %s, which they must avoid", f.rule, from)
		case telemetry.TooManyHops:
			e.Text = fmt.Sprintf("%s: flows pass more nodes than allowed, %s is one too many", f.rule, from)
		}
	}
}

// example gives an event a flow that it is about, its path, and a report of it.
func (d *findingDetector) example(e *telemetry.Event, f *foundNow) {
	e.Bytes = f.datagram
	if f.hasFlow {
		flow := telemetry.EndpointsOf(&f.flow)
		e.Flow = &flow
	}
	if f.path != 0 {
		e.Path, e.PathNodes = topology.PathID(f.path), nil
	}
	for i := range f.nodes {
		e.PathNodes = append(e.PathNodes, d.nodeText(&f.nodes[i]))
	}
}

// place names a node that may not be known.
func (s *scan) place(node uint32, has telemetry.Fields) string {
	if has&telemetry.HasNode == 0 {
		return "an unknown node"
	}
	return s.name(node)
}

// nodeText returns the name or the number of the node at a station, and "?" for each that is not known.
func (s *scan) nodeText(at *topology.HopKey) string {
	if at.Has&telemetry.HasNode == 0 {
		return string(slices.Repeat([]byte{'?'}, max(int(at.Missing), 1)))
	}
	if name := s.collector.Names()[at.Node]; name != "" {
		return name
	}
	return fmt.Sprint(at.Node)
}
