package finding

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Sum is what the tables of all shards found of one event since the last scan.
type Sum struct {
	Finding
	Rule  string            // its name
	Nodes []topology.HopKey // of the path
}

// Add adds what one of them found, and reports whether its path is now the one that shows it: the flow is the one that
// the datagram is about.
func (f *Sum) Add(o *Finding) bool {
	first := f.Last == 0
	if first {
		f.Finding = *o
		f.Count, f.Datagram = o.Count-o.noted, nil
	} else {
		f.Since, f.Last, f.hidden = min(f.Since, o.Since), max(f.Last, o.Last), max(f.hidden, o.hidden)
		f.Count += o.Count - o.noted
	}
	if !first && (f.Datagram != nil || o.Datagram == nil) {
		return false
	}
	f.Flow, f.HasFlow, f.Path, f.Datagram = o.Flow, o.HasFlow, o.Path, o.Datagram
	return true
}

// Names names nodes, as far as they are known, and their ports.
type Names struct {
	Node func(node uint32, has telemetry.Fields) string
	Port func(node, port uint32) string
}

// Describe says in a new event what was found.
func (f *Sum) Describe(e *telemetry.Event, names Names) {
	e.Severity = telemetry.Warning
	if f.Rule != "" && f.key.Rule != telemetry.NoRule {
		e.Rule = f.Rule
	}
	from, to := names.Node(f.Node, f.Has), names.Node(f.ToNode, f.ToHas)
	switch f.Kind {
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
		}[f.Why])
		for i, name := range [...]string{"ingress_time", "egress_time", "latency"} {
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: name, Value: float64(f.times[i]), Unit: "ns"})
		}
	case telemetry.EventContradiction:
		name, unit := "egress_after", "ns"
		switch f.Why {
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
		if f.Has&telemetry.HasEgressPort != 0 {
			e.Text = fmt.Sprintf("packets pass %s of %s, which is not in the policy", names.Port(f.Node, f.Port), from)
		}
	case telemetry.EventWaypointMissed:
		e.Severity = telemetry.Critical
		e.Text = fmt.Sprintf("%s: flows go around %s", f.Rule, from)
	case telemetry.EventPathNotAllowed:
		e.Text = fmt.Sprintf("%s: flows leave the allowed paths at %s", f.Rule, from)
		switch f.Why {
		case telemetry.MustAvoid:
			e.Severity = telemetry.Critical
			e.Text = fmt.Sprintf("%s: flows pass %s, which they must avoid", f.Rule, from)
		case telemetry.TooManyHops:
			e.Text = fmt.Sprintf("%s: flows pass more nodes than allowed, %s is one too many", f.Rule, from)
		}
	}
}
