package analyze

import (
	"fmt"
	"math"

	"github.com/waybill-int/waybill/telemetry"
)

// leastShare is which share of the time of a packet a node must have, to be to blame for it.
const leastShare = 0.5

// VerdictOf says where a flow lost its time, by what is known of it and of the bursts in whose queues it was; nil
// if its reports tell no latency. What cannot be proved is not said: the packet that took longest in all was, at
// the node where one stayed longest, for no less than what its other nodes leave over, and for no more than the
// longest stay there.
func VerdictOf(f *telemetry.Flow, bursts []telemetry.Burst) *telemetry.Verdict {
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
	v.AtMost = min(1, float64(longest.LatencyNs.Max)/total)
	v.AtLeast = shareAtLeast(f, longest)
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
	if b := worstBurst(f, longest, bursts); b != nil {
		v.Burst, v.BurstAt, v.Filled = b.ID, &b.Peak, b.MainSources
		v.Itself = len(b.Culprits) > 0 && b.Culprits[0].Flow != nil && *b.Culprits[0].Flow == f.Endpoints
		by := fmt.Sprintf("%d flows", b.MainSources)
		if b.MainSources == 1 {
			by = "1 flow"
		}
		if v.Itself {
			by += ", itself the first"
		}
		when := b.Peak
		said := "burst %s UTC"
		if v.Open = b.ID == ""; v.Open {
			when, said = b.Start, "burst since %s UTC, not over yet"
		}
		at = fmt.Sprintf("the queue of %s, filled by %s ("+said+")", where, by, when.UTC().Format("15:04:05"))
	}
	v.Text = fmt.Sprintf("%s of %s, the longest time of a packet in nodes, was %s", share, telemetry.SIText(total/1e9, "s"), at)
	return v
}

// shareAtLeast returns the share of the longest time of a packet that was spent at a hop for sure.
func shareAtLeast(f *telemetry.Flow, longest *telemetry.PathHop) float64 {
	if f.PathChanges >= uint64(max(1, len(f.Paths))) {
		return 0 // it may be that of a packet that took a path that is forgotten
	}
	least := math.Inf(1)
	for p := range f.Paths {
		rest, there := float64(f.Residence.Max), false
		for i := range f.Paths[p].Hops {
			h := &f.Paths[p].Hops[i]
			switch {
			case samePlace(h, longest):
				there = true
			case h.LatencyNs != nil:
				rest -= float64(h.LatencyNs.Max)
			case h.Dropped:
			default:
				return 0
			}
		}
		if !there {
			rest = 0
		}
		least = min(least, rest)
	}
	return max(0, least/float64(f.Residence.Max))
}

func samePlace(a, b *telemetry.PathHop) bool {
	return a.Node != nil && b.Node != nil && *a.Node == *b.Node &&
		(a.EgressPort == nil) == (b.EgressPort == nil) && (a.EgressPort == nil || *a.EgressPort == *b.EgressPort)
}

// worstBurst returns the burst at a hop in which a packet of the flow waited longest, if that explains at least the
// half of the longest stay there.
func worstBurst(f *telemetry.Flow, at *telemetry.PathHop, bursts []telemetry.Burst) (worst *telemetry.Burst) {
	if at.EgressPort == nil {
		return nil
	}
	most := uint64(leastShare * float64(at.LatencyNs.Max))
	for i := range bursts {
		b := &bursts[i]
		if b.Node != *at.Node || b.Port != *at.EgressPort {
			continue
		}
		if waited := WaitIn(f, b); waited >= most {
			most, worst = waited, b
		}
	}
	return worst
}

// WaitIn returns how long a packet of a flow waited in a burst at most, as far as that is known: of its victims
// each, of those that made it what the longest waited.
func WaitIn(f *telemetry.Flow, b *telemetry.Burst) uint64 {
	for i := range b.Victims {
		if v := &b.Victims[i]; v.Flow != nil && *v.Flow == f.Endpoints {
			return v.MaxExtraNs
		}
	}
	for i := range b.Culprits {
		if c := &b.Culprits[i]; c.Flow != nil && *c.Flow == f.Endpoints {
			return b.PeakDelayNs
		}
	}
	return 0
}
