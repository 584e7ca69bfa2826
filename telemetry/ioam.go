package telemetry

import (
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/ioam"
)

// ioamTrace takes the nodes of an IOAM trace as the stack.
func (d *Decoder) ioamTrace(kind uint8, b []byte) error {
	if kind != ioam.TypePreallocated && kind != ioam.TypeIncremental || d.report.Is(Embedded|Instructed) {
		return nil
	}
	var trace ioam.Trace
	n, err := trace.Decode(b)
	if err != nil {
		return err
	}
	nodes, err := trace.Nodes(b[n:], kind == ioam.TypePreallocated)
	if err != nil {
		return err
	}
	var found [maxStackIOAM]Hop
	count := 0
	var node ioam.Node
	fraction := uint64(1)
	if d.dialect.Has(codepoint.QuirkPOSIXTime) {
		fraction = 1000
	}
	for count < len(found) && nodes.Next(&node) {
		found[count] = hopOf(&node, fraction, queueOf(d.dialect))
		count++
	}
	r := d.report
	r.Flags |= Embedded
	if kind == ioam.TypeIncremental {
		r.RecordBytes = 4 * trace.NodeLen
	}
	if trace.Overflow {
		r.Flags |= HopLimit
	}
	r.Hops = d.batch.takeHops(count)
	for i := range count {
		r.Hops[count-1-i] = found[i]
	}
	return nodes.Err()
}

// ioamDirect takes direct export: this node reports the packet, as the others do, and says which it is.
func (d *Decoder) ioamDirect(b []byte) error {
	var option ioam.DEX
	if _, err := option.Decode(b); err != nil {
		return err
	}
	d.report.Flags |= Instructed
	if option.ExtFlags&ioam.DEXSequence != 0 {
		d.frag.identity = mix(d.frag.identity^uint64(option.FlowID), uint64(option.Sequence))
	}
	return nil
}

// maxStackIOAM is more nodes than an IPv6 option has room for.
const maxStackIOAM = 64

// hopOf makes a Hop of what a node wrote. fraction is the nanoseconds of one unit of the timestamp fraction, which the
// namespace defines: 1 for PTP, 1000 for POSIX. queue is what is known of queue depths.
func hopOf(n *ioam.Node, fraction uint64, queue Fields) Hop {
	var h Hop
	has := func(bit uint32) bool { return n.Has&bit != 0 && n.Unavailable&bit == 0 }
	switch {
	case has(ioam.BitHopLimitNodeID):
		h.Has |= HasNode
		h.NodeID = n.NodeID
	case has(ioam.BitHopLimitNodeIDWide):
		h.Has |= HasNode
		h.NodeID = uint32(n.NodeIDWide)
	}
	switch {
	case has(ioam.BitInterfaces):
		if n.IngressIf != ioam.NoInterface {
			h.Has |= HasIngressPort
			h.IngressPort = uint32(n.IngressIf)
		}
		if n.EgressIf != ioam.NoInterface {
			h.Has |= HasEgressPort
			h.EgressPort = uint32(n.EgressIf)
		}
	case has(ioam.BitInterfacesWide):
		h.Has |= HasIngressPort | HasEgressPort
		h.IngressPort, h.EgressPort = n.IngressIfWide, n.EgressIfWide
	}
	if has(ioam.BitTransitDelay) && n.TransitDelay&ioam.TransitDelayOverflow == 0 {
		h.Has |= HasLatency
		h.LatencyNs = uint64(n.TransitDelay)
	}
	const second = 1_000_000_000
	if ns := uint64(n.TsFrac) * fraction; has(ioam.BitTsSec) && has(ioam.BitTsFrac) && ns < second { // when it came
		h.Has |= HasIngressTime | HasWideTimes | unitOf(fraction)
		h.IngressNs = uint64(n.TsSec)*second + ns
		if h.Has&HasLatency != 0 {
			h.Has |= HasEgressTime
			h.EgressNs = h.IngressNs + h.LatencyNs
		}
	}
	if has(ioam.BitQueueDepth) {
		h.Has |= queue
		h.QueueOccupancy = n.QueueDepth
	}
	if has(ioam.BitBufferOccupancy) {
		h.Has |= HasBuffer
		h.BufferOccupancy = n.BufferOccupancy
	}
	return h
}
