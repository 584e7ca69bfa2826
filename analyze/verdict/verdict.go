// Package verdict says where a flow lost its time.
package verdict

import (
	"fmt"
	"math"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// leastShare is which share of the time of a packet a node must have, to be to blame for it.
const leastShare = 0.5

// Of says where a flow lost its time, by what is known of it and of the bursts in whose queues it was; nil
// if its reports tell no latency. What cannot be proved is not said: the packet that took longest in all was, at
// the node where one stayed longest, for no less than what its other nodes leave over, and for no more than the
// longest stay there.
func Of(f *telemetry.Flow, bursts []telemetry.Burst) *telemetry.Verdict {
	if f.Residence == nil || f.Residence.Max == 0 {
		return nil
	}
	v := &telemetry.Verdict{LongestNs: f.Residence.Max}
	var longest *telemetry.PathHop
	for p := range f.Paths {
		for i := range f.Paths[p].Hops {
			if h := &f.Paths[p].Hops[i]; h.LatencyNs != nil && h.Node != nil &&
				(longest == nil || h.LatencyNs.Max > longest.LatencyNs.Max) {
				longest = h
			}
		}
	}
	total := float64(v.LongestNs)
	if longest == nil {
		v.Text = fmt.Sprintf("its slowest packet was in nodes for %s; no report tells in which", telemetry.SIText(total/1e9, "s"))
		return v
	}
	v.Node, v.Name, v.Port = longest.Node, longest.Name, longest.EgressPort
	known := false
	v.AtLeast, known = shareAtLeast(f, longest)
	if v.AtMost = 1; known {
		v.AtMost = min(1, float64(longest.LatencyNs.Max)/total)
	}
	where := longest.Name
	if where == "" {
		where = fmt.Sprint("node ", *longest.Node)
	}
	if longest.EgressPort != nil {
		where += fmt.Sprint(" port ", *longest.EgressPort)
	}
	if v.AtMost < leastShare {
		v.Text = fmt.Sprintf("no node is to blame: of %s in nodes at most %s were at %s", telemetry.SIText(total/1e9, "s"),
			telemetry.SIText(float64(longest.LatencyNs.Max)/1e9, "s"), where)
		return v
	}
	low, high := math.Floor(100*v.AtLeast), math.Floor(100*v.AtMost)
	share := fmt.Sprintf("%.0f %%", high)
	if low < high {
		share = fmt.Sprintf("up to %.0f %%", high)
		if v.AtLeast >= leastShare {
			share = fmt.Sprintf("%.0f to %.0f %%", low, high)
		}
	}
	at := "spent at " + where
	if b, waited, next := worstBurst(f, longest, bursts); b != nil {
		v.Burst, v.BurstAt, v.Filled = b.ID, &b.Peak, b.MainFlows
		v.Itself = len(b.Culprits) > 0 && b.Culprits[0].Flow != nil && *b.Culprits[0].Flow == f.Endpoints
		by := fmt.Sprintf("%d flows", b.MainFlows)
		if b.MainFlows == 1 {
			by = "1 flow"
		}
		if v.Itself {
			by += ", itself the first"
		}
		least := 0.99 * v.AtMost * total
		if float64(waited) < least || float64(next) >= least || v.AtLeast*total < least {
			by += ", in the worst burst that it met" // its slowest packet may have met another one, or none
		}
		when := b.Peak
		said := "burst %s UTC"
		if v.Open = b.ID == ""; v.Open {
			when, said = b.Start, "burst since %s UTC, not over yet"
		}
		at = fmt.Sprintf("the queue of %s, filled by %s ("+said+")", where, by, when.UTC().Format("15:04:05"))
	}
	v.Text = fmt.Sprintf("%s of %s, the longest time of a packet in nodes, was %s", share, telemetry.SIText(total/1e9, "s"), at)
	if !known {
		v.Text = fmt.Sprintf("its slowest packet was in nodes for %s, maybe on a path that is forgotten; of one on its latest paths, %s was %s",
			telemetry.SIText(total/1e9, "s"), telemetry.SIText(float64(longest.LatencyNs.Max)/1e9, "s"), at)
	}
	return v
}

// shareAtLeast returns the share of the longest time of a packet that was spent at a hop for sure; false if that may
// be a packet that took a path which is forgotten.
func shareAtLeast(f *telemetry.Flow, longest *telemetry.PathHop) (share float64, known bool) {
	least, packets := math.Inf(1), uint64(0)
	for p := range f.Paths {
		hops := f.Paths[p].Hops
		if slices.ContainsFunc(hops, func(h telemetry.PathHop) bool { return h.LatencyNs == nil }) {
			continue // such packets have no time in all nodes
		}
		packets += hops[0].LatencyNs.Count
		rest, there := float64(f.Residence.Max), false
		for i := range hops {
			if samePlace(&hops[i], longest) {
				there = true
			} else {
				rest -= float64(hops[i].LatencyNs.Max)
			}
		}
		if !there {
			rest = 0
		}
		least = min(least, rest)
	}
	if packets < f.Residence.Count {
		return 0, false
	}
	return max(0, least/float64(f.Residence.Max)), true
}

func samePlace(a, b *telemetry.PathHop) bool {
	return a.Node != nil && b.Node != nil && *a.Node == *b.Node &&
		(a.EgressPort == nil) == (b.EgressPort == nil) && (a.EgressPort == nil || *a.EgressPort == *b.EgressPort)
}

// worstBurst returns the burst at a hop in which a packet of the flow waited longest, if that explains at least the
// half of the longest stay there, and how long one waited in it and in any other, ns.
func worstBurst(f *telemetry.Flow, at *telemetry.PathHop, bursts []telemetry.Burst) (worst *telemetry.Burst,
	waited, next uint64,
) {
	for i := range bursts {
		b := &bursts[i]
		if at.EgressPort == nil || b.Node != *at.Node || b.Port != *at.EgressPort {
			continue
		}
		if ns := WaitIn(f, b); ns >= waited {
			worst, waited, next = b, ns, waited
		} else {
			next = max(next, ns)
		}
	}
	if float64(waited) < leastShare*float64(at.LatencyNs.Max) {
		return nil, 0, 0
	}
	return worst, waited, next
}

// WaitIn returns how long a packet of a flow waited in a burst at most, as far as that is known.
func WaitIn(f *telemetry.Flow, b *telemetry.Burst) uint64 {
	for i := range b.Victims {
		if v := &b.Victims[i]; v.Flow != nil && *v.Flow == f.Endpoints {
			return v.MaxExtraNs
		}
	}
	for i := range b.Culprits {
		if c := &b.Culprits[i]; c.Flow != nil && *c.Flow == f.Endpoints {
			return c.MaxExtraNs
		}
	}
	return 0
}
