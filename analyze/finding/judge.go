package finding

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A Policy says what paths should look like. It must not change, and is asked from several goroutines; package policy
// has one that is read from a file.
type Policy interface {
	// Judge appends how the path along hops breaks the policy for packets of flow k with that DSCP. A hop that does not
	// tell its node may be any; ended says that no hops are missing behind the last one.
	Judge(k *telemetry.FlowKey, dscp uint8, hops []telemetry.Hop, ended bool,
		breaches []telemetry.Breach) []telemetry.Breach
	// HiddenNodes returns how many of the nodes that a packet passed added no metadata, by the TTL in the report of it
	// and the number of hops in it; 0 if that is not known.
	HiddenNodes(ttl uint8, hops int) int
	// RuleName returns the name of the rule with the index of a Breach.
	RuleName(rule int32) string
}

// Allow reports whether one more path may be judged until the next scan.
func (t *Table) Allow() bool {
	if t.budget == 0 {
		t.Postponed++
		return false
	}
	t.budget--
	return true
}

// Continue notes that a report shows a flow on a path with a verdict for which something is wrong. began says that the
// flow has the verdict since startNs.
func (t *Table) Continue(v uint16, flow *telemetry.FlowKey, path uint64, r *telemetry.Report, began bool,
	startNs, nowNs int64,
) {
	for _, place := range t.verdicts[v-FirstBad] {
		if place == 0 {
			break
		}
		found, again := t.see(place, startNs)
		found.Last = max(found.Last, nowNs)
		if began || again {
			found.Count++
		}
		if found.Datagram == nil {
			found.Flow, found.HasFlow = *flow, true
			if path != 0 {
				found.Path = path
			}
			found.show(r)
		}
	}
}

// Judge returns the verdict on the path of a flow along route, which r shows.
func (t *Table) Judge(policy Policy, flow *telemetry.FlowKey, dscp uint8, route []topology.HopKey,
	r *telemetry.Report,
) uint16 {
	hops, set := t.hops[:0], t.set[:0]
	full := false
	add := func(key *key, hidden int) {
		if len(set) == maxFindingsOfPath {
			return
		}
		place := t.place(key)
		full = full || place == 0
		if place == 0 || slices.Contains(set, place) {
			return
		}
		t.list[place-1].hidden = max(hidden, t.list[place-1].hidden)
		set = append(set, place)
	}
	gap := false
	for i := range route {
		h := &route[i]
		for range h.Missing {
			if len(hops) < cap(hops) {
				hops = append(hops, telemetry.Hop{})
			}
		}
		if h.Missing > 0 {
			gap = true
			if i > 0 && i+1 < len(route) && !loops(route[:i], &route[i+1]) {
				add(between(telemetry.EventHopWithoutINT, &route[i-1], &route[i+1]), int(h.Missing))
			}
			continue
		}
		if len(hops) < cap(hops) {
			hops = append(hops, telemetry.Hop{Has: h.Has, NodeID: h.Node, IngressPort: h.In, EgressPort: h.Out})
		}
	}
	if policy != nil && len(hops) > 0 {
		if gap {
			route = nil
		}
		t.compare(policy, flow, dscp, route, r, hops, add)
	}
	if full {
		return NotJudged // there may be a place after the next scan
	}
	return t.verdictFor(set)
}

// loops reports whether a packet had come to the node at a hop before. Of a loop no more than so many postcards are
// kept: where the next one is the drop, they are what is missing.
func loops(before []topology.HopKey, at *topology.HopKey) bool {
	return slices.ContainsFunc(before, func(h topology.HopKey) bool {
		return h.Has&at.Has&telemetry.HasNode != 0 && h.Node == at.Node
	})
}

// compare adds what the policy says of the path of a flow along hops. route is nil if nodes of it are known to be
// missing.
func (t *Table) compare(policy Policy, flow *telemetry.FlowKey, dscp uint8, route []topology.HopKey,
	r *telemetry.Report, hops []telemetry.Hop, add func(*key, int),
) {
	ended := hops[len(hops)-1].Has&telemetry.HasDrop == 0
	// The sink has taken one from the TTL. A report that does not name it may lack it, too.
	if hidden := policy.HiddenNodes(r.TTL, len(hops)); hidden > 0 && route != nil && ended &&
		r.Is(telemetry.Embedded) &&
		r.HasNodeID {
		add(between(telemetry.EventHopWithoutINT, &route[0], &route[len(route)-1]), hidden)
	}
	t.breaches = policy.Judge(flow, dscp, hops, ended, t.breaches[:0])
	for i := range t.breaches {
		b := &t.breaches[i]
		key := key{Kind: b.Kind, Why: b.Why, Rule: b.Rule, Has: telemetry.HasNode, Node: b.Node}
		if b.NoNode {
			key.Has, key.Node = 0, 0
		}
		if b.HasPort {
			key.Has |= telemetry.HasEgressPort
			key.Port = b.Port
		}
		add(&key, 0)
	}
}

// between returns the key of a finding that is somewhere between two elements.
func between(kind telemetry.EventKind, from, to *topology.HopKey) *key {
	return &key{
		Kind: kind, Rule: telemetry.NoRule, Node: from.Node, Port: from.Out, ToNode: to.Node, ToPort: to.In,
		Has:   from.Has & (telemetry.HasNode | telemetry.HasEgressPort),
		ToHas: to.Has & (telemetry.HasNode | telemetry.HasIngressPort),
	}
}

// Exceeded counts a report of a packet to which a node could not add its metadata: because of the hop limit, or of the
// MTU. The place is behind the last node that could, on the way to the one that reports.
func (t *Table) Exceeded(r *telemetry.Report, nowNs int64) {
	var last topology.HopKey
	if len(r.Hops) > 0 {
		last = topology.HopKeyOf(&r.Hops[len(r.Hops)-1])
	}
	var sink topology.HopKey
	if r.HasNodeID {
		sink = topology.HopKey{Node: r.NodeID, Has: telemetry.HasNode}
	}
	for _, kind := range [...]struct {
		flag telemetry.Flags
		kind telemetry.EventKind
	}{{telemetry.HopLimit, telemetry.EventHopLimit}, {telemetry.MTUExceeded, telemetry.EventMTUExceeded}} {
		if !r.Is(kind.flag) {
			continue
		}
		found := t.ofReport(between(kind.kind, &last, &sink), nowNs)
		if found != nil && found.Datagram == nil {
			found.Flow, found.HasFlow = r.Flow, r.Is(telemetry.HasFlow)
			found.show(r)
		}
	}
}
