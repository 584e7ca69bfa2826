package node

import (
	"math"

	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/node/ioam"
	"github.com/waybill-int/waybill/node/watch"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/inband"
	wireioam "github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/report"
)

// An IOAM says what an IOAM domain does (RFC 9197, RFC 9326).
type IOAM struct {
	Option    string `yaml:"option"`    // preallocated, incremental or dex; default preallocated
	Namespace uint16 `yaml:"namespace"` // default 0
}

var ioamOptions = map[string]uint8{
	"preallocated": wireioam.TypePreallocated, "incremental": wireioam.TypeIncremental, "dex": wireioam.TypeDEX,
}

// An ioamNode is what a node has for IOAM, and scratch memory of one call.
type ioamNode struct {
	domain ioam.Domain
	option uint8

	packet   ioam.Packet
	record   wireioam.Node
	exported []byte
	sent     map[uint64]uint32 // by flow: packets with direct export, the number of the next one
}

// traceFields has what each instruction is in a trace type, and the RepMdBits of a report that say the same.
var traceFields = []struct {
	one       watch.Instructions
	traceType uint32
	metadata  uint16
}{
	{watch.NodeID, wireioam.BitHopLimitNodeID, 0},
	{watch.L1Interfaces, wireioam.BitInterfaces, report.MDInterfaces},
	{watch.IngressTS, wireioam.BitTsSec | wireioam.BitTsFrac, report.MDIngressTS},
	{watch.HopLatency, wireioam.BitTransitDelay, report.MDHopLatency | report.MDEgressTS},
	{watch.Queue, wireioam.BitQueueDepth, report.MDQueue},
	{watch.L2Interfaces, wireioam.BitInterfacesWide, report.MDL2Interfaces},
	{watch.Buffer, wireioam.BitBufferOccupancy, report.MDBuffer},
}

// traceType returns the IOAM-Trace-Type of instructions, and those that it has no bit for. The time at which a packet
// leaves is the time at which it came and the delay.
func traceType(i watch.Instructions) (t uint32, missing watch.Instructions) {
	for _, f := range traceFields {
		if i&f.one != 0 {
			t, i = t|f.traceType, i&^f.one
		}
	}
	if t&(wireioam.BitTransitDelay|wireioam.BitTsFrac) == wireioam.BitTransitDelay|wireioam.BitTsFrac {
		i &^= watch.EgressTS
	}
	return t, i
}

// traceMetadata returns the RepMdBits of what a trace type asks for.
func traceMetadata(t uint32) (metadata uint16) {
	for _, f := range traceFields {
		if t&f.traceType == f.traceType {
			metadata |= f.metadata
		}
	}
	return metadata
}

// request returns what a source asks for, and an error as text if it cannot be.
func (c *Config) request(traceType uint32) (q ioam.Request, wrong string) {
	words := wireioam.NodeLen(traceType)
	q = ioam.Request{
		Type: ioamOptions[c.IOAM.Option], NamespaceID: c.IOAM.Namespace, TraceType: traceType,
		HasFlowID: true, HasSequence: true,
	}
	if words > 0 {
		q.RemainingLen = uint8(min(int(c.MaxHops), ioam.MaxWords/words) * words)
	}
	if err := q.Check(); err != nil {
		return q, err.Error()
	}
	return q, ""
}

func (c *Config) ioamNode() *ioamNode {
	return &ioamNode{
		domain: ioam.Domain{Namespaces: []uint16{c.IOAM.Namespace}}, option: ioamOptions[c.IOAM.Option],
		sent: map[uint64]uint32{},
	}
}

// measure fills in the record of this node.
func (i *ioamNode) measure(v *visit, hopLimit uint8) {
	const (
		second     = 1_000_000_000
		node24     = 0xFFFFFF
		noDelay    = uint64(math.MaxUint32)
		delayLimit = uint64(wireioam.TransitDelayOverflow)
	)
	m, r := &v.own, &i.record
	*r = wireioam.Node{
		HopLimit: hopLimit, NodeID: m.NodeID, IngressIf: wireioam.NoInterface, EgressIf: wireioam.NoInterface,
		TsSec: uint32(m.IngressTS / second), TsFrac: uint32(m.IngressTS % second),
		TransitDelay: m.HopLatency, QueueDepth: m.QueueOccupancy,
		IngressIfWide: m.L2Ingress, EgressIfWide: m.L2Egress, BufferOccupancy: m.BufferOccupancy,
	}
	if delay := uint64(m.HopLatency); delay >= delayLimit && delay < noDelay {
		r.TransitDelay = wireioam.TransitDelayOverflow
	}
	valid := m.Has &^ m.Invalid
	if valid&inband.L1Ingress != 0 && m.L1Ingress < wireioam.NoInterface {
		r.IngressIf = uint16(m.L1Ingress)
	}
	if valid&inband.L1Egress != 0 && m.L1Egress < wireioam.NoInterface {
		r.EgressIf = uint16(m.L1Egress)
	}
	for _, row := range []struct {
		bit    uint32
		fields inband.Fields
	}{
		{wireioam.BitHopLimitNodeID, inband.NodeID},
		{wireioam.BitTsSec | wireioam.BitTsFrac, inband.IngressTS},
		{wireioam.BitTransitDelay, inband.HopLatency},
		{wireioam.BitQueueDepth, inband.QueueOccupancy},
		{wireioam.BitInterfacesWide, inband.L2Ingress},
		{wireioam.BitBufferOccupancy, inband.BufferOccupancy},
	} {
		if valid&row.fields == 0 {
			r.Unavailable |= row.bit
		}
	}
	if m.NodeID >= node24 {
		r.Unavailable |= wireioam.BitHopLimitNodeID
	}
}

// find reads a packet, and returns the option of the domain that its nodes look at.
func (i *ioamNode) find(frame []byte) (o ioam.Option, ok bool) {
	if i.packet.Parse(frame) != nil {
		return o, false
	}
	for options := i.packet.Options(); options.Next(&o); {
		if o.Type == i.option && o.Malformed == 0 && i.domain.Knows(o.NamespaceID) {
			return o, true
		}
	}
	return o, false
}

// whyIOAM is what the reasons of package ioam are in Stats.Why.
var whyIOAM = map[ioam.Why]embed.Why{
	ioam.NotIPv6: embed.NoCarrier, ioam.MalformedIOAM: embed.MalformedINT, ioam.Overflow: embed.HopLimit,
	ioam.MTU: embed.MTU, ioam.CarrierFull: embed.CarrierFull, ioam.AlreadyIOAM: embed.AlreadyINT,
}

// ioamSource is for a packet that enters an IOAM domain, and is watched. Options that a host has put there in the name
// of the domain are taken out.
func (n *Node) ioamSource(v *visit) {
	i, s, p := n.ioam, v.state, &v.packet
	frame := p.Frame
	if i.packet.Parse(frame) == nil {
		if clean, r := i.domain.Decapsulate(n.spare[:0], &i.packet); r.Action == ioam.Removed {
			n.spare, frame = clean, clean
			n.count(Cleaned)
			_ = i.packet.Parse(frame)
		}
	}
	i.measure(v, i.packet.HopLimit)
	q, _ := n.config.request(s.traceType)
	q.FlowID, q.Sequence = uint32(s.flow), i.sent[s.flow]
	out, r := i.domain.Encapsulate(n.out.buffer[:0], &i.packet, &q, &i.record, v.egress.MTU)
	n.out.set(out)
	if r.Action != ioam.Inserted {
		n.refused(NotInserted, whyIOAM[r.Why])
		n.queueReport(v, frame)
		return
	}
	n.count(Inserted)
	n.countIf(r.Records == 0 && i.option != wireioam.TypeDEX, InsertedEmpty)
	if i.option != wireioam.TypeDEX {
		n.queueReport(v, frame)
		return
	}
	if len(i.sent) >= int(n.config.Events.Flows) {
		clear(i.sent) // numbers of a flow may begin again, as those of a flow that went quiet
	}
	i.sent[s.flow]++
	if n.events(v, 0, n.latency(v)) != 0 {
		keep := p.Payload + len(out) - len(p.Frame)
		n.tell(v, telemetry.Tracked|telemetry.Instructed, out, keep, s.metadata, 0)
	}
}

// ioamInside is for a packet inside an IOAM domain, or that leaves it; false if it has no IOAM.
func (n *Node) ioamInside(v *visit) bool {
	i, p := n.ioam, &v.packet
	o, ok := i.find(p.Frame)
	if !ok {
		return false
	}
	i.measure(v, i.packet.HopLimit)
	direct := i.option == wireioam.TypeDEX
	if direct {
		i.exported, _, _ = i.domain.Export(i.exported[:0], &i.packet, &i.record)
		if n.events(v, 0, n.latency(v)) != 0 {
			n.tell(v, telemetry.Tracked|telemetry.Instructed, p.Frame, p.Payload, traceMetadata(o.DEX.TraceType), 0)
		}
	}
	switch {
	case v.edge:
		out, _ := i.domain.Decapsulate(n.out.buffer[:0], &i.packet)
		n.out.set(out)
		n.count(Stripped)
		if !direct {
			n.ioamReport(v, &o)
		}
	case !direct:
		out, r := i.domain.Transit(n.out.buffer[:0], &i.packet, &i.record, v.egress.MTU)
		n.out.set(out)
		switch {
		case r.Records > 0:
			n.count(Pushed)
		case r.SetO:
			n.refused(MarkedHopLimit, whyIOAM[r.Why])
		default:
			n.refused(NotPushed, whyIOAM[r.Why])
		}
		if v.queue.Reason != 0 {
			n.spare, _ = i.domain.Decapsulate(n.spare[:0], &i.packet)
			n.queueReport(v, n.spare)
		}
	}
	return true
}

// ioamReport reports the trace of a packet that leaves, and what this node adds to it.
func (n *Node) ioamReport(v *visit, o *ioam.Option) {
	i, p := n.ioam, &v.packet
	path, latency := tracePath(o)
	if n.events(v, path, latency+n.latency(v)) == 0 {
		return
	}
	const flags = telemetry.Tracked | telemetry.Embedded
	own := traceMetadata(o.Trace.Type)
	switch n.form {
	case separate:
		n.tell(v, flags, p.Frame, p.Payload, mdIngressTS, 0)
		n.tell(v, telemetry.Tracked, n.out.Frame, p.Payload-(len(p.Frame)-len(n.out.Frame)), own|mdIngressTS, 0)
		return
	case inStack:
		out, r := i.domain.Transit(n.spare[:0], &i.packet, &i.record, 0)
		n.spare = out
		if r.Records > 0 {
			n.tell(v, flags, out, p.Payload+r.Grown, 0, 0)
			return
		}
	}
	n.tell(v, flags, p.Frame, p.Payload, own, 0)
}

// tracePath returns a hash of the nodes and ports in a trace, and the sum of the delays that are known.
func tracePath(o *ioam.Option) (path, latency uint64) {
	nodes, err := o.Nodes()
	if err != nil {
		return 0, 0
	}
	for m := (wireioam.Node{}); nodes.Next(&m); {
		path = fold(path, uint64(m.NodeID)<<32|uint64(m.IngressIf)<<16|uint64(m.EgressIf))
		if (m.Has&^m.Unavailable)&wireioam.BitTransitDelay != 0 && m.TransitDelay < wireioam.TransitDelayOverflow {
			latency += uint64(m.TransitDelay)
		}
	}
	return path, latency
}

// ioamFlags says what a report of a dropped packet holds of IOAM.
func (n *Node) ioamFlags(frame []byte) telemetry.Flags {
	if n.ioam == nil {
		return 0
	}
	o, ok := n.ioam.find(frame)
	switch {
	case !ok:
		return 0
	case o.IsTrace():
		return telemetry.Tracked | telemetry.Embedded
	}
	return telemetry.Tracked | telemetry.Instructed
}
