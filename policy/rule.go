package policy

import (
	"math/bits"
	"slices"

	"github.com/waybill-int/waybill/internal/conf"
	"github.com/waybill-int/waybill/internal/conf/unit"
	"github.com/waybill-int/waybill/telemetry"
)

// maxSteps bounds a path and a list of waypoints: a set of them fits a word.
const maxSteps = 62

// A rule says where the packets of some flows go. What it does not set matches every flow, or allows everything.
type rule struct {
	Name string `yaml:"name"`

	Src      conf.List[unit.Prefix]        `yaml:"src"`
	Dst      conf.List[unit.Prefix]        `yaml:"dst"`
	SrcPort  conf.List[unit.Range[uint16]] `yaml:"src_port"`
	DstPort  conf.List[unit.Range[uint16]] `yaml:"dst_port"`
	Protocol conf.List[protocol]           `yaml:"protocol"`
	DSCP     conf.List[unit.Range[uint8]]  `yaml:"dscp"`
	Tunnel   *tunnel                       `yaml:"tunnel"`
	TunnelID conf.List[unit.Range[uint32]] `yaml:"tunnel_id"`

	Waypoints list[step]        `yaml:"waypoints"`
	AnyOrder  bool              `yaml:"any_order"`
	Avoid     conf.List[string] `yaml:"avoid"`
	Paths     list[list[step]]  `yaml:"paths"`
	MaxHops   *uint8            `yaml:"max_hops"` // nil: any

	avoid []uint32 // the nodes that Avoid names
}

// A step is a place on a path: one of some nodes, or any number of nodes.
type step struct {
	names []string // as the file calls nodes
	nodes []uint32
	many  bool
}

// at reports whether h can be at this step. A hop that does not tell its node can be at any.
func (s *step) at(h *telemetry.Hop) bool {
	return h.Has&telemetry.HasNode == 0 || slices.Contains(s.nodes, h.NodeID)
}

func (r *rule) matches(k *telemetry.FlowKey, dscp uint8) bool {
	return (r.Protocol == nil || slices.Contains(r.Protocol, protocol(k.Protocol))) &&
		(r.DstPort == nil || contains(r.DstPort, k.DstPort)) &&
		(r.SrcPort == nil || contains(r.SrcPort, k.SrcPort)) &&
		(r.DSCP == nil || contains(r.DSCP, dscp)) &&
		(r.Tunnel == nil || telemetry.Tunnel(*r.Tunnel) == k.Tunnel) &&
		(r.TunnelID == nil || k.Tunnel != telemetry.TunnelNone && contains(r.TunnelID, k.TunnelID)) &&
		(r.Dst == nil || holds(r.Dst, k.Dst)) && (r.Src == nil || holds(r.Src, k.Src))
}

func holds(prefixes []unit.Prefix, a telemetry.Addr) bool {
	ip := a.IP()
	return slices.ContainsFunc(prefixes, func(p unit.Prefix) bool { return p.Contains(ip) })
}

// judge appends how a path breaks the rule.
func (r *rule) judge(index int32, hops []telemetry.Hop, ended bool, breaches []telemetry.Breach) []telemetry.Breach {
	breach := telemetry.Breach{Kind: telemetry.EventPathNotAllowed, Rule: index}
	if len(r.avoid) > 0 {
		breach.Why = telemetry.MustAvoid
		for i := range hops {
			if hops[i].Has&telemetry.HasNode != 0 && slices.Contains(r.avoid, hops[i].NodeID) {
				breach.Node = hops[i].NodeID
				breaches = append(breaches, breach)
			}
		}
	}
	if r.MaxHops != nil && len(hops) > int(*r.MaxHops) {
		first := &hops[*r.MaxHops]
		breach.Why, breach.Node, breach.NoNode = telemetry.TooManyHops, first.NodeID, first.Has&telemetry.HasNode == 0
		breaches = append(breaches, breach)
	}
	if len(r.Paths) > 0 && len(hops) > 0 {
		if i := r.leaves(hops, ended); i >= 0 {
			breach.Why, breach.Node, breach.NoNode = telemetry.OffPath, hops[i].NodeID,
				hops[i].Has&telemetry.HasNode == 0
			breaches = append(breaches, breach)
		}
	}
	if len(r.Waypoints) > 0 && ended {
		if missed := r.missed(hops); missed >= 0 {
			breaches = append(breaches,
				telemetry.Breach{Kind: telemetry.EventWaypointMissed, Rule: index, Node: r.Waypoints[missed].nodes[0]})
		}
	}
	return breaches
}

// missed returns the first waypoint that a path does not pass, or not in its place, and -1 if there is none.
func (r *rule) missed(hops []telemetry.Hop) int {
	if r.AnyOrder {
		return slices.IndexFunc(r.Waypoints, func(w step) bool {
			return !slices.ContainsFunc(hops, func(h telemetry.Hop) bool { return w.at(&h) })
		})
	}
	next := 0
	for i := range hops {
		if next < len(r.Waypoints) && r.Waypoints[next].at(&hops[i]) {
			next++
		}
	}
	if next == len(r.Waypoints) {
		return -1
	}
	return next
}

// leaves returns the hop at which a path leaves the last of the allowed paths, and -1 if it is one of them.
func (r *rule) leaves(hops []telemetry.Hop, ended bool) int {
	furthest := 0
	for _, path := range r.Paths {
		i := follow(path, hops, ended)
		if i < 0 {
			return -1
		}
		furthest = max(furthest, i)
	}
	return furthest
}

// follow returns the first of hops that cannot be on path, the last one if the path should go on behind it, and -1 if
// there is none. It keeps the set of all steps that the next hop can be at, so that no list of "*" makes it slow.
func follow(path []step, hops []telemetry.Hop, ended bool) int {
	open := behind(path, 1)
	for i := range hops {
		var next uint64
		for rest := open; rest != 0; rest &= rest - 1 {
			at := bits.TrailingZeros64(rest)
			switch {
			case at == len(path): // the path is over
			case path[at].many:
				next |= 1 << at
			case path[at].at(&hops[i]):
				next |= 1 << (at + 1)
			}
		}
		if open = behind(path, next); open == 0 {
			return i
		}
	}
	if ended && open&(1<<len(path)) == 0 {
		return len(hops) - 1
	}
	return -1
}

// behind adds to a set of steps those that follow them behind a "*", which may be no node at all.
func behind(path []step, set uint64) uint64 {
	for i := range path {
		if path[i].many && set&(1<<i) != 0 {
			set |= 1 << (i + 1)
		}
	}
	return set
}
