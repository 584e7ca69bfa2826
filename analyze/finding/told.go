package finding

import "github.com/waybill-int/waybill/telemetry"

// A packet has one way and one time at each node. Two stacks of one packet, as two sinks tell them or one that is
// forged, must say the same of the nodes that both name. So what the latest stacks said is remembered for a while: a
// copy of a packet is told from a contradiction by the port by which it leaves.

const (
	// toldStacks is how many stacks a shard remembers, one for each value of a hash: a power of two.
	toldStacks = 1024
	// toldHops is how many hops of each, from the source on.
	toldHops = 6
)

// A toldHop is what a stack said of a node, in half a cache line: each stack is remembered.
type toldHop struct {
	ingressNs             uint64
	node, inPort, outPort uint32
	queue                 uint32
	stayNs, latencyNs     uint32 // egress minus ingress time, and the latency; capped
	has                   telemetry.Fields
}

// A toldStack is what was said of one packet.
type toldStack struct {
	hash uint64
	n    int
	hops [toldHops]toldHop
}

// isExact is what a hop must tell for two stories of it to be compared: when and by which port is to the nanosecond.
func isExact(h *telemetry.Hop) bool {
	const exact = telemetry.HasNode | telemetry.HasIngressTime | telemetry.HasWideTimes | telemetry.HasEgressPort
	return h.Has&(exact|telemetry.HasMicroTimes) == exact
}

// ToldOtherwise reports whether another stack of the same packet told another story before, which is a finding. The
// story of before counts, and this one nowhere. hash is that of the flow and the identity of the packet.
func (t *Table) ToldOtherwise(r *telemetry.Report, hash uint64, nowNs int64) bool {
	if len(r.Hops) == 0 || !isExact(&r.Hops[0]) {
		return false
	}
	if t.told == nil {
		t.told = make([]toldStack, toldStacks)
	}
	at := &t.told[hash&(toldStacks-1)]
	if first := &at.hops[0]; at.hash != hash || at.n == 0 || first.ingressNs != r.Hops[0].IngressNs ||
		first.node != r.Hops[0].NodeID {
		at.remember(hash, r.Hops)
		return false
	}
	for i := range r.Hops {
		h := &r.Hops[i]
		if i >= at.n || !isExact(h) {
			return false
		}
		o := &at.hops[i]
		if h.NodeID != o.node {
			if i == 0 {
				return false
			}
			t.contradicting(r, &r.Hops[i-1], otherNode, uint64(o.node), uint64(h.NodeID), nowNs)
			return true
		}
		if h.IngressNs != o.ingressNs || h.EgressPort != o.outPort {
			return false // a copy, or a packet that came to the node another time
		}
		both := o.has & h.Has
		why, one, other := otherPort, uint64(o.inPort), uint64(h.IngressPort)
		switch {
		case both&telemetry.HasIngressPort != 0 && o.inPort != h.IngressPort:
		case both&telemetry.HasEgressTime != 0 && o.stayNs != capped(h.EgressNs-h.IngressNs):
			why, one, other = otherTime, uint64(o.stayNs), h.EgressNs-h.IngressNs
		case both&telemetry.HasLatency != 0 && o.latencyNs != capped(h.LatencyNs):
			why, one, other = otherLatency, uint64(o.latencyNs), h.LatencyNs
		case both&telemetry.HasQueue != 0 && o.queue != h.QueueOccupancy:
			why, one, other = otherQueue, uint64(o.queue), uint64(h.QueueOccupancy)
		default:
			continue
		}
		t.contradicting(r, h, why, one, other, nowNs)
		return true
	}
	return false
}

// remember keeps what a stack says.
func (t *toldStack) remember(hash uint64, hops []telemetry.Hop) {
	t.hash, t.n = hash, min(len(hops), toldHops)
	for i := range hops[:t.n] {
		h := &hops[i]
		t.hops[i] = toldHop{
			ingressNs: h.IngressNs, node: h.NodeID, inPort: h.IngressPort, outPort: h.EgressPort,
			queue: h.QueueOccupancy, stayNs: capped(h.EgressNs - h.IngressNs),
			latencyNs: capped(h.LatencyNs), has: h.Has,
		}
	}
}

func capped(ns uint64) uint32 { return uint32(min(ns, 1<<32-1)) }
