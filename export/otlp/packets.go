package otlp

import (
	"time"

	"github.com/waybill-int/waybill/export"
	"github.com/waybill-int/waybill/export/message"
	"github.com/waybill-int/waybill/telemetry"
)

// A packetReader reads the packets that reports tell of.
type packetReader struct {
	decoder *telemetry.Decoder
	batch   telemetry.Batch
}

// A packet is what one report tells of one packet: a flow of which nobody knows more.
type packet struct {
	telemetry.Flow
	id     uint64 // the same in reports of one packet by several nodes
	report uint64 // another one for each report
}

// read returns what the reports of a datagram tell of packets.
func (p *packetReader) read(d *export.Datagram, names map[uint32]string) (list []packet) {
	if p.decoder == nil {
		p.decoder = telemetry.NewDecoder(d.Points)
	}
	p.decoder.Use(d.Points)
	p.batch.Reset()
	var h telemetry.Header
	p.decoder.Decode(d.Payload, d.Source, d.Port, &p.batch, &h)
	for i := range p.batch.Reports {
		r := &p.batch.Reports[i]
		hops := hopsOf(r, names)
		if !r.Is(telemetry.HasFlow) || r.Is(telemetry.DropSummary) || len(hops) == 0 {
			continue
		}
		now := time.Unix(0, d.TimeNs).UTC()
		f := telemetry.Flow{
			ID: message.FlowID(&r.Flow), Endpoints: telemetry.EndpointsOf(&r.Flow), DSCP: r.DSCP, First: now, Last: now,
			Reports: 1, Packets: 1, Bytes: uint64(r.Bytes), Residence: residenceOf(hops),
			Paths: []telemetry.FlowPath{{Hops: hops, Packets: 1, First: now, Last: now}},
		}
		if r.Is(telemetry.Dropped) {
			f.Drops = 1
		}
		list = append(list, packet{f, r.PacketID, uint64(r.NodeID)<<32 | uint64(r.Sequence)<<8 + uint64(i)})
	}
	return list
}

// hopsOf returns what a report tells of nodes, source first. Where nodes are known to be missing there is one of which
// nothing is known.
func hopsOf(r *telemetry.Report, names map[uint32]string) (hops []telemetry.PathHop) {
	if r.Is(telemetry.StackCut) {
		hops = append(hops, telemetry.PathHop{})
	}
	for i := range r.Hops {
		hops = append(hops, hopOf(&r.Hops[i], names))
	}
	if r.Is(telemetry.HopLimit | telemetry.MTUExceeded) {
		hops = append(hops, telemetry.PathHop{})
	}
	if r.Local.Has&telemetry.HasNode != 0 { // it may be in the stack already
		if n := len(r.Hops); n == 0 || r.Hops[n-1].Has&telemetry.HasNode != 0 && r.Hops[n-1].NodeID != r.Local.NodeID {
			hops = append(hops, hopOf(&r.Local, names))
		}
	}
	if n := len(hops); n > 0 && r.Is(telemetry.Dropped) { // TR 2.0 §2.5: where the drop is reported it happened
		hops[n-1].Dropped = true
	}
	return hops
}

func hopOf(h *telemetry.Hop, names map[uint32]string) (hop telemetry.PathHop) {
	known := func(f telemetry.Fields, v uint32) *uint32 {
		if h.Has&f == 0 {
			return nil
		}
		return &v
	}
	hop.Node = known(telemetry.HasNode, h.NodeID)
	hop.IngressPort = known(telemetry.HasIngressPort, h.IngressPort)
	hop.EgressPort = known(telemetry.HasEgressPort, h.EgressPort)
	if hop.Node != nil {
		hop.Name = names[h.NodeID]
	}
	if h.Has&(telemetry.HasLatency|telemetry.HasDerivedLatency) != 0 {
		hop.LatencyNs = one(h.LatencyNs)
	}
	if h.Has&telemetry.HasQueue != 0 {
		hop.Queue = &telemetry.Queue{
			ID: h.QueueID, Mean: float64(h.QueueOccupancy), Max: h.QueueOccupancy, Unit: h.Has.QueueUnit().String(),
		}
	}
	return hop
}

// residenceOf is how long a packet stayed in all hops; nil: of one of them nobody knows.
func residenceOf(hops []telemetry.PathHop) *telemetry.Distribution {
	sum := uint64(0)
	for i := range hops {
		if hops[i].LatencyNs == nil {
			return nil
		}
		sum += hops[i].LatencyNs.Min
	}
	return one(sum)
}

// one is the distribution of one value.
func one(v uint64) *telemetry.Distribution {
	return &telemetry.Distribution{Count: 1, Min: v, Mean: float64(v), Max: v, P50: v, P99: v}
}
