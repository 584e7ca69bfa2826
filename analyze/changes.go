package analyze

import (
	"maps"

	"github.com/waybill-int/waybill/analyze/clock"
	"github.com/waybill-int/waybill/analyze/finding"
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// maxChanges bounds the different changes between two scans, and maxTurned the flows that are remembered for them.
const maxChanges, maxTurned = 1024, 1 << 14

// A turn is a flow that changed its path in a way.
type turn struct {
	scan.ChangeKey
	tag uint32
}

// changeTable counts path changes by the place where the paths part, until a Scanner takes them.
type changeTable struct {
	changes  map[scan.ChangeKey]*scan.Change
	turned   map[turn]int64 // when they did so last
	overflow uint64
}

// note counts that the flow with that key went from one path to another, with a packet that came at cameNs. One that
// goes to and fro counts once for each way, until it is quiet.
func (t *changeTable) note(key *telemetry.FlowKey, tag uint32, from, to *path, scanNs, nowNs, cameNs int64,
) {
	k, ok := parting(from.hops, to.hops)
	if !ok {
		return
	}
	c := t.changes[k]
	if c == nil {
		if len(t.changes) >= maxChanges {
			t.overflow++
			return
		}
		c = &scan.Change{First: cameNs}
		t.changes[k] = c
	}
	turned := turn{k, tag}
	lastNs, again := t.turned[turned]
	if !again || nowNs-lastNs > scan.QuietNs {
		c.Flows++
		c.Hit.AddFlow(key)
	}
	if !again || lastNs <= scanNs {
		c.Recent++
	}
	if again || len(t.turned) < maxTurned {
		t.turned[turned] = nowNs
	} else {
		t.overflow++
	}
	c.First, c.Last, c.Flow, c.Path = min(c.First, cameNs), max(c.Last, cameNs), *key, to.hash
}

// take returns what was counted since it was called last, and forgets flows that are quiet.
func (t *changeTable) take(nowNs int64) map[scan.ChangeKey]*scan.Change {
	changes := t.changes
	t.changes = map[scan.ChangeKey]*scan.Change{}
	maps.DeleteFunc(t.turned, func(_ turn, lastNs int64) bool { return nowNs-lastNs > scan.QuietNs })
	return changes
}

// parting returns where two paths part; false if they do not, or if it is not known which node that is.
func parting(from, to []pathHop) (k scan.ChangeKey, ok bool) {
	i := 0
	for i < min(len(from), len(to)) && from[i].HopKey == to[i].HopKey {
		i++
	}
	if i == len(from) || i == len(to) || from[i].Missing > 0 || to[i].Missing > 0 {
		return k, false
	}
	if from[i].Node == to[i].Node && (from[i].Has^to[i].Has)&(telemetry.HasNode|telemetry.HasEgressPort) ==
		telemetry.HasEgressPort {
		return k, false // the one does not tell by which port the packet left, and may be the same way
	}
	if from[i].Node != to[i].Node || from[i].Has&telemetry.HasNode != to[i].Has&telemetry.HasNode ||
		from[i].Out == to[i].Out {
		if i == 0 {
			return k, false // they came into the network elsewhere, or by another port
		}
		i-- // its ports are not known, or say nothing
	}
	if from[i].Has&telemetry.HasNode == 0 {
		return k, false
	}
	k = scan.ChangeKey{Node: from[i].Node, Port: from[i].Out, NewPort: to[i].Out}
	if i+1 < len(from) {
		k.ToNode = from[i+1].Node
	}
	return k, true
}

// A pathEntry is when the first packet that took the path of a flow came into the network.
type pathEntry struct {
	stamp uint64 // by the clock of the first node
	atNs  int64  // when it was noticed here; 0: there is no stamp
}

// overtakenNs is how long packets of the path before may still arrive after those of a new one.
const overtakenNs = int64(1e9)

// after reports whether a packet whose first hop is first came into the network before that of e, which has overtaken
// it then. A clock that was set back says the same: only what comes soon is believed.
func (e *pathEntry) after(first *telemetry.Hop, nowNs int64) bool {
	return first.Has&telemetry.HasIngressTime != 0 && nowNs-e.atNs < overtakenNs &&
		clock.Wrapped(int64(first.IngressNs-e.stamp), first.Has.WrapNs()) < 0
}

// arrives notes that a packet of f has arrived by the path at place, along route. first is its first hop.
func (s *Shard) arrives(f *flow, place uint32, route []topology.HopKey, first *telemetry.Hop, nowNs int64) {
	p := &s.paths.paths[place]
	if p.loops() { // a loop let it go: that is no way that the flow takes from now on
		f.verdict = finding.NotJudged
		return
	}
	if f.arrived && f.arrivedBy == place && f.arrivedGeneration == p.generation {
		return
	}
	if before := &s.paths.paths[f.arrivedBy]; f.arrived && before.generation == f.arrivedGeneration {
		// not only more postcards than for the packets before, one of which was cut short, or others of one way
		if !before.partOf(route) && !(before.postcards && p.postcards && before.agrees(route)) {
			if before.hops[0].Node == route[0].Node && f.entered.after(first, nowNs) {
				// A straggler by the path that the flow left, which is known unless no packet came by it before.
				if f.pathChanges == 0 && !p.partOf(before.route()) {
					s.turns(f, p, f.arrivedBy, nowNs)
				}
				return
			}
			s.turns(f, before, place, nowNs)
		}
	}
	f.verdict = finding.NotJudged
	f.moved = f.arrived
	f.arrived, f.arrivedBy, f.arrivedGeneration = true, place, p.generation
	f.entered = pathEntry{}
	if first.Has&telemetry.HasIngressTime != 0 {
		f.entered = pathEntry{first.IngressNs, nowNs}
	}
}

// turns notes that f went from one path to the one at place.
func (s *Shard) turns(f *flow, from *path, place uint32, nowNs int64) {
	f.pathChanges++
	from.sinceScan.left++
	from.sinceScan.to = place
	s.changes.note(&f.key, f.tag, from, &s.paths.paths[place], s.scanNs, nowNs, s.cameNs(nowNs))
}

// loops reports whether p comes to a node twice.
func (p *path) loops() bool {
	for i := range p.hops {
		for j := range i {
			if p.hops[i].Has&p.hops[j].Has&telemetry.HasNode != 0 && p.hops[i].Node == p.hops[j].Node {
				return true
			}
		}
	}
	return false
}
