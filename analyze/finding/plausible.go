package finding

import "github.com/waybill-int/waybill/telemetry"

// What a node tells of a packet may contradict itself. Then it is a finding, and counts nowhere else.

// An implausibility is why metadata cannot be so.
type implausibility = telemetry.BreachWhy

const (
	zeroTimes      implausibility = iota // a timestamp is 0
	backwards                            // the packet left before it came
	latencyAgainst                       // the latency is not the time between the two stamps
	WrongRate                            // the stamps count something else than nanoseconds
	otherPort                            // two stories of a packet: it came in by two ports
	otherTime                            // it left at two times
	otherLatency                         // it was there for two times
	otherQueue                           // its queue had two lengths
	otherNode                            // it went to two nodes
)

// apartNs is how much more or less than the time between its stamps a latency may be. Devices mean different things by
// it, such as the time in a queue alone, and measure it at other places.
const apartNs = 1e6

// Some devices put clocks of 48 bits into 64, which begin again at 0 after 78 hours. A packet is in a node for less
// than a second.
const (
	turnNs       = 1 << 48
	apartTurnsNs = 1e9
)

const bothTimes = telemetry.HasIngressTime | telemetry.HasEgressTime

// Distrust takes from a report what cannot be so.
func (t *Table) Distrust(r *telemetry.Report, nowNs int64) {
	for i := range r.Hops {
		if h := &r.Hops[i]; h.Has&bothTimes != 0 && !agrees(h) {
			t.distrustHop(r, h, nowNs)
		}
	}
	if h := &r.Local; h.Has&bothTimes != 0 && !agrees(h) {
		t.distrustHop(r, h, nowNs)
	}
}

// agrees reports whether a hop has both stamps and, if it has one of its own, a latency that agree. That of nearly all
// does, which costs no call.
func agrees(h *telemetry.Hop) bool {
	stay := h.EgressNs - h.IngressNs
	return h.Has&bothTimes == bothTimes && h.IngressNs != 0 && h.EgressNs >= h.IngressNs &&
		(h.Has&telemetry.HasLatency == 0 || stay-h.LatencyNs+apartNs <= 2*apartNs)
}

func (t *Table) distrustHop(r *telemetry.Report, h *telemetry.Hop, nowNs int64) {
	const times = bothTimes | telemetry.HasWideTimes
	both := h.Has&bothTimes == bothTimes
	stay := int64(h.EgressNs - h.IngressNs)
	switch wide := h.Has&telemetry.HasWideTimes != 0; {
	case both && h.EgressNs|h.IngressNs == 0,
		wide && (h.Has&telemetry.HasIngressTime != 0 && h.IngressNs == 0 || h.Has&telemetry.HasEgressTime != 0 &&
			h.EgressNs == 0):
		t.implausible(r, h, zeroTimes, nowNs)
		h.Has &^= times
		if h.Has&telemetry.HasDerivedLatency != 0 {
			h.Has &^= telemetry.HasLatency | telemetry.HasDerivedLatency
		}
	case both && wide && stay < 0 && stay+turnNs >= 0 && stay+turnNs < apartTurnsNs:
		// a clock of 48 bits began again at 0 while the packet was there
		h.Has &^= times
		if h.Has&telemetry.HasDerivedLatency != 0 {
			h.Has &^= telemetry.HasLatency | telemetry.HasDerivedLatency
		}
	case both && wide && stay < 0:
		t.implausible(r, h, backwards, nowNs)
		h.Has &^= times
	case both && wide && h.Has&(telemetry.HasLatency|telemetry.HasDerivedLatency) == telemetry.HasLatency:
		if apart := stay - int64(min(h.LatencyNs, 1<<62)); max(apart, -apart) > max(apartNs, stay/2) {
			t.implausible(r, h, latencyAgainst, nowNs)
			h.Has &^= times | telemetry.HasLatency
		}
	}
}

// implausible notes that what a node tells cannot be so.
func (t *Table) implausible(r *telemetry.Report, h *telemetry.Hop, why implausibility, nowNs int64) {
	key := key{
		Kind: telemetry.EventImplausible, Why: why, Rule: telemetry.NoRule,
		Has: h.Has & telemetry.HasNode,
	}
	if key.Has != 0 {
		key.Node = h.NodeID
	}
	found := t.ofReport(&key, nowNs)
	if found == nil {
		return
	}
	if found.Datagram == nil {
		found.Flow, found.HasFlow = r.Flow, r.Is(telemetry.HasFlow)
		found.times = [3]uint64{h.IngressNs, h.EgressNs, h.LatencyNs}
		found.show(r)
	}
}

// ToldTwice reports whether a node has told of a packet already, of which hops were told: it came to the node in the
// same nanosecond, and leaves it by the same port. If it tells another story now neither counts, and against is the
// place of the one before in hops; else it is -1. A copy of a packet leaves by another port.
func (t *Table) ToldTwice(hops []telemetry.Hop, r *telemetry.Report, hop *telemetry.Hop, nowNs int64) (
	told bool, against int,
) {
	const same = telemetry.HasNode | telemetry.HasIngressTime | telemetry.HasWideTimes | telemetry.HasEgressPort
	for i := range hops {
		o := &hops[i]
		both := o.Has & hop.Has
		if both&same != same || o.NodeID != hop.NodeID || o.TTL != hop.TTL || o.IngressNs != hop.IngressNs ||
			o.EgressPort != hop.EgressPort || (o.Has^hop.Has)&telemetry.HasDrop != 0 {
			continue
		}
		why, one, other := otherPort, uint64(o.IngressPort), uint64(hop.IngressPort)
		switch {
		case both&telemetry.HasIngressPort != 0 && o.IngressPort != hop.IngressPort:
		case both&telemetry.HasEgressTime != 0 && o.EgressNs != hop.EgressNs:
			why, one, other = otherTime, o.EgressNs-o.IngressNs, hop.EgressNs-hop.IngressNs
		case both&telemetry.HasLatency != 0 && o.LatencyNs != hop.LatencyNs:
			why, one, other = otherLatency, o.LatencyNs, hop.LatencyNs
		case both&telemetry.HasQueue != 0 && o.QueueOccupancy != hop.QueueOccupancy:
			why, one, other = otherQueue, uint64(o.QueueOccupancy), uint64(hop.QueueOccupancy)
		default:
			return true, -1 // the same story again
		}
		t.contradicting(r, hop, why, one, other, nowNs)
		return true, i
	}
	return false, -1
}

// contradicting notes that a node tells two stories of one packet, with what differs.
func (t *Table) contradicting(r *telemetry.Report, h *telemetry.Hop, why implausibility, one, other uint64,
	nowNs int64,
) {
	key := key{
		Kind: telemetry.EventContradiction, Why: why, Rule: telemetry.NoRule, Has: telemetry.HasNode, Node: h.NodeID,
	}
	if found := t.ofReport(&key, nowNs); found != nil && found.Count == 1 {
		found.Flow, found.HasFlow = r.Flow, true
		found.stack, found.times = r.Is(telemetry.Embedded), [3]uint64{h.IngressNs, one, other}
		found.show(r)
	}
}
