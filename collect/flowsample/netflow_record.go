package flowsample

import (
	"math"
	"net/netip"

	"github.com/netsampler/goflow2/v2/decoders/netflow"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/packet"
)

// number returns the value of a field of up to 8 bytes: exporters may leave out leading zeros (RFC 7011 §6.2).
func number(f *netflow.DataField) (v uint64, ok bool) {
	b, _ := f.Value.([]byte)
	for _, x := range b {
		v = v<<8 | uint64(x)
	}
	return v, len(b) <= 8
}

// A rateKey says what in a domain a sampling rate is of: a sampler or an interface. Its zero value is all of it.
type rateKey struct {
	of uint8
	id uint64
}

const (
	ofSampler   = 1
	ofInterface = 2 // as scopes of options call it (RFC 3954 §6.1)
)

// A sampling is what a record tells of how packets are chosen (RFC 7270, RFC 5477 §8.2).
type sampling struct {
	interval         uint64 // 1 in so many
	chosen, passed   uint64 // so many in a row, and then so many not
	size, population uint64 // so many at random, of so many
	key              rateKey
}

// take takes a field.
func (s *sampling) take(field uint16, v uint64) {
	switch field {
	case netflow.IPFIX_FIELD_samplingInterval, netflow.IPFIX_FIELD_samplerRandomInterval:
		s.interval = v
	case netflow.IPFIX_FIELD_samplingPacketInterval:
		s.chosen = v
	case netflow.IPFIX_FIELD_samplingPacketSpace:
		s.passed = v
	case netflow.IPFIX_FIELD_samplingSize:
		s.size = v
	case netflow.IPFIX_FIELD_samplingPopulation:
		s.population = v
	case netflow.IPFIX_FIELD_samplerId, netflow.IPFIX_FIELD_selectorId:
		s.key = rateKey{ofSampler, v}
	}
}

// rate returns 1 packet in how many is chosen; 0: that is not told.
func (s *sampling) rate() uint32 {
	n := s.interval
	switch {
	case max(s.interval, s.chosen, s.passed, s.size, s.population) > telemetry.MaxSampleRate:
		return 0
	case n != 0:
	case s.chosen != 0:
		n = (s.chosen + s.passed + s.chosen/2) / s.chosen
	case s.size != 0:
		n = (s.population + s.size/2) / s.size
	}
	return uint32(min(n, telemetry.MaxSampleRate))
}

// option takes a record that tells of the exporter.
func (d *domain) option(version uint16, scopes, fields []netflow.DataField) {
	d.owner.add(Options, 1)
	var s sampling
	for i := range scopes {
		v, ok := number(&scopes[i])
		switch field := scopes[i].Type; {
		case !ok:
		case version == 9 && field == ofInterface || version == 10 && field == netflow.IPFIX_FIELD_ingressInterface:
			if v != 0 {
				s.key = rateKey{ofInterface, v}
			}
		case version == 10:
			s.take(field, v)
		}
	}
	for i := range fields {
		v, ok := number(&fields[i])
		switch {
		case !ok || fields[i].PenProvided:
		case fields[i].Type == netflow.IPFIX_FIELD_systemInitTimeMilliseconds:
			d.bootMs = v
		default:
			s.take(fields[i].Type, v)
		}
	}
	rate := s.rate()
	if rate == 0 {
		return
	}
	if _, known := d.rates[s.key]; !known && len(d.rates) >= maxOfDomain {
		d.owner.add(NoRoom, 1)
		return
	}
	d.rates[s.key] = rate
}

// rate returns the sampling rate of a record which came in by a port: what it says itself, or what the options say of
// its sampler, or without a sampler of the port, and else of all, or of all that they tell of. 0: nobody knows.
func (d *domain) rate(s *sampling, port uint32) uint32 {
	if rate := s.rate(); rate != 0 {
		return rate
	}
	key := s.key
	if key.of != ofSampler {
		key = rateKey{ofInterface, uint64(port)}
	}
	if rate := d.rates[key]; rate != 0 {
		return rate
	}
	if key.of != ofSampler && len(d.rates) == 1 {
		for _, rate := range d.rates {
			return rate
		}
	}
	return d.rates[rateKey{}]
}

// A flowRecord is what is read of a record before it is known what it means.
type flowRecord struct {
	telemetry.Observation
	sampling
	key             telemetry.FlowKey
	src, dst        bool
	packets, bytes  [2]uint64 // as they came in, and as they went out
	dropped, status uint64
}

// flow makes reports of a flow record: of its packets, and of those of them that were dropped.
func (n *NetFlow) flow(d *domain, m *message, values []netflow.DataField, h *telemetry.Header) {
	var r flowRecord
	for i := range values {
		if !values[i].PenProvided {
			r.take(&values[i], d, m)
		}
	}
	if r.key.Protocol != packet.ProtoTCP && r.key.Protocol != packet.ProtoUDP && r.key.Protocol != packet.ProtoSCTP {
		r.key.SrcPort, r.key.DstPort = 0, 0 // of ICMP, NetFlow has type and code there
	}
	if r.src && r.dst {
		r.Flow = &r.key
	}
	r.Packets, r.Bytes = r.packets[0], r.bytes[0]
	if r.Packets == 0 {
		r.Packets, r.Bytes = r.packets[1], r.bytes[1]
	}
	const isDropped = 2 // in the first two of 8 bits
	if reason := uint8(r.status); reason>>6 == isDropped {
		r.Local.DropReason = reason
		if r.dropped == 0 {
			r.dropped = r.Packets
		}
	} else {
		r.Local.DropReason = isDropped << 6 // unknown
	}
	outcome := NoCounts
	if r.Packets > 0 {
		outcome = NoFlow
		r.Rate = d.rate(&r.sampling, r.Local.IngressPort)
		if r.Flow != nil && n.reports.Observe(&r.Observation, h) {
			outcome = Sample
		}
	}
	if outcome == Sample || r.dropped == 0 {
		n.add(outcome, 1)
	}
	if r.dropped > 0 { // without a flow, too: the place is known
		r.Dropped, r.Drops, r.Reasons = true, r.dropped, "netflow"
		n.reports.Observe(&r.Observation, h)
		n.add(Discard, 1)
	}
}

// take takes a field.
func (r *flowRecord) take(f *netflow.DataField, d *domain, m *message) {
	switch f.Type {
	case netflow.IPFIX_FIELD_sourceIPv4Address, netflow.IPFIX_FIELD_sourceIPv6Address:
		r.src = address(f, &r.key.Src) || r.src
		return
	case netflow.IPFIX_FIELD_destinationIPv4Address, netflow.IPFIX_FIELD_destinationIPv6Address:
		r.dst = address(f, &r.key.Dst) || r.dst
		return
	}
	v, ok := number(f)
	if !ok {
		return
	}
	ageMs := func(thenMs uint64) uint32 { return age(m.timeMs, thenMs) }
	switch f.Type {
	case netflow.IPFIX_FIELD_sourceTransportPort:
		r.key.SrcPort = uint16(v)
	case netflow.IPFIX_FIELD_destinationTransportPort:
		r.key.DstPort = uint16(v)
	case netflow.IPFIX_FIELD_protocolIdentifier:
		r.key.Protocol = uint8(v)
	case netflow.IPFIX_FIELD_ipClassOfService:
		r.DSCP = uint8(v) >> 2
	case netflow.IPFIX_FIELD_minimumTTL, netflow.IPFIX_FIELD_ipTTL:
		r.Local.TTL = uint8(v)
	case netflow.IPFIX_FIELD_ingressInterface:
		ports(&r.Local, 0, uint32(v), 0, 0)
	case netflow.IPFIX_FIELD_egressInterface:
		ports(&r.Local, 0, 0, 0, uint32(v))
	case netflow.IPFIX_FIELD_flowDirection:
		r.Leaving = v == 1
	case netflow.IPFIX_FIELD_packetDeltaCount:
		r.packets[0] = v
	case netflow.IPFIX_FIELD_octetDeltaCount:
		r.bytes[0] = v
	case netflow.IPFIX_FIELD_postPacketDeltaCount:
		r.packets[1] = v
	case netflow.IPFIX_FIELD_postOctetDeltaCount:
		r.bytes[1] = v
	case netflow.IPFIX_FIELD_droppedPacketDeltaCount:
		r.dropped = v
	case netflow.IPFIX_FIELD_forwardingStatus:
		r.status = v
	case netflow.IPFIX_FIELD_flowStartSysUpTime:
		r.BeganMs = d.uptimeAge(m, v)
	case netflow.IPFIX_FIELD_flowEndSysUpTime:
		r.EndedMs = d.uptimeAge(m, v)
	case netflow.IPFIX_FIELD_flowStartSeconds:
		r.BeganMs = ageMs(v * 1000)
	case netflow.IPFIX_FIELD_flowEndSeconds:
		r.EndedMs = ageMs(v * 1000)
	case netflow.IPFIX_FIELD_flowStartMilliseconds:
		r.BeganMs = ageMs(v)
	case netflow.IPFIX_FIELD_flowEndMilliseconds:
		r.EndedMs = ageMs(v)
	case netflow.IPFIX_FIELD_flowStartMicroseconds, netflow.IPFIX_FIELD_flowStartNanoseconds:
		r.BeganMs = ageMs(ntpMs(v))
	case netflow.IPFIX_FIELD_flowEndMicroseconds, netflow.IPFIX_FIELD_flowEndNanoseconds:
		r.EndedMs = ageMs(ntpMs(v))
	default:
		r.sampling.take(f.Type, v)
	}
}

// address takes an address. It is false for one of IPv6 that is all zero: it stands beside one of IPv4.
func address(f *netflow.DataField, to *telemetry.Addr) bool {
	b, _ := f.Value.([]byte)
	a, ok := netip.AddrFromSlice(b)
	if !ok || a.Is6() && a.IsUnspecified() {
		return false
	}
	*to = telemetry.AddrFrom(a)
	return true
}

// age returns how long ago something was, in ms; 0 if that is not to be believed, or in the second of the export.
func age(nowMs, thenMs uint64) uint32 {
	if thenMs >= nowMs || nowMs-thenMs > telemetry.MaxObservedAge {
		return 0
	}
	return uint32(nowMs - thenMs)
}

// uptimeAge is age of a time of the clock that began with the device: NetFlow 9 has it in its header, and IPFIX when it
// began in the options.
func (d *domain) uptimeAge(m *message, v uint64) uint32 {
	switch {
	case m.version == 9:
		return age(m.uptimeMs, v)
	case d.bootMs != 0:
		return age(m.timeMs, d.bootMs+v)
	}
	return 0
}

// ntpMs returns the milliseconds since 1970 of seconds since 1900 in 32 bits, and a fraction in 32 bits (RFC 7011
// §6.1.9).
func ntpMs(v uint64) uint64 {
	const since1900 = 2208988800
	return uint64(uint32(v>>32)-since1900)*1000 + (v&math.MaxUint32)*1000>>32
}
