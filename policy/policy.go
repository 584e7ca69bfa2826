package policy

import (
	"slices"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/internal/flat"
	"github.com/waybill-int/waybill/telemetry"
)

func init() { flat.Register[*Policy]() } // it goes where paths are judged

// A Policy is what a policy file says.
type Policy struct {
	nodes       map[uint32]*node
	closed      bool // nodes that are not in the file are unexpected
	rules       []rule
	initialTTLs []uint8 // ascending
	arrival     bool    // the sink reports the TTL with which a packet came, not that with which it left
}

// A node is a node that is expected.
type node struct {
	ID    *uint32                       `yaml:"id"`
	Name  string                        `yaml:"name"`
	Ports conf.List[unit.Range[uint32]] `yaml:"ports"` // nil: any
}

func contains[T uint8 | uint16 | uint32](list []unit.Range[T], v T) bool {
	return slices.ContainsFunc(list, func(r unit.Range[T]) bool { return r.Has(v) })
}

// Judge appends how the path along hops breaks the policy, for packets of flow k with that DSCP. A hop that does not
// tell its node may be any node. ended says that the packet left the network behind the last hop; otherwise it may have
// gone on.
func (p *Policy) Judge(k *telemetry.FlowKey, dscp uint8, hops []telemetry.Hop, ended bool,
	breaches []telemetry.Breach,
) []telemetry.Breach {
	if p.closed {
		for i := range hops {
			breaches = p.expect(&hops[i], breaches)
		}
	}
	for i := range p.rules {
		if r := &p.rules[i]; r.matches(k, dscp) {
			return r.judge(int32(i), hops, ended, breaches)
		}
	}
	return breaches
}

// expect appends that a hop is at a node, or a port, that the file does not have.
func (p *Policy) expect(h *telemetry.Hop, breaches []telemetry.Breach) []telemetry.Breach {
	if h.Has&telemetry.HasNode == 0 {
		return breaches
	}
	breach := telemetry.Breach{Kind: telemetry.EventUnexpectedNode, Node: h.NodeID, Rule: telemetry.NoRule}
	n := p.nodes[h.NodeID]
	if n == nil {
		return append(breaches, breach)
	}
	if n.Ports == nil {
		return breaches
	}
	breach.HasPort = true
	if h.Has&telemetry.HasIngressPort != 0 && !contains(n.Ports, h.IngressPort) {
		breach.Port = h.IngressPort
		breaches = append(breaches, breach)
	}
	// What was dropped did not leave by a port, and often none was chosen yet.
	left := h.Has&(telemetry.HasEgressPort|telemetry.HasDrop) == telemetry.HasEgressPort
	if left && !contains(n.Ports, h.EgressPort) {
		breach.Port = h.EgressPort
		breaches = append(breaches, breach)
	}
	return breaches
}

// RuleName returns the name of a rule, or its place in the file, from "rule 1", if it has none.
func (p *Policy) RuleName(index int32) string {
	if index < 0 || int(index) >= len(p.rules) {
		return ""
	}
	return p.rules[index].Name
}

// Rules returns the number of rules, Nodes that of nodes.
func (p *Policy) Rules() int { return len(p.rules) }

// Names returns the names of nodes that have one.
func (p *Policy) Names() map[uint32]string {
	names := map[uint32]string{}
	for id, n := range p.nodes {
		if n.Name != "" {
			names[id] = n.Name
		}
	}
	return names
}

// Nodes returns the number of nodes.
func (p *Policy) Nodes() int { return len(p.nodes) }

// maxTaken is how many nodes a packet may have passed to be believed to have begun with an initial TTL.
const maxTaken = 32

// HiddenNodes returns how many nodes took one from the TTL of a packet and added no metadata, if hops nodes did (INT
// 2.1 §5.1). Hosts begin with one of the initial TTLs: the packet began with the smallest one that is not below ttl,
// that of its report. 0 if the file has none, or they cannot explain ttl: it is above all of them, or so far below one
// that the sender must have begun elsewhere, as traceroute does.
func (p *Policy) HiddenNodes(ttl uint8, hops int) int {
	i, _ := slices.BinarySearch(p.initialTTLs, ttl)
	if i == len(p.initialTTLs) {
		return 0
	}
	taken := int(p.initialTTLs[i] - ttl)
	if taken > maxTaken {
		return 0
	}
	if p.arrival {
		taken++ // by the sink, after its report
	}
	return max(taken-hops, 0)
}
