package flowsample

import (
	"bytes"
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
)

var from = netip.MustParseAddrPort("10.0.0.9:4000")

func points(nodes map[netip.Addr]uint32) *codepoint.Config {
	c := codepoint.New()
	c.SourceNodes = nodes
	c.Compile()
	return c
}

// decode returns what a decoder makes of a datagram.
func decode(s *SFlow, payload []byte) (telemetry.Header, []telemetry.Report) {
	h, batch := decodeBatch(s, payload)
	return h, batch.Reports
}

func decodeBatch(s *SFlow, payload []byte) (telemetry.Header, *telemetry.Batch) {
	var h telemetry.Header
	batch := new(telemetry.Batch)
	s.Decode(payload, from, 6343, batch, &h)
	return h, batch
}

// What agents of others sent is read as those who published it say.
func TestSFlowVectors(t *testing.T) {
	s := NewSFlow(points(map[netip.Addr]uint32{netip.MustParseAddr("172.16.0.17"): 7}))
	h, reports := decode(s, unhex(t, flowSample))
	if h.Outcome != telemetry.Decoded || h.Version != telemetry.VersionSFlow || h.Sequence != 426 || h.Domain != 1 ||
		!h.HasNodeID || h.NodeID != 7 || len(reports) != 1 || h.Reports != 1 {
		t.Fatalf("got %+v, %d reports", h, len(reports))
	}
	r := &reports[0]
	if got := r.Flow.String(); got != "172.16.32.254:0 > 172.16.32.241:0 icmp" || r.TTL != 124 || r.Bytes != 60 {
		t.Errorf("got %s, TTL %d, %d bytes", got, r.TTL, r.Bytes)
	}
	want := telemetry.Observed{Packets: 1, Bytes: 60, Rate: 2048, Leaving: true}
	if r.Observed != want || !r.Is(telemetry.Sampled) || r.Is(telemetry.Tracked|telemetry.Dropped) {
		t.Errorf("got %+v, flags %x, want %+v", r.Observed, r.Flags, want)
	}
	if l := r.Local; l.NodeID != 7 || l.IngressPort != 1194 || l.EgressPort != 1043 {
		t.Errorf("got %+v", l)
	}

	h, reports = decode(s, unhex(t, expandedSample))
	if h.Outcome != telemetry.Decoded || h.HasNodeID || h.Sequence != 262632130 || len(reports) != 1 {
		t.Fatalf("got %+v, %d reports", h, len(reports))
	}
	r = &reports[0]
	if got := r.Flow.String(); got != "185.59.220.147:443 > 88.238.78.19:53206 tcp" || r.Bytes != 1492 ||
		r.Observed.Rate != 16383 || r.Local.IngressPort != 1000100 || r.Local.EgressPort != 1000018 {
		t.Errorf("got %s, %d bytes, %+v, %+v", got, r.Bytes, r.Observed, r.Local)
	}
}

// Counters of ports are read as those who published them say, and as sFlow version 5 has them.
func TestSFlowCounters(t *testing.T) {
	const none, noOctets = telemetry.UnknownCount, telemetry.UnknownOctets
	nodes := map[netip.Addr]uint32{
		netip.MustParseAddr("10.1.248.22"): 7, netip.MustParseAddr("127.0.0.1"): 7, netip.MustParseAddr("10.0.0.3"): 7,
	}
	for name, c := range map[string]struct {
		text string
		want telemetry.CounterSample
	}{
		"a switch": {switchCounters, telemetry.CounterSample{
			Node: 7, Port: 0x20a, Agent: netip.MustParseAddr("10.1.248.22"), SubAgent: 17, Sequence: 0x20f2,
			UptimeMs: 0x4049c6cd, Speed: 10e9, AdminUp: true, OperUp: true,
			In: telemetry.PortCounts{
				Octets: 0x129826db06c0b, Unicast: 0xcb0ddd96, Multicast: 0x6a8c6, Broadcast: 0x7b,
			},
			Out: telemetry.PortCounts{
				Octets: 0x340235587c9e, Unicast: 0x56642571, Multicast: 0x705ac4, Broadcast: 0x908f1,
			},
		}},
		"Open vSwitch": {ovsCounters, telemetry.CounterSample{
			Node: 7, Port: 14, Agent: netip.MustParseAddr("127.0.0.1"), Sequence: 0x5be0,
			UptimeMs: 0xe04d248, Speed: 10e9, AdminUp: true, OperUp: true,
			In:  telemetry.PortCounts{Octets: 0x4749, Unicast: 0xb5, Broadcast: none},
			Out: telemetry.PortCounts{Octets: 0x8a0b, Unicast: 0x1d2, Multicast: none, Broadcast: none},
		}},
		"expanded": {expandedCounters, telemetry.CounterSample{
			Node: 7, Port: 0x64000001, Agent: netip.MustParseAddr("10.0.0.3"), Sequence: 9, UptimeMs: 120_000,
			Speed: 100e9, AdminUp: true,
			In: telemetry.PortCounts{
				Octets: 1<<32 + 2, Unicast: 3, Multicast: 4, Broadcast: 5, Discards: 6, Errors: 7,
			},
			Out: telemetry.PortCounts{
				Octets: 9<<32 + 0x10, Unicast: 0x11, Multicast: 0x12, Broadcast: 0x13, Discards: 0x14, Errors: 0x15,
			},
		}},
	} {
		payload := unhex(t, c.text)
		s := NewSFlow(points(nodes))
		h, batch := decodeBatch(s, payload)
		if h.Outcome != telemetry.Decoded || h.Reports != 0 || len(batch.Reports) != 0 ||
			len(batch.Counters) != 1 || batch.Counters[0] != c.want || s.Counts()[PortCounters] != 1 {
			t.Errorf("%s: %v, %v,\n got %+v,\nwant %+v", name, h.Outcome, h.Reason, batch.Counters, c.want)
		}
		if batch.Reset(); len(batch.Counters) != 0 {
			t.Errorf("%s: a batch that is reset has counters", name)
		}
		// of a device that nobody knows
		s = NewSFlow(points(nil))
		if _, batch = decodeBatch(s, payload); len(batch.Counters) != 0 || s.Counts()[NoNode] != 1 {
			t.Errorf("%s: got %+v without a node, %v", name, batch.Counters, s.Counts())
		}
		// of the sender, where the agent is not known
		s = NewSFlow(points(map[netip.Addr]uint32{from.Addr(): 8}))
		if _, batch = decodeBatch(s, payload); len(batch.Counters) != 1 || batch.Counters[0].Node != 8 {
			t.Errorf("%s: got %+v, want node 8", name, batch.Counters)
		}
		for n := range payload {
			s = NewSFlow(points(nodes))
			if h, batch = decodeBatch(s, payload[:n]); h.Outcome == telemetry.Decoded || len(batch.Counters) != 0 {
				t.Fatalf("%s: %d of %d bytes are decoded", name, n, len(payload))
			}
		}
	}

	// Neither a speed nor octets of all ones are any. Counters of a VLAN, and those of another port than the sample is
	// of, are of no port.
	s := NewSFlow(points(nodes))
	unknown := bytes.Clone(unhex(t, ovsCounters))
	at := len(unknown) - 88
	for i := at + 8; i < at+16; i++ {
		unknown[i] = 0xff // ifSpeed
	}
	for i := at + 24; i < at+32; i++ {
		unknown[i] = 0xff // ifInOctets
	}
	if _, batch := decodeBatch(s, unknown); batch.Counters[0].Speed != 0 || batch.Counters[0].In.Octets != noOctets {
		t.Errorf("got %+v", batch.Counters)
	}
	vlan := bytes.Clone(unhex(t, expandedCounters))
	vlan[28+8+4+3] = 1 // source_id_type: a VLAN
	other := bytes.Clone(unhex(t, switchCounters))
	other[28+8+7] = 9 // source_id
	for _, payload := range [][]byte{vlan, other} {
		if _, batch := decodeBatch(s, payload); len(batch.Counters) != 0 {
			t.Errorf("got %+v", batch.Counters)
		}
	}
	if counts := s.Counts(); counts[Counters] != 2 || counts[PortCounters] != 1 {
		t.Errorf("got %v", counts)
	}
}

// frame returns an Ethernet frame with UDP in it.
func frame(t testing.TB, size int) []byte {
	b := gopacket.NewSerializeBuffer()
	ip := &layers.IPv4{
		Version: 4, TTL: 63, Protocol: layers.IPProtocolUDP, SrcIP: []byte{10, 0, 1, 1}, DstIP: []byte{10, 0, 2, 2},
	}
	udp := &layers.UDP{SrcPort: 5001, DstPort: 6001}
	_ = udp.SetNetworkLayerForChecksum(ip)
	err := gopacket.SerializeLayers(b, gopacket.SerializeOptions{FixLengths: true, ComputeChecksums: true},
		&layers.Ethernet{
			SrcMAC: []byte{2, 0, 0, 0, 0, 1}, DstMAC: []byte{2, 0, 0, 0, 0, 2}, EthernetType: layers.EthernetTypeIPv4,
		},
		ip, udp, gopacket.Payload(make([]byte, size)))
	if err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// Every sample is in a report or in a counter, whatever is in the datagram; gopacket reads the same samples in it.
func TestSFlowConservation(t *testing.T) {
	agent := &test.SFlowAgent{Address: netip.MustParseAddr("2001:db8::1"), SubAgent: 3}
	s := NewSFlow(points(map[netip.Addr]uint32{agent.Address: 2}))
	packet := frame(t, 300)
	arp := append([]byte{2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 6}, make([]byte, 46)...)
	list := [][]byte{
		agent.Sample(5, 100, 1000, 0, 5, 6, packet),
		agent.Sample(6, 100, 1000, 7, 5, 6, packet), // counted as it leaves by 6; 7 of before are of before
		agent.Sample(6, 100, 2000, 9, 5, 6, packet),
		agent.Sample(5, 100, 2000, 0, 5, 0x3fffffff, arp),
		agent.Discard(5, 0, 5, 0, 259, packet),
		agent.Discard(5, 4, 5, 0, 7, arp),
		agent.Counters(5, test.SFlowCounts{}, test.SFlowCounts{Octets: 1e10}),
		append([]byte{0, 0, 0x10, 1, 0, 0, 0, 8}, make([]byte, 8)...), // of an enterprise
	}
	payload := agent.Datagram(list...)
	h, reports := decode(s, payload)
	if h.Outcome != telemetry.Decoded || h.Reports != 5 || len(reports) != 5 || h.NodeID != 2 || h.HWID != 3 {
		t.Fatalf("got %+v", h)
	}
	want := map[Outcome]uint64{
		Sample: 3, NoFlow: 1, Discard: 2, PortCounters: 1, UnknownKind: 1, SamplesNotSent: 2, DiscardsNotSent: 4,
		NoPacket: 0, Unreadable: 0,
	}
	counts := s.Counts()
	for o, n := range want {
		if counts[o] != n {
			t.Errorf("%v: %d, want %d", o, counts[o], n)
		}
	}
	var sum uint64
	for o := range SamplesNotSent {
		sum += counts[o]
	}
	if sum != uint64(len(list)) {
		t.Errorf("%d samples are somewhere, %d were sent", sum, len(list))
	}
	if reports[0].Observed.Leaving || !reports[1].Observed.Leaving {
		t.Error("interface 5 sampled what came in, and 6 what left")
	}
	full := &reports[3]
	if full.Local.Has&telemetry.HasEgressPort != 0 || full.Local.IngressPort != 5 || !full.Is(telemetry.Dropped) ||
		full.Is(telemetry.Sampled) || full.DropReasons.Name(full.Local.DropReason) != "no_buffer_space" {
		t.Errorf("got %+v, %s", full.Local, full.DropReasons.Name(full.Local.DropReason))
	}
	if r := &reports[4]; r.Is(telemetry.HasFlow) || r.DropReasons.Name(r.Local.DropReason) != "dst_host_unknown" {
		t.Errorf("got %+v", r)
	}

	// Without what gopacket does not know, it reads the same.
	payload = agent.Datagram(list[0], list[1], list[3], list[6])
	read := gopacket.NewPacket(payload, layers.LayerTypeSFlow, gopacket.Default)
	d, ok := read.Layer(layers.LayerTypeSFlow).(*layers.SFlowDatagram)
	if !ok || len(d.FlowSamples) != 3 || len(d.CounterSamples) != 1 || d.FlowSamples[1].Dropped != 7 ||
		d.SubAgentID != 3 || !bytes.Equal(d.AgentAddress, agent.Address.AsSlice()) {
		t.Errorf("gopacket: %+v, %v", d, read.ErrorLayer())
	}
}

// What nobody can send in earnest costs no memory, and is told.
func TestSFlowHostile(t *testing.T) {
	agent := &test.SFlowAgent{Address: netip.MustParseAddr("10.0.0.1")}
	sample := agent.Sample(5, 100, 1000, 0, 5, 6, frame(t, 20))
	many := bytes.Clone(sample)
	binary.BigEndian.PutUint32(many[8+28:], 1<<31)
	expanded := append([]byte{0, 0, 0, 3, 0, 0, 0, 44}, make([]byte, 44)...)
	binary.BigEndian.PutUint32(expanded[8+40:], 1<<32-1)
	for name, c := range map[string]struct {
		payload []byte
		reason  wire.Error
		reports int
	}{
		"too many records":  {agent.Datagram(many, sample), wire.ErrSampleRecord, 1},
		"expanded":          {agent.Datagram(expanded, sample), wire.ErrSampleRecord, 1},
		"longer than it is": {agent.Datagram(sample, sample[:len(sample)-4]), wire.ErrSampleRecord, 1},
		"version 4":         {append([]byte{0, 0, 0, 4}, make([]byte, 40)...), wire.ErrSampleHeader, 0},
		"no address":        {append([]byte{0, 0, 0, 5, 0, 0, 0, 9}, make([]byte, 40)...), wire.ErrSampleHeader, 0},
		"nothing":           {nil, wire.ErrSampleHeader, 0},
	} {
		s := NewSFlow(points(nil))
		h, reports := decode(s, c.payload)
		wanted := telemetry.Damaged
		if c.reason == wire.ErrSampleHeader {
			wanted = telemetry.Malformed
		}
		if h.Outcome != wanted || h.Reason != c.reason || len(reports) != c.reports {
			t.Errorf("%s: %v, %v, %d reports", name, h.Outcome, h.Reason, len(reports))
		}
	}
	whole := agent.Datagram(sample, sample)
	s := NewSFlow(points(nil))
	for n := range whole {
		if h, _ := decode(s, whole[:n]); h.Outcome == telemetry.Decoded {
			t.Fatalf("%d of %d bytes are decoded", n, len(whole))
		}
	}
}

// FuzzSFlow looks for bytes that stop the decoder, and for reports and counters of ports that it does not count.
func FuzzSFlow(f *testing.F) {
	agent := &test.SFlowAgent{Address: netip.MustParseAddr("10.0.0.1")}
	packet := frame(f, 40)
	f.Add(unhex(f, flowSample))
	f.Add(unhex(f, expandedSample))
	f.Add(unhex(f, switchCounters))
	f.Add(unhex(f, ovsCounters))
	f.Add(unhex(f, expandedCounters))
	f.Add(agent.Datagram(agent.Sample(5, 100, 1000, 0, 5, 6, packet), agent.Discard(5, 0, 5, 0, 259, packet),
		agent.Counters(5, test.SFlowCounts{Octets: 77}, test.SFlowCounts{})))
	f.Fuzz(func(t *testing.T, payload []byte) {
		s := NewSFlow(points(map[netip.Addr]uint32{from.Addr(): 1}))
		h, batch := decodeBatch(s, payload)
		counts, reports := s.Counts(), batch.Reports
		if n := counts[PortCounters]; n != uint64(len(batch.Counters)) {
			t.Errorf("%d samples of counters, %d in the batch", n, len(batch.Counters))
		}
		if n := counts[Sample] + counts[Discard]; n != uint64(len(reports)) || h.Reports != len(reports) {
			t.Errorf("%d samples and drops, %d reports, the header says %d", n, len(reports), h.Reports)
		}
	})
}
