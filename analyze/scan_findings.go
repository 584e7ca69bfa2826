package analyze

import (
	"fmt"
	"maps"
	"slices"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// A foundNow is what the shards found of one event since the last scan.
type foundNow struct {
	finding
	rule  string
	nodes []station // of the path
}

// scanFindings takes what the shards found, and notes it.
func (s *Scanner) scanFindings(nowNs int64) {
	clear(s.findings)
	for _, shard := range s.collector.Shards {
		s.takeFindings(shard, nowNs)
	}
	for key, found := range s.findings {
		s.log.Note(key, found.since, found.last, found.count, func(e *telemetry.Event) { s.describe(e, &found) })
		s.log.FillBytes(key, func(e *telemetry.Event) { s.example(e, &found) })
	}
}

// takeFindings adds up what a shard found since the last scan.
func (s *Scanner) takeFindings(shard *Shard, nowNs int64) {
	shard.mu.Lock()
	defer shard.mu.Unlock()
	t := &shard.findings
	for _, f := range t.reports {
		s.takeFinding(shard, f)
	}
	for i := range t.list {
		if f := &t.list[i]; f.since != 0 {
			s.takeFinding(shard, f)
		}
	}
	t.next(nowNs)
}

// takeFinding adds what a shard found of one event.
func (s *Scanner) takeFinding(shard *Shard, f *finding) {
	key := eventlog.Key{
		Kind: f.kind, Node: f.node, Port: f.port, ToNode: f.toNode, ToPort: f.toPort,
		Reason: uint8(f.why), Rule: f.rule + 1,
	}
	all, ok := s.findings[key]
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
				all.nodes = append(all.nodes, shard.paths.paths[place].hops[h].station)
			}
		}
	}
	s.findings[key] = all
}

// describe fills in a new event.
func (s *Scanner) describe(e *telemetry.Event, f *foundNow) {
	e.Severity = telemetry.Warning
	s.at(e, &station{node: f.node, out: f.port, has: f.has})
	if f.toHas != 0 {
		s.to(e, &station{node: f.toNode, in: f.toPort, has: f.toHas})
	}
	if f.rule != "" && f.findingKey.rule != telemetry.NoRule {
		e.Rule = f.rule
	}
	from, to := s.place(f.node, f.has), s.place(f.toNode, f.toHas)
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
	case telemetry.EventUnexpectedNode:
		e.Text = fmt.Sprintf("packets pass %s, which is not in the policy", from)
		if f.has&telemetry.HasEgressPort != 0 {
			e.Text = fmt.Sprintf("packets pass port %d of %s, which is not in the policy", f.port, from)
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
func (s *Scanner) example(e *telemetry.Event, f *foundNow) {
	e.Bytes = f.datagram
	if f.hasFlow {
		flow := telemetry.EndpointsOf(&f.flow)
		e.Flow = &flow
	}
	if f.path != 0 {
		e.Path, e.PathNodes = pathID(f.path), nil
	}
	for i := range f.nodes {
		e.PathNodes = append(e.PathNodes, s.nodeText(&f.nodes[i]))
	}
}

// place names a node that may not be known.
func (s *Scanner) place(node uint32, has telemetry.Fields) string {
	if has&telemetry.HasNode == 0 {
		return "an unknown node"
	}
	return s.name(node)
}

// nodeText returns the name or the number of the node at a station, and "?" for each that is not known.
func (s *Scanner) nodeText(at *station) string {
	if at.has&telemetry.HasNode == 0 {
		return string(slices.Repeat([]byte{'?'}, max(int(at.missing), 1)))
	}
	if name := s.collector.Names[at.node]; name != "" {
		return name
	}
	return fmt.Sprint(at.node)
}

// errorNumbers are the numbers of error codes.
var errorNumbers = func() map[string]uint8 {
	numbers := map[string]uint8{}
	for n := wire.Error(1); n < wire.NumErrors; n++ {
		numbers[n.Error()] = uint8(n)
	}
	return numbers
}()

// A brokenKey is a reason why datagrams of an exporter could not be read, or not in full.
type brokenKey struct {
	exporter telemetry.ExporterKey
	version  string
	reason   string
}

func brokenKeyOf(x *telemetry.Exporter, reason string) brokenKey {
	key := telemetry.ExporterKey{Source: x.Source}
	if x.Node != nil {
		key.Node, key.HasNode = *x.Node, true
	}
	if x.HWID != nil {
		key.HWID = *x.HWID
	}
	return brokenKey{key, x.Version, reason}
}

// brokenBy counts the datagrams of an exporter that break rules, by the rule.
func brokenBy(x *telemetry.Exporter) map[string]uint64 {
	all := maps.Clone(x.Malformed)
	for reason, n := range x.Damaged {
		all[reason] += n
	}
	return all
}

// brokenOf notes the datagrams of an exporter that break rules.
func (s *Scanner) brokenOf(x *telemetry.Exporter, nowNs int64) {
	for reason, now := range brokenBy(x) {
		place := brokenKeyOf(x, reason)
		n := now - s.broken[place]
		if n == 0 {
			continue
		}
		s.broken[place] = now
		event := eventlog.Key{Kind: telemetry.EventMalformed, Exporter: place.exporter, Reason: errorNumbers[reason]}
		s.log.Note(event, s.lastNs, nowNs, n, func(e *telemetry.Event) {
			e.Severity, e.Source, e.ReasonName = telemetry.Warning, x.Source.String(), reason
			e.Text = fmt.Sprintf("datagrams from %s break a rule: %s", x.Source, reason)
			if x.Node != nil {
				s.at(e, &station{node: *x.Node, has: telemetry.HasNode})
				e.Text = fmt.Sprintf("datagrams of %s from %s break a rule: %s", s.name(*x.Node), x.Source, reason)
			}
			e.Bytes = x.Samples[reason]
		})
	}
}
