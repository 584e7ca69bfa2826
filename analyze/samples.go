package analyze

import (
	"github.com/waybill-int/waybill/analyze/burst"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Bursts are found among the packets of a queue, which belong to flows of many shards. So a shard sets aside what they
// met, and a Scanner puts the samples of all shards together.

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
		if s.samples.Wants(&r.Hops[i]) {
			take(&r.Hops[i], i)
		}
	}
	if s.samples.Wants(&r.Local) {
		take(&r.Local, len(r.Hops))
	}
}

// setAside makes a sample of what the packet met at node at of its path. In the queue of the source it had no INT yet,
// in those behind it the records of the nodes in front.
func (s *Shard) setAside(r *telemetry.Report, h *telemetry.Hop, at int, flow burst.FlowRef, nowNs int64) {
	if s.samples.Full() {
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
	s.samples.Add(&sample)
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
	list, overflow = s.samples.Take(empty, most)
	return list, overflow, s.lastNs
}
