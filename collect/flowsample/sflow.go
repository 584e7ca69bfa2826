package flowsample

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/netip"

	"github.com/netsampler/goflow2/v2/decoders/sflow"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/report"
)

// Protocols of the headers of a sampled packet (enum header_protocol).
const (
	headerEthernet = 1
	headerIPv4     = 11
	headerIPv6     = 12
)

const (
	maxRecords = 1024 // of a sample: the library makes room for as many as the sample says that it has
	maxSources = 4096 // of samples, whose counters of what they did not send are followed
)

// An SFlow decodes sFlow datagrams of version 5. One goroutine calls Decode.
type SFlow struct {
	Stats
	reports *telemetry.Decoder
	unsent  map[dataSource]uint32 // what each counted last
}

// A dataSource is what counts samples at an agent: an interface, mostly.
type dataSource struct {
	agent     netip.Addr
	sub       uint32
	kind, id  uint32
	discarded bool
}

// NewSFlow returns a decoder that takes the nodes of agents, and the code points of what sampled packets carry, from
// config, which must be compiled.
func NewSFlow(config *codepoint.Config) *SFlow {
	return &SFlow{reports: telemetry.NewDecoder(config), unsent: map[dataSource]uint32{}}
}

// Use has the decoder go on with another configuration.
func (s *SFlow) Use(config *codepoint.Config) { s.reports.Use(config) }

// A datagramHeader is what stands in front of the samples.
type datagramHeader struct {
	agent         netip.Addr
	sub, sequence uint32
	uptime        uint32 // of the agent, in milliseconds
	samples       uint32
}

// readHeader reads the header, and returns what is behind it.
func readHeader(b []byte) (h datagramHeader, rest []byte, ok bool) {
	if len(b) < 8 || binary.BigEndian.Uint32(b) != 5 {
		return h, nil, false
	}
	length := 0
	switch binary.BigEndian.Uint32(b[4:]) {
	case 1:
		length = 4
	case 2:
		length = 16
	}
	if b = b[8:]; length == 0 || len(b) < length+16 {
		return h, nil, false
	}
	h.agent, _ = netip.AddrFromSlice(b[:length])
	b = b[length:]
	h.sub, h.sequence = binary.BigEndian.Uint32(b), binary.BigEndian.Uint32(b[4:])
	h.uptime, h.samples = binary.BigEndian.Uint32(b[8:]), binary.BigEndian.Uint32(b[12:])
	return h, b[16:], true
}

// Decode appends the reports in a datagram to batch, and fills h, as telemetry.Decoder.Decode does. The node is that
// which source_nodes has for the address of the agent, or else for that of the sender.
func (s *SFlow) Decode(payload []byte, src netip.AddrPort, dstPort uint16, batch *telemetry.Batch,
	h *telemetry.Header,
) {
	s.reports.BeginObservations(payload, src, dstPort, batch, h)
	before, broke := len(batch.Reports), verdict{}
	header, rest, ok := readHeader(payload)
	if !ok {
		h.Outcome, h.Reason = telemetry.Malformed, wire.ErrSampleHeader
		return
	}
	h.Version, h.Dialect = telemetry.VersionSFlow, "sflow5"
	h.HWID, h.Domain, h.Sequence, h.HasSequence = uint8(header.sub), header.sub, header.sequence, true
	if h.NodeID, h.HasNodeID = s.reports.NodeOf(header.agent); !h.HasNodeID {
		h.NodeID, h.HasNodeID = s.reports.NodeOf(src.Addr())
	}
	read := uint32(0)
	for ; read < header.samples && len(rest) >= 8; read++ {
		kind, length := binary.BigEndian.Uint32(rest), binary.BigEndian.Uint32(rest[4:])
		if uint64(length) > uint64(len(rest)-8) {
			break
		}
		s.sample(&header, kind, rest[8:8+length:8+length], h, &broke)
		rest = rest[8+length:]
	}
	if read < header.samples { // nobody knows how many there were: the count may be what is wrong
		s.add(Unreadable, 1)
		broke.note(wire.ErrSampleRecord)
	}
	h.Reports, h.Reason = len(batch.Reports)-before, broke.reason
	if h.Reason != 0 {
		h.Outcome = telemetry.Damaged
	}
}

// recordCounts are where samples say how many records they have, by kind; 0: no kind.
var recordCounts = [...]int{
	sflow.SAMPLE_FORMAT_FLOW: 28, sflow.SAMPLE_FORMAT_COUNTER: 8, sflow.SAMPLE_FORMAT_EXPANDED_FLOW: 40,
	sflow.SAMPLE_FORMAT_EXPANDED_COUNTER: 12, sflow.SAMPLE_FORMAT_DROP: 28, sflow.SAMPLE_FORMAT_DROP + 1: 0,
}

// sample takes one sample of a datagram.
func (s *SFlow) sample(d *datagramHeader, kind uint32, b []byte, h *telemetry.Header, broke *verdict) {
	at := recordCounts[min(kind, sflow.SAMPLE_FORMAT_DROP+1)]
	if at == 0 {
		s.add(UnknownKind, 1)
		return
	}
	if len(b) < at+4 || binary.BigEndian.Uint32(b[at:]) > maxRecords {
		s.add(Unreadable, 1)
		broke.note(wire.ErrSampleRecord)
		return
	}
	header := sflow.SampleHeader{Format: kind, Length: uint32(len(b))}
	sample, err := sflow.DecodeSample(&header, bytes.NewBuffer(b))
	if err != nil {
		s.add(Unreadable, 1)
		broke.note(wire.ErrSampleRecord)
		return
	}
	source := dataSource{d.agent, d.sub, header.SourceIdType, header.SourceIdValue, kind == sflow.SAMPLE_FORMAT_DROP}
	o := telemetry.Observation{Observed: telemetry.Observed{Packets: 1}}
	switch x := sample.(type) {
	case sflow.FlowSample:
		o.Rate = x.SamplingRate
		ports(&o.Local, x.Input>>30, x.Input&portMask, x.Output>>30, x.Output&portMask)
		s.notSent(source, x.Drops, SamplesNotSent)
		s.observe(&o, x.Records, source, h)
	case sflow.ExpandedFlowSample:
		o.Rate = x.SamplingRate
		ports(&o.Local, x.InputIfFormat, x.InputIfValue, x.OutputIfFormat, x.OutputIfValue)
		s.notSent(source, x.Drops, SamplesNotSent)
		s.observe(&o, x.Records, source, h)
	case sflow.DropSample:
		ports(&o.Local, x.Input>>30, x.Input&portMask, x.Output>>30, x.Output&portMask)
		o.Dropped, o.Reasons, o.Local.DropReason = true, "sflow", report.SFlowReason(x.Reason)
		s.notSent(source, x.Drops, DiscardsNotSent)
		s.observe(&o, x.Records, source, h)
	case sflow.CounterSample:
		s.add(s.counters(d, &header, x.Records, h), 1)
	}
}

// counters notes what a device counts at a port. The record of a port is that which has the interface that the sample
// is of: some devices tell beside it, in records of the same kind, of services that use the port, with numbers of
// their own (SR OS does).
func (s *SFlow) counters(d *datagramHeader, of *sflow.SampleHeader, records []sflow.CounterRecord,
	h *telemetry.Header,
) Outcome {
	for i := range records {
		c, ok := records[i].Data.(sflow.IfCounters)
		if !ok || of.SourceIdType != 0 || c.IfIndex != of.SourceIdValue {
			continue
		}
		sample := telemetry.CounterSample{
			Port: c.IfIndex, Agent: d.agent, SubAgent: d.sub, Sequence: of.SampleSequenceNumber, UptimeMs: d.uptime,
			Speed: c.IfSpeed, AdminUp: c.IfStatus&1 != 0, OperUp: c.IfStatus&2 != 0,
			In: telemetry.PortCounts{
				Octets: c.IfInOctets, Unicast: c.IfInUcastPkts, Multicast: c.IfInMulticastPkts,
				Broadcast: c.IfInBroadcastPkts, Discards: c.IfInDiscards, Errors: c.IfInErrors,
			},
			Out: telemetry.PortCounts{
				Octets: c.IfOutOctets, Unicast: c.IfOutUcastPkts, Multicast: c.IfOutMulticastPkts,
				Broadcast: c.IfOutBroadcastPkts, Discards: c.IfOutDiscards, Errors: c.IfOutErrors,
			},
		}
		if sample.Speed == math.MaxUint64 {
			sample.Speed = 0 // as counters that the device does not have
		}
		if s.reports.ObserveCounters(&sample, h) {
			return PortCounters
		}
		return NoNode
	}
	return Counters
}

// portMask is the number of an interface beside its format. All ones say that it is not known, or the device itself.
const portMask = 1<<30 - 1

// ports notes the interfaces of a packet. Other formats than 0 are no interface: a reason why there is none, or how
// many there are.
func ports(h *telemetry.Hop, inFormat, in, outFormat, out uint32) {
	if inFormat == 0 && in != 0 && in != portMask {
		h.Has |= telemetry.HasIngressPort
		h.IngressPort = in
	}
	if outFormat == 0 && out != 0 && out != portMask {
		h.Has |= telemetry.HasEgressPort
		h.EgressPort = out
	}
}

// notSent counts what a data source says, in a counter that goes on, that it did not send.
func (s *SFlow) notSent(source dataSource, total uint32, kind Outcome) {
	last, known := s.unsent[source]
	const late = 1 << 10
	switch {
	case known && last-total < late: // as before, or of a datagram that others overtook
		return
	case known && total-last < 1<<31: // else it began anew
		s.add(kind, uint64(total-last))
	case !known && len(s.unsent) >= maxSources:
		clear(s.unsent)
	}
	s.unsent[source] = total
}

// observe makes a report of the packet of a sample.
func (s *SFlow) observe(o *telemetry.Observation, records []sflow.FlowRecord, from dataSource, h *telemetry.Header) {
	o.Leaving = o.Local.Has&telemetry.HasEgressPort != 0 && o.Local.EgressPort == from.id &&
		!(o.Local.Has&telemetry.HasIngressPort != 0 && o.Local.IngressPort == from.id)
	outcome := NoPacket
	for i := range records {
		raw, ok := records[i].Data.(sflow.SampledHeader)
		if !ok {
			continue
		}
		switch raw.Protocol {
		case headerEthernet:
			o.InType = report.InEthernet
		case headerIPv4:
			o.InType = report.InIPv4
		case headerIPv6:
			o.InType = report.InIPv6
		default:
			outcome = UnknownKind
			continue
		}
		o.Packet = raw.HeaderData[:min(uint64(raw.OriginalLength), uint64(len(raw.HeaderData)))]
		o.Observed.Bytes = uint64(raw.FrameLength)
		outcome = NoFlow
		break
	}
	if (o.Packet != nil || o.Dropped) && s.reports.Observe(o, h) {
		outcome = Sample
		if o.Dropped {
			outcome = Discard
		}
	}
	s.add(outcome, 1)
}
