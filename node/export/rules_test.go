package export

import (
	"bytes"
	"encoding/binary"
	"math"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/report"
)

// The tests of this file are one for each rule about reports, in the order of the specifications.

var formats = []Format{TR05, TR10, TR20, TransparentSecurity}

// Own metadata in a report: the bits of the INT instructions but node id and checksum complement, those that are not
// available cleared, the drop reason only for a dropped packet, no source-only metadata (INT 2.1 §5.8).
func TestR060OwnMetadataInTheReport(t *testing.T) {
	m := inband.Metadata{
		Has: inband.NodeID | inband.L1Ingress | inband.L1Egress | inband.HopLatency | inband.IngressTS |
			inband.Complement,
		Invalid: inband.HopLatency, NodeID: 7, L1Ingress: 1, L1Egress: 2, HopLatency: math.MaxUint32, IngressTS: 99,
	}
	got := FromInband(0xFFFF, &m)
	if want := report.MDInterfaces | report.MDIngressTS; got.Bits != want {
		t.Errorf("bits: got %#04x, want %#04x", got.Bits, want)
	}
	if got.IngressPort != 1 || got.EgressPort != 2 || got.IngressTS != 99 {
		t.Errorf("values: got %+v", got)
	}
	if got := FromInband(0x8000|0x0001, &m); got.Bits != 0 {
		t.Errorf("node id and complement: got bits %#04x, want none", got.Bits)
	}
	m.Has &^= inband.L1Egress // dropped before it had one
	if got := FromInband(0x4000, &m); got.Bits != report.MDInterfaces || got.IngressPort != 1 || got.EgressPort != 0 {
		t.Errorf("unknown egress port: got %+v, want ports 1 and 0", got)
	}

	domain := codepoint.Domain{0: {Bytes: 8, SourceOnly: true}, 3: {Bytes: 4}}
	if got := DSMdBits(&domain, 0xFFFF, false); got != 0x1000 {
		t.Errorf("DSMdBits: got %#04x, want 0x1000", got)
	}
	if got := DSMdBits(&domain, 0xFFFF, true); got != 0x9000 {
		t.Errorf("DSMdBits with the source's: got %#04x, want 0x9000", got)
	}

	for _, dropped := range []telemetry.Flags{0, telemetry.Dropped} {
		r := newRig(t, config(TR20))
		v := r.only(
			r.one(Report{Flags: dropped, Metadata: report.Metadata{Bits: 0xFFFF, DropReason: 5, Invalid: 0x3FFE}}))
		want := report.MDInterfaces
		if dropped != 0 {
			want |= report.MDDrop
		}
		if v.RepMdBits != want {
			t.Errorf("flags %#x: got RepMdBits %#04x, want %#04x", dropped, v.RepMdBits, want)
		}
	}
}

// The source address identifies the node (TR 2.0 §3.1).
func TestR063SourceAddressIdentifiesTheNode(t *testing.T) {
	for _, f := range formats {
		c := config(f)
		r := newRig(t, c)
		p := newPacket(1, false, 2, 10)
		d := parseFrame(t, r.AppendFrame(nil, new(r.one(p.report(report.InEthernet)))))
		if d.src.Addr() != c.Source || d.dst != c.Destinations[0] {
			t.Errorf("%s: got from %s to %s, want from %s to %s", f, d.src, d.dst, c.Source, c.Destinations[0])
		}
	}
	for _, source := range []string{"0.0.0.0", "224.0.0.1", "::", "::ffff:192.0.2.1"} {
		c := config(TR20)
		c.Source = netip.MustParseAddr(source)
		if _, err := New(c, func(*Datagram) {}); err == nil {
			t.Errorf("source %s: got no error", source)
		}
	}
}

// IPv4: DF is set, or the identification does not repeat for the same source, destination and protocol within the
// lifetime of a datagram (TR 2.0 §3.1).
func TestR064DontFragmentOrIdentificationsThatDoNotRepeat(t *testing.T) {
	p := newPacket(1, false, 0, 10)
	about := p.report(report.InEthernet)
	r := newRig(t, config(TR20))
	if d := r.one(about); !d.DF || d.IPID != 0 {
		t.Errorf("DF: got %+v", d)
	}

	c := config(TR20)
	c.DontFragment, c.Destinations = false, collectors(3)
	last := make([]map[uint16]uint64, 3) // when an identification was used last, by destination
	for i := range last {
		last[i] = map[uint16]uint64{}
	}
	now, rolling, forced := uint64(0), 0, 0
	e, err := New(c, func(d *Datagram) {
		if d.DF {
			forced++
			return
		}
		rolling++
		if before, ok := last[d.Destination][d.IPID]; ok && now-before < datagramLifetimeNs {
			t.Fatalf("destination %d, identification %d: used again after %d ns", d.Destination, d.IPID, now-before)
		}
		last[d.Destination][d.IPID] = now
	})
	if err != nil {
		t.Fatal(err)
	}
	// Slow, much too fast, slow again.
	for _, phase := range []struct{ datagrams, stepNs uint64 }{{200000, 1e6}, {800000, 1e4}, {300000, 1e6}} {
		for range phase.datagrams {
			about.Flow++
			if err := e.Add(&about, now); err != nil {
				t.Fatal(err)
			}
			now += phase.stepNs
		}
	}
	if forced == 0 || rolling < 5*65536 || e.Stats().ForcedDF != uint64(forced) {
		t.Errorf("got %d identifications, %d datagrams with DF instead (%d counted)", rolling, forced,
			e.Stats().ForcedDF)
	}
}

// The UDP source port carries entropy, or is 0 or configured (TR 2.0 §3.1.1).
func TestR065SourcePort(t *testing.T) {
	p := newPacket(1, false, 0, 10)
	about := p.report(report.InEthernet)
	for _, f := range formats {
		r := newRig(t, config(f))
		if d := r.one(about); d.SourcePort != 0 {
			t.Errorf("%s: got source port %d, want 0", f, d.SourcePort)
		}
	}
	c := config(TR20)
	c.SourcePort = 5555
	if d := newRig(t, c).one(about); d.SourcePort != 5555 {
		t.Errorf("configured: got source port %d, want 5555", d.SourcePort)
	}
	for _, f := range []Format{TR05, TR10, TR20} {
		c := config(f)
		c.EntropyPort = true
		r := newRig(t, c)
		ports := map[uint16]bool{}
		for flow := range uint64(1000) {
			about.Flow = flow
			first, again := r.one(about).SourcePort, r.one(about).SourcePort
			if first != again || first < 49152 {
				t.Fatalf("%s, flow %d: got source ports %d and %d", f, flow, first, again)
			}
			ports[first] = true
		}
		if len(ports) < 950 {
			t.Errorf("%s: got %d source ports for 1000 flows", f, len(ports))
		}
	}
}

// The destination port is configurable and the same for all reports (TR 2.0 §3.1.1).
func TestR066DestinationPort(t *testing.T) {
	c := config(TR20)
	c.Destinations = collectors(2)
	c.Destinations[1] = netip.AddrPortFrom(c.Destinations[1].Addr(), 1)
	if _, err := New(c, func(*Datagram) {}); err == nil {
		t.Error("two ports: got no error")
	}
	p := newPacket(1, false, 0, 10)
	for _, port := range []uint16{8555, 32766, 1} {
		c := config(TR20)
		c.Destinations = []netip.AddrPort{netip.AddrPortFrom(c.Destinations[0].Addr(), port)}
		r := newRig(t, c)
		d := r.one(p.report(report.InEthernet))
		frame := r.AppendFrame(nil, &d)
		if got := binary.BigEndian.Uint16(frame[14+20+2:]); got != port {
			t.Errorf("got port %d, want %d", got, port)
		}
	}
}

// There is one sequence for each node, hardware subsystem and destination (TR 2.0 §3.2).
func TestR067SequencePerSubsystemAndDestination(t *testing.T) {
	p := newPacket(1, false, 0, 10)
	about := p.report(report.InEthernet)
	for _, f := range formats {
		c := config(f)
		c.Destinations = collectors(3)
		r := newRig(t, c)
		next := map[[2]int]uint32{}
		for i := range uint64(3000) {
			about.Flow, about.HWID = i, uint8(i%7*9)
			d := r.one(about)
			key := [2]int{d.Destination, int(d.HWID)}
			_, h := decode(t, c, d)
			if h.Sequence != next[key] || d.Sequence != next[key] || h.HWID != about.HWID {
				t.Fatalf("%s, %v: got sequence %d of hw_id %d, want %d of %d", f, key, h.Sequence, h.HWID, next[key],
					about.HWID)
			}
			next[key]++
		}
		if len(next) != 21 {
			t.Errorf("%s: got %d sequences, want 21", f, len(next))
		}
	}
}

// The sequence number counts every datagram, in 32 bits and from TR 2.0 on in 22 (TR 1.0 §3.2, TR 2.0 §3.2).
func TestR068SequenceWidth(t *testing.T) {
	p := newPacket(1, false, 0, 10)
	about := p.report(report.InEthernet)
	c := config(TR20) // a datagram of several reports is one
	c.CoalesceNs = 1000
	next := uint32(0)
	e, err := New(c, func(d *Datagram) {
		if d.Reports < 2 || d.Sequence != next {
			t.Errorf("got sequence %d of %d reports, want %d", d.Sequence, d.Reports, next)
		}
		next++
	})
	if err != nil {
		t.Fatal(err)
	}
	for now := range uint64(15) {
		if err := e.Add(&about, 500*now); err != nil {
			t.Fatal(err)
		}
	}
	for f, last := range map[Format]uint32{
		TR05: 1<<32 - 1, TR10: 1<<32 - 1, TR20: 1<<22 - 1,
		TransparentSecurity: 1<<22 - 1,
	} {
		c := config(f)
		r := newRig(t, c)
		r.one(about)
		r.pendings[0].sequence = last
		for _, want := range []uint32{last, 0, 1} {
			d := r.one(about)
			if _, h := decode(t, c, d); h.Sequence != want || d.Sequence != want {
				t.Errorf("%s: got sequence %d, want %d", f, h.Sequence, want)
			}
		}
	}
}

// D, Q and F say what is true, in any combination (TR 2.0 §3.3).
func TestR069Flags(t *testing.T) {
	p := newPacket(1, false, 0, 10)
	about := p.report(report.InEthernet)
	for _, f := range formats {
		c := config(f)
		r := newRig(t, c)
		for want := range telemetry.Flags(8) { // Dropped, Congested, Tracked
			about.Flags = want
			reports, _ := decode(t, c, r.one(about))
			if got := reports[0].Flags & (telemetry.Dropped | telemetry.Congested | telemetry.Tracked); got != want {
				t.Errorf("%s: got flags %03b, want %03b", f, got, want)
			}
		}
	}
}

// F is set if the fragment has embedded telemetry, and clear if it has none and matched no flow watchlist (TR 2.0
// §3.4).
func TestR070TrackedFlow(t *testing.T) {
	for flags, want := range map[telemetry.Flags]bool{
		0: false, telemetry.Dropped: false, telemetry.Congested: false, telemetry.Tracked: true,
		telemetry.Embedded: true, telemetry.Instructed: true,
	} {
		p := newPacket(1, false, 0, 10)
		if flags == telemetry.Embedded {
			p = newPacket(1, false, 2, 10)
		}
		for _, f := range formats {
			c := config(f)
			about := p.report(report.InEthernet)
			about.Flags = flags
			reports, _ := decode(t, c, newRig(t, c).one(about))
			if got := reports[0].Is(telemetry.Tracked); got != want {
				t.Errorf("%s, flags %#x: got F %v, want %v", f, flags, got, want)
			}
			if f != TransparentSecurity && len(reports[0].Hops) != len(p.hops) {
				t.Errorf("%s, flags %#x: got %d hops, want %d", f, flags, len(reports[0].Hops), len(p.hops))
			}
		}
	}
}

// I is set in intermediate reports of INT-MD only (TR 2.0 §3.3).
func TestR071IntermediateReport(t *testing.T) {
	for flags, want := range map[telemetry.Flags]bool{
		telemetry.Intermediate | telemetry.Embedded: true, telemetry.Embedded: false,
		telemetry.Intermediate | telemetry.Instructed: false, telemetry.Intermediate: false, 0: false,
	} {
		for _, f := range formats {
			p := newPacket(1, false, 2, 10)
			c := config(f)
			about := p.report(report.InEthernet)
			about.Flags = flags
			reports, _ := decode(t, c, newRig(t, c).one(about))
			if got := reports[0].Is(telemetry.Intermediate); got != (want && f == TR20) {
				t.Errorf("%s, flags %#x: got I %v", f, flags, got)
			}
		}
	}
}

var testDomains = map[uint16]*codepoint.Domain{
	0x1234: {0: {Bytes: 8, SourceOnly: true}, 2: {Bytes: 4}, 5: {Bytes: 12}},
}

// RepMdBits, DSMdBits and MD Length agree (TR 2.0 §3.3.1).
func TestR072BitmapsAndLengthAgree(t *testing.T) {
	c := config(TR20)
	c.Domains = testDomains
	for _, tc := range []struct {
		bits, dsBits uint16
		ds           int
		err          error
	}{
		{0, 0, 0, nil},
		{report.MDInterfaces, 0, 0, nil},
		{report.MDInterfaces | report.MDIngressTS, 0x2000, 4, nil},
		{0, 0x2400, 16, nil},
		{report.MDBuffer, 0xA400, 24, nil},
		{0, 0x2000, 8, ErrDomainMetadata},
		{0, 0x2000, 0, ErrDomainMetadata},
		{0, 0, 4, ErrDomainMetadata},
		{0, 0x1000, 4, ErrDomainMetadata}, // the domain has no such bit
	} {
		r := newRig(t, c)
		about := Report{
			Metadata: report.Metadata{Bits: tc.bits}, DomainID: 0x1234, DSMdBits: tc.dsBits,
			DSMetadata: make([]byte, tc.ds),
		}
		if tc.err != nil {
			if err := r.Add(&about, 0); err != tc.err || r.Stats().Refused[ErrDomainMetadata] != 1 {
				t.Errorf("%+v: got %v", tc, err)
			}
			continue
		}
		v := r.only(r.one(about))
		if words := report.MDWords(v.RepMdBits) + len(v.DSMetadata)/4; v.RepMdBits != tc.bits ||
			v.DSMdBits != tc.dsBits || int(v.MDLength) != words || len(v.DSMetadata) != tc.ds {
			t.Errorf("%+v: got %+v", tc, v)
		}
	}
}

// A report of Inner Only has an MD Length of 0 (TR 2.0 §3.3).
func TestR073InnerOnly(t *testing.T) {
	p := newPacket(1, false, 2, 10)
	r := newRig(t, config(TR20))
	v := r.only(r.one(p.report(report.InIPv4)))
	if v.RepType != report.RepInnerOnly || v.MDLength != 0 || v.InType != report.InIPv4 {
		t.Errorf("got %+v, want Inner Only", v)
	}
	v = r.only(r.one(Report{Flags: telemetry.Congested}))
	if v.RepType != report.RepInnerOnly || v.MDLength != 0 || v.InType != report.InNone || v.ReportLength != 0 {
		t.Errorf("nothing but a flag: got %+v", v)
	}
}

// Coalesced reports are from one node and hardware subsystem to one destination (TR 2.0 §2.7).
func TestR074CoalescedReportsBelongTogether(t *testing.T) {
	c := config(TR20)
	c.CoalesceNs, c.Destinations = 1000, collectors(2)
	r := newRig(t, c)
	for i := range uint64(200) {
		about := Report{
			Flow: i, HWID: uint8(i % 3),
			Metadata: report.Metadata{Bits: report.MDHopLatency, HopLatency: uint32(i)},
		}
		if err := r.Add(&about, 0); err != nil {
			t.Fatal(err)
		}
	}
	r.Drain(0)
	reports := 0
	for _, d := range r.sent.Datagrams() {
		decoded, h := decode(t, c, d)
		for i := range decoded {
			n := decoded[i].Local.LatencyNs
			if want := r.Destination(n); h.NodeID != nodeID || uint64(h.HWID) != n%3 || d.Destination != want {
				t.Errorf("report %d: got node %#x, hw_id %d, destination %d", n, h.NodeID, h.HWID, d.Destination)
			}
			reports++
		}
	}
	if reports != 200 || len(r.sent.Datagrams()) != 6 {
		t.Errorf("got %d reports in %d datagrams, want 200 in 6", reports, len(r.sent.Datagrams()))
	}
}

// A report does not wait for longer than configured, and the datagram stays within the MTU.
func TestR075CoalescingIsBounded(t *testing.T) {
	c := config(TR20)
	c.CoalesceNs, c.MTU = 1000, 300
	now, added := uint64(0), map[uint32]uint64{}
	e, err := New(c, func(d *Datagram) {
		if total := 20 + 8 + len(d.Payload); total > c.MTU {
			t.Errorf("got an IP packet of %d bytes, want at most %d", total, c.MTU)
		}
		reports, _ := decode(t, c, *d)
		for i := range reports {
			if waited := now - added[uint32(reports[i].Local.LatencyNs)]; waited > c.CoalesceNs {
				t.Errorf("got a report that waited for %d ns, want at most %d", waited, c.CoalesceNs)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	for i := range uint32(1000) {
		next := now + uint64(i*i%1500)
		for at, ok := e.Deadline(); ok && at <= next; at, ok = e.Deadline() {
			now = at
			e.Flush(now)
			if again, ok := e.Deadline(); ok && again <= at {
				t.Fatalf("at its deadline, %d, a report was not sent", at)
			}
		}
		now = next
		p := newPacket(1, false, 0, int(i%200))
		about := p.report(report.InEthernet)
		about.HWID = uint8(i % 2)
		about.Metadata = report.Metadata{Bits: report.MDHopLatency, HopLatency: i}
		added[i] = now
		if err := e.Add(&about, now); err != nil {
			t.Fatal(err)
		}
	}
	if s := e.Stats(); s.Datagrams < 300 || s.Datagrams > 990 {
		t.Errorf("got %d datagrams of 1000 reports: the test shows nothing", s.Datagrams)
	}
	if _, ok := e.Deadline(); !ok {
		t.Error("got no deadline while reports wait")
	}
	e.Drain(now)
	if at, ok := e.Deadline(); ok {
		t.Errorf("got deadline %d after Drain", at)
	}
}

// The metadata of an unknown domain are left out, and MD Length with them (TR 2.0 §3.3.1).
func TestR076UnknownDomain(t *testing.T) {
	c := config(TR20)
	c.Domains = testDomains
	r := newRig(t, c)
	v := r.only(r.one(Report{
		Metadata: report.Metadata{Bits: report.MDHopLatency, HopLatency: 5},
		DomainID: 0x4321, DSMdBits: 0x8000, DSMdStatus: 3, DSMetadata: make([]byte, 8),
	}))
	if v.DomainID != 0x4321 || v.DSMdBits != 0 || v.DSMdStatus != 0 || v.MDLength != 1 || v.DSMetadata != nil ||
		v.Metadata.HopLatency != 5 {
		t.Errorf("got %+v", v)
	}
}

// Values that are not available are left out, not sent as all ones (TR 2.0 §3.3.1).
func TestR077UnavailableValuesAreLeftOut(t *testing.T) {
	all := report.Metadata{
		Bits: sendable | 0x807E, IngressPort: 1, EgressPort: 2, HopLatency: 3, QueueID: 4, QueueOccupancy: 5,
		EgressTS:  7,
		L2Ingress: 8, L2Egress: 9, TxUtil: 10, BufferID: 11, BufferOccupancy: 12, DropQueueID: 13, DropReason: 14,
	}
	ones := all
	ones.IngressPort, ones.EgressPort, ones.HopLatency = math.MaxUint16, math.MaxUint16, math.MaxUint32
	ones.QueueID, ones.QueueOccupancy, ones.EgressTS = math.MaxUint8, math.MaxUint32, math.MaxUint64
	ones.L2Ingress, ones.L2Egress, ones.TxUtil = math.MaxUint32, math.MaxUint32, math.MaxUint32
	ones.BufferID, ones.BufferOccupancy = math.MaxUint8, 1<<24
	for name, tc := range map[string]struct {
		metadata report.Metadata
		want     uint16
	}{
		"all there": {all, sendable},
		"invalid": {
			with(all, func(m *report.Metadata) { m.Invalid = report.MDQueue | report.MDL2Interfaces }),
			sendable &^ (report.MDQueue | report.MDL2Interfaces),
		},
		"all ones": {ones, report.MDIngressTS | report.MDDrop},
		"half of them": {
			with(ones, func(m *report.Metadata) { m.IngressPort, m.QueueID, m.L2Egress = 0, 0, 0 }),
			report.MDInterfaces | report.MDQueue | report.MDIngressTS | report.MDL2Interfaces | report.MDDrop,
		},
		"not asked for": {with(all, func(m *report.Metadata) { m.Bits = report.MDTxUtil }), report.MDTxUtil},
	} {
		r := newRig(t, config(TR20))
		v := r.only(r.one(Report{Flags: telemetry.Dropped, IngressTS: 6, Metadata: tc.metadata}))
		if v.RepMdBits != tc.want || v.Metadata.Invalid != 0 {
			t.Errorf("%s: got RepMdBits %#04x, want %#04x", name, v.RepMdBits, tc.want)
		}
	}
}

func with(m report.Metadata, change func(*report.Metadata)) report.Metadata {
	change(&m)
	return m
}

// Two reports of a node about the same packet have the same ingress timestamp (TR 2.0 §3.4).
func TestR078OneIngressTimestampForAPacket(t *testing.T) {
	const ingress = 0x1_2345_6789_ABCD
	for _, f := range formats {
		c := config(f)
		r := newRig(t, c)
		p := newPacket(1, false, 2, 10)
		flow := p.report(report.InEthernet)
		flow.IngressTS, flow.Metadata.Bits = ingress, report.MDIngressTS
		own := flow
		// another one
		own.Metadata = report.Metadata{Bits: report.MDIngressTS | report.MDHopLatency, HopLatency: 1, IngressTS: 99}
		first, _ := decode(t, c, r.one(flow))
		second, _ := decode(t, c, r.one(own))
		want := uint64(ingress)
		if f == TR05 || f == TR10 {
			want &= math.MaxUint32
		}
		if first[0].ReportNs != want || second[0].ReportNs != want {
			t.Errorf("%s: got ingress timestamps %#x and %#x, want %#x", f, first[0].ReportNs, second[0].ReportNs, want)
		}
	}
}

// The fragment begins with the header that NProt or InType names (TR 1.0 §3.2, TR 2.0 §3.3).
func TestR079FragmentBeginsAsItSays(t *testing.T) {
	v4, v6 := newPacket(1, false, 0, 10), newPacket(1, true, 0, 10)
	ok := map[Format][]uint8{
		TR05: {report.InEthernet}, TR10: {report.InEthernet, report.InIPv4, report.InIPv6},
		TR20:                {report.InEthernet, report.InIPv4, report.InIPv6},
		TransparentSecurity: {report.InEthernet, report.InIPv4, report.InIPv6},
	}
	for f, kinds := range ok {
		c := config(f)
		for kind := range uint8(16) {
			p := v4
			if kind == report.InIPv6 {
				p = v6
			}
			about := p.report(kind)
			if kind == report.InEthernet {
				about.Fragment = p.frame
			}
			r := newRig(t, c)
			err := r.Add(&about, 0)
			if !bytes.Contains(kinds, []byte{kind}) {
				if err != ErrFragmentKind {
					t.Errorf("%s, kind %d: got %v, want %v", f, kind, err, ErrFragmentKind)
				}
				continue
			}
			if err != nil {
				t.Fatalf("%s, kind %d: %v", f, kind, err)
			}
			reports, _ := decode(t, c, r.sent.Datagrams()[0])
			if !reports[0].Is(telemetry.HasFlow) || reports[0].Flow != p.flow {
				t.Errorf("%s, kind %d: got flow %s, want %s", f, kind, &reports[0].Flow, &p.flow)
			}
		}
	}
	for _, wrong := range []Report{
		v4.report(report.InIPv6), v6.report(report.InIPv4),
		{Kind: report.InEthernet, Fragment: make([]byte, 13)},
		{Kind: report.InIPv4, Fragment: v4.frame[14:33]},
		{Kind: report.InIPv6, Fragment: v6.frame[14:53]},
	} {
		r := newRig(t, config(TR20))
		if err := r.Add(&wrong, 0); err != ErrFragmentStart || r.Stats().Refused[ErrFragmentStart] != 1 {
			t.Errorf("kind %d: got %v, want %v", wrong.Kind, err, ErrFragmentStart)
		}
	}
}

// Transparent Security: at most 200 bytes, domain 0x5453, DSMdBits and DSMdstatus 0, source port 0, and another port
// than that of INT.
func TestR080TransparentSecurity(t *testing.T) {
	c := config(TransparentSecurity)
	c.Destinations[0] = netip.AddrPortFrom(c.Destinations[0].Addr(), 8555)
	c.Domains = codepoint.Default().Domains
	for _, source := range []string{"192.0.2.1", "2001:db8::1"} {
		c.Source = netip.MustParseAddr(source)
		if c.Source.Is6() {
			c.Destinations = []netip.AddrPort{netip.MustParseAddrPort("[2001:db8::2]:8555")}
		}
		r := newRig(t, c)
		for _, payload := range []int{0, 1, 40, 1400} {
			p := newPacket(1, false, 3, payload)
			about := p.report(report.InIPv4)
			about.DomainID, about.DSMdBits, about.DSMdStatus, about.DSMetadata = 0x5453, 0x8000, 0x4000, make([]byte, 8)
			if payload == 1 {
				about.DomainID = 7 // of the packet
			}
			d := r.one(about)
			v := r.only(d)
			if v.RepType != report.RepINT || v.DomainID != 0x5453 || v.DSMdBits != 0 || v.DSMdStatus != 0 ||
				d.SourcePort != 0 || v.I {
				t.Errorf("got %+v from port %d", v, d.SourcePort)
			}
			if size := len(r.AppendFrame(nil, &d)) - 14; size > 200 {
				t.Errorf("from %s, payload %d: got an IP packet of %d bytes", source, payload, size)
			}
			reports, _ := decode(t, c, d)
			if reports[0].Flow != p.flow || len(reports[0].Hops) != 3 {
				t.Errorf("from %s, payload %d: got flow %s with %d hops", source, payload, &reports[0].Flow,
					len(reports[0].Hops))
			}
		}
		if s := r.Stats(); s.Cut != 1 || s.CutShort != 0 {
			t.Errorf("from %s: got %+v, want one fragment cut, behind its stack", source, s)
		}
	}
	entropy := c
	c.INTPort, entropy.EntropyPort = 8555, true
	for _, bad := range []Config{c, entropy} {
		if _, err := New(bad, func(*Datagram) {}); err == nil {
			t.Errorf("the port of INT, or a source port: got no error of %+v", bad)
		}
	}
}

// Data of the source in an INT-MX packet are reported in the fragment, or copied, with their bit in DSMdBits (INT 2.1
// §5.9).
func TestR081DataOfTheSource(t *testing.T) {
	c := config(TR20)
	c.Domains = testDomains
	device := binary.BigEndian.AppendUint64(nil, 0xA61AF6B1647D0000)
	p := newPacket(1, false, -1, 10)
	p.flags |= telemetry.Tracked
	copied := p.report(report.InEthernet)
	copied.DomainID, copied.DSMdBits, copied.DSMetadata = 0x1234, DSMdBits(testDomains[0x1234], 0x8000, true), device
	inFragment := p.report(report.InEthernet)
	inFragment.DomainID, inFragment.DSMdBits = 0x1234, DSMdBits(testDomains[0x1234], 0x8000, false)
	r := newRig(t, c)
	if v := r.only(r.one(copied)); v.DSMdBits != 0x8000 || !bytes.Equal(v.DSMetadata, device) || v.MDLength != 2 ||
		!v.F {
		t.Errorf("copied: got %+v", v)
	}
	if v := r.only(r.one(inFragment)); v.DSMdBits != 0 || v.DSMetadata != nil || v.MDLength != 0 ||
		v.DomainID != 0x1234 {
		t.Errorf("in the fragment: got %+v", v)
	}
	reports, _ := decode(t, c, r.one(inFragment))
	if !reports[0].Is(telemetry.Instructed) {
		t.Errorf("got flags %#x, want the instructions of INT-MX", reports[0].Flags)
	}
}
