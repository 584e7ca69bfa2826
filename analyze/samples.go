package analyze

import (
	"slices"

	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Bursts are found among the packets of a queue, which belong to flows of many shards. So a shard sets aside what they
// met, and a Scanner puts the samples of all shards together.

// maxWaitingSamples bounds the samples that wait for a scan, 64 bytes each.
const maxWaitingSamples = 1 << 14

// sampleList holds what packets met at queues since the last look.
type sampleList struct {
	list []burst.Sample
	// floor is the occupancy from which on a packet is sampled. It is 0 unless there are more packets than samples can
	// be looked at: then packets that met short queues are left out first. The end of a burst is found some packets too
	// early or too late then, as those in front of the queue are not known.
	floor    uint32
	floors   [4]uint32 // the same by unit, as far as hops tell: not higher than the least depth at which a burst ends
	calm     int       // looks in a row that found few samples
	overflow uint64
}

// wants reports whether a hop tells of a queue that is long enough, at a moment that is known.
func (l *sampleList) wants(h *telemetry.Hop) bool {
	const place = telemetry.HasQueue | telemetry.HasNode | telemetry.HasEgressPort
	const times = telemetry.HasIngressTime | telemetry.HasEgressTime
	return h.QueueOccupancy >= l.floors[h.Has.QueueUnit()&3] && h.Has&place == place && h.Has&times != 0
}

// sample sets aside what r tells of queues. The flow is looked up once, and only if there is something to set aside.
func (s *Shard) sample(r *telemetry.Report, tag uint32, nowNs int64) {
	var flow burst.FlowRef
	found := false
	take := func(h *telemetry.Hop, at int) {
		if !found {
			place, _, _ := s.flows.find(&r.Flow, tag)
			flow, found = flowRefOf(place, tag), true
		}
		s.setAside(r, h, at, flow, nowNs)
	}
	for i := range r.Hops {
		if s.samples.wants(&r.Hops[i]) {
			take(&r.Hops[i], i)
		}
	}
	if s.samples.wants(&r.Local) {
		take(&r.Local, len(r.Hops))
	}
}

// setAside makes a sample of what the packet met at node at of its path. In the queue of the source it had no INT yet,
// in those behind it the records of the nodes in front.
func (s *Shard) setAside(r *telemetry.Report, h *telemetry.Hop, at int, flow burst.FlowRef, nowNs int64) {
	if len(s.samples.list) >= maxWaitingSamples {
		s.samples.overflow++
		return
	}
	const ethernet = 14
	length := int(r.Bytes) + ethernet
	if at > 0 {
		length += max(int(r.INTBytes)-(len(r.Hops)-at)*int(r.RecordBytes), 0)
	}
	sample := burst.Sample{
		Node: h.NodeID, Port: h.EgressPort, Queue: h.QueueID, Has: burst.SampleDepth, Depth: h.QueueOccupancy,
		Unit: h.Has.QueueUnit(), WrapNs: h.Has.WrapNs(), ArrivalNs: nowNs,
		InNs: h.IngressNs, OutNs: h.EgressNs, LatencyNs: h.LatencyNs, Bytes: uint32(length),
		Flow: flow, Source: uint32(topology.Mix(r.Flow.Src.Hi^0xa0761d6478bd642f, r.Flow.Src.Lo^0xe7037ed1a0b428db)),
		Packet: r.PacketID,
	}
	if h.Has&telemetry.HasIngressTime != 0 {
		sample.Has |= burst.SampleIn
	}
	if h.Has&telemetry.HasEgressTime != 0 {
		sample.Has |= burst.SampleOut
	}
	if h.Has&telemetry.HasLatency != 0 {
		sample.Has |= burst.SampleLatency
	}
	if h.Has&telemetry.HasDepthAtEgress != 0 {
		sample.Has |= burst.SampleDepthAtOut
	}
	if h.Has&telemetry.HasDrop != 0 {
		sample.Has |= burst.SampleDropped
	}
	s.samples.list = append(s.samples.list, sample)
}

// A FlowRef of a shard is the place of the flow and its tag, which tells whether another flow has its place now.
func flowRefOf(place int, tag uint32) burst.FlowRef {
	return burst.FlowRef(uint64(tag)<<32 | uint64(uint32(place)))
}

// flowOf returns the key of a flow, unless it gave way to another.
func (s *Shard) flowOf(ref burst.FlowRef) (key telemetry.FlowKey, ok bool) {
	place := int(uint32(ref))
	if place >= s.flows.count {
		return key, false
	}
	f := s.flows.at(place)
	return f.key, f.used && f.tag == uint32(ref>>32)
}

// TakeSamples implements scan.Owner.
func (s *Shard) TakeSamples(empty []burst.Sample, most [4]uint32) (list []burst.Sample, overflow uint64,
	lastNs int64,
) {
	s.mu.Lock()
	defer s.mu.Unlock()
	l := &s.samples
	list, overflow = l.list, l.overflow
	l.calm++
	switch n := len(list); {
	case n > maxWaitingSamples/2:
		l.floor, l.calm = min(max(2*l.floor, leastFloor), slices.Max(most[:])), 0
	case n > maxWaitingSamples/16:
		l.calm = 0
	case l.calm > calmLooks && l.floor > 0:
		if l.floor, l.calm = l.floor/2, 0; l.floor < leastFloor {
			l.floor = 0
		}
	}
	for unit := range l.floors {
		l.floors[unit] = min(l.floor, most[unit])
	}
	l.list, l.overflow = empty[:0], 0
	return list, overflow, s.lastNs
}

const (
	leastFloor = 1500 // the length of a packet
	calmLooks  = 100  // before the floor is lowered: 10 s
)
