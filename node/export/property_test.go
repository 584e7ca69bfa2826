package export

import (
	"bytes"
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/report"
)

// A put is what was given to the Exporter, and when.
type put struct {
	report   Report
	original original
	atNs     uint64
}

// A checker takes datagrams, decodes them and compares them with what was put in, in order.
type checker struct {
	t       *testing.T
	config  Config
	decoder *telemetry.Decoder
	now     uint64
	waiting map[[2]int][]put  // by destination and hw_id
	next    map[[2]int]uint32 // sequence numbers
	home    map[uint64]int    // destinations of flows
	ids     map[[2]int]bool   // destination and IPv4 identification
	frame   func([]byte, *Datagram) []byte
	reports int
}

func (c *checker) take(d *Datagram) {
	key := [2]int{d.Destination, int(d.HWID)}
	frame := parseFrame(c.t, c.frame(nil, d))
	if !bytes.Equal(frame.payload, d.Payload) || frame.src.Addr() != c.config.Source ||
		frame.dst != c.config.Destinations[d.Destination] {
		c.t.Fatalf("got a frame from %s to %s", frame.src, frame.dst)
	}
	overhead := 28
	if c.config.Source.Is6() {
		overhead = 48
	}
	if overhead+len(d.Payload) > c.config.MTU {
		c.t.Fatalf("got %d bytes, MTU %d", overhead+len(d.Payload), c.config.MTU)
	}
	if id := [2]int{d.Destination, int(d.IPID)}; !d.DF {
		if c.ids[id] {
			c.t.Fatalf("identification %v twice", id)
		}
		c.ids[id] = true
	}

	var b telemetry.Batch
	var h telemetry.Header
	c.decoder.Decode(d.Payload, netip.AddrPortFrom(c.config.Source, d.SourcePort), frame.dst.Port(), &b, &h)
	if h.Sequence != c.next[key] || h.HWID != d.HWID || h.HasNodeID && h.NodeID != c.config.NodeID ||
		d.Reports != len(b.Reports) {
		c.t.Fatalf("%v: got header %+v, want sequence %d and %d reports", key, h, c.next[key], d.Reports)
	}
	c.next[key] = (c.next[key] + 1) & c.config.Format.sequenceMask()
	var rs report.Reports
	if c.config.Format.groups() {
		rs.Reset(d.Payload[groupLen:])
	}
	for i := range b.Reports {
		in := c.waiting[key][0]
		c.waiting[key] = c.waiting[key][1:]
		if c.now-in.atNs > c.config.CoalesceNs {
			c.t.Fatalf("a report waited for %d ns", c.now-in.atNs)
		}
		if home, known := c.home[in.report.Flow]; known && home != d.Destination {
			c.t.Fatalf("flow %#x went to %d and %d", in.report.Flow, home, d.Destination)
		}
		c.home[in.report.Flow] = d.Destination
		wire := c.wire(d, &rs)
		c.compare(&in, &wire, &b.Reports[i])
		c.reports++
	}
	whole := h.Outcome == telemetry.Decoded
	if errors := countErrors(c.frame(nil, d), c); whole != (errors == 0) {
		c.t.Fatalf("outcome %d, reason %v, but %d errors in the dissection", h.Outcome, h.Reason, errors)
	}
}

func countErrors(frame []byte, c *checker) (n int) {
	for range dissect.Errors(dissect.Packet(frame, dissect.Ethernet, points(c.t))) {
		n++
	}
	return n
}

// A wireReport is a report of any version as its header says it.
type wireReport struct {
	d, q, f, i bool
	ingressTS  uint64
	metadata   report.Metadata // with the bits that are there
	domain     report.V20      // its domain specific fields
	kind       uint8
	fragment   []byte
}

// wire reads the next report of d with the wire types alone.
func (c *checker) wire(d *Datagram, rs *report.Reports) (w wireReport) {
	switch c.config.Format {
	case TR05:
		var v report.V05
		n, err := v.Decode(d.Payload)
		if err != nil {
			c.t.Fatal(err)
		}
		w = wireReport{
			d: v.D, q: v.Q, f: v.F, ingressTS: uint64(v.IngressTS), kind: report.InEthernet,
			fragment: d.Payload[n:],
		}
		switch v.NProto {
		case report.NProtoDrop:
			w.metadata = report.Metadata{
				Bits: report.MDDrop, IngressPort: v.Drop.IngressPort, EgressPort: v.Drop.EgressPort,
				DropQueueID: v.Drop.QueueID, DropReason: v.Drop.Reason,
			}
		case report.NProtoSwitchLocal:
			w.metadata = report.Metadata{
				Bits: local05, IngressPort: v.Local.IngressPort, EgressPort: v.Local.EgressPort,
				QueueID: v.Local.QueueID, QueueOccupancy: v.Local.QueueOccupancy, EgressTS: uint64(v.Local.EgressTS),
			}
		}
	case TR10:
		var v report.V10
		n, err := v.Decode(d.Payload)
		if err != nil || v.Extra != nil {
			c.t.Fatalf("%+v: %v", v, err)
		}
		kinds := [...]uint8{
			report.NProtEthernet: report.InEthernet, report.NProtIPv4: report.InIPv4,
			report.NProtIPv6: report.InIPv6,
		}
		w = wireReport{
			d: v.D, q: v.Q, f: v.F, ingressTS: uint64(v.IngressTS), metadata: v.Metadata,
			kind: kinds[v.NProt], fragment: d.Payload[n:],
		}
	default:
		var v report.V20
		if !rs.Next(&v) || rs.Err() != nil {
			c.t.Fatalf("%+v: %v", v, rs.Err())
		}
		w = wireReport{
			d: v.D, q: v.Q, f: v.F, i: v.I, ingressTS: v.Metadata.IngressTS, metadata: v.Metadata, domain: v,
			kind: v.InType, fragment: v.Inner,
		}
	}
	if w.metadata.Invalid != 0 {
		c.t.Fatalf("got values that are not available: %+v", w.metadata)
	}
	return w
}

// expected returns the metadata that a report may carry: written down field by field, without a look at how the
// Exporter does it.
func (c *checker) expected(r *Report) (m report.Metadata) {
	has := func(bit uint16, allOnes bool) bool {
		there := r.Metadata.Bits&^r.Metadata.Invalid&bit != 0 && !allOnes
		if there {
			m.Bits |= bit
		}
		return there
	}
	in := &r.Metadata
	v20 := c.config.Format.groups()
	if has(report.MDInterfaces, in.IngressPort == 0xFFFF && in.EgressPort == 0xFFFF) {
		m.IngressPort, m.EgressPort = in.IngressPort, in.EgressPort
	}
	if c.config.Format != TR05 && has(report.MDHopLatency, in.HopLatency == 0xFFFFFFFF) {
		m.HopLatency = in.HopLatency
	}
	if has(report.MDQueue, in.QueueID == 0xFF && in.QueueOccupancy >= 0xFFFFFF) {
		m.QueueID, m.QueueOccupancy = in.QueueID, min(in.QueueOccupancy, 0xFFFFFF)
	}
	if v20 && has(report.MDIngressTS, r.IngressTS == 1<<64-1) {
		m.IngressTS = r.IngressTS
	}
	switch {
	case v20 && has(report.MDEgressTS, in.EgressTS == 1<<64-1):
		m.EgressTS = in.EgressTS
	case c.config.Format == TR10 && has(report.MDEgressTS, uint32(in.EgressTS) == 1<<32-1),
		c.config.Format == TR05 && has(report.MDEgressTS, in.EgressTS == 1<<64-1):
		m.EgressTS = in.EgressTS & 0xFFFFFFFF
	}
	if v20 && has(report.MDL2Interfaces, in.L2Ingress == 0xFFFFFFFF && in.L2Egress == 0xFFFFFFFF) {
		m.L2Ingress, m.L2Egress = in.L2Ingress, in.L2Egress
	}
	if c.config.Format != TR05 && has(report.MDTxUtil, in.TxUtil == 0xFFFFFFFF) {
		m.TxUtil = in.TxUtil
	}
	if v20 && has(report.MDBuffer, in.BufferID == 0xFF && in.BufferOccupancy >= 0xFFFFFF) {
		m.BufferID, m.BufferOccupancy = in.BufferID, min(in.BufferOccupancy, 0xFFFFFF)
	}
	if r.is(telemetry.Dropped) && has(report.MDDrop, false) {
		m.DropQueueID, m.DropReason = in.DropQueueID, in.DropReason
	}
	if c.config.Format == TR05 { // one of two headers, or none
		switch {
		case m.Bits&report.MDDrop != 0:
			m = report.Metadata{
				Bits: report.MDDrop, IngressPort: m.IngressPort, EgressPort: m.EgressPort,
				DropQueueID: m.DropQueueID, DropReason: m.DropReason,
			}
		case m.Bits == local05:
		default:
			m = report.Metadata{}
		}
	}
	return m
}

func (c *checker) compare(in *put, w *wireReport, got *telemetry.Report) {
	r := &in.report
	tracked := r.is(telemetry.Tracked | telemetry.Embedded | telemetry.Instructed)
	intermediate := c.config.Format == TR20 && r.is(telemetry.Intermediate) && r.is(telemetry.Embedded)
	if w.d != r.is(telemetry.Dropped) || w.q != r.is(telemetry.Congested) || w.f != tracked || w.i != intermediate {
		c.t.Fatalf("flags: got %v %v %v %v, of %#x", w.d, w.q, w.f, w.i, r.Flags)
	}
	if want := c.expected(r); w.metadata != want {
		c.t.Fatalf("metadata:\ngot  %+v\nwant %+v\nof   %+v", w.metadata, want, r.Metadata)
	}
	if !c.config.Format.groups() && w.ingressTS != r.IngressTS&0xFFFFFFFF {
		c.t.Fatalf("ingress timestamp: got %#x, want the low half of %#x", w.ingressTS, r.IngressTS)
	}
	if c.config.Format == TR20 {
		known := c.config.Domains[r.DomainID] != nil
		if w.domain.DomainID != r.DomainID ||
			known != (w.domain.DSMdBits == r.DSMdBits && w.domain.DSMdStatus == r.DSMdStatus &&
				bytes.Equal(w.domain.DSMetadata, r.DSMetadata)) && r.DSMdBits != 0 {
			c.t.Fatalf("domain: got %#x %#x %#x %x, of %+v", w.domain.DomainID, w.domain.DSMdBits, w.domain.DSMdStatus,
				w.domain.DSMetadata, r)
		}
	}
	if len(r.Fragment) == 0 {
		if len(w.fragment) != 0 {
			c.t.Fatalf("fragment: got %x, want none", w.fragment)
		}
		return
	}
	fragment := w.fragment[:len(w.fragment)-report.FragmentPadding(w.fragment, w.kind)]
	if w.kind != r.Kind || !bytes.HasPrefix(r.Fragment, fragment) {
		c.t.Fatalf("fragment: got kind %d, %x, want kind %d, %x", w.kind, fragment, r.Kind, r.Fragment)
	}
	if len(fragment) < len(r.Fragment) && len(fragment)%4 != 0 {
		c.t.Fatalf("fragment: cut at %d of %d bytes", len(fragment), len(r.Fragment))
	}
	c.compareDecoded(in, len(fragment), got)
}

// compareDecoded compares what a collector sees of a fragment of which n bytes are left.
func (c *checker) compareDecoded(in *put, n int, got *telemetry.Report) {
	r := &in.report
	if n < r.Keep {
		return // the stack is cut, and what a collector can know of it is for its own tests
	}
	if !got.Is(telemetry.HasFlow) || got.Flow != in.original.flow {
		c.t.Fatalf("flow: got %s, want %s", &got.Flow, &in.original.flow)
	}
	if got.Flow.Hash() != r.Flow {
		c.t.Fatalf("flow hash: got %#x, want %#x", got.Flow.Hash(), r.Flow)
	}
	var nodes []uint32
	for _, hop := range got.Hops {
		nodes = append(nodes, hop.NodeID)
	}
	if len(nodes) != len(in.original.hops) {
		c.t.Fatalf("stack: got nodes %v, want %v", nodes, in.original.hops)
	}
	for i, node := range nodes {
		if node != in.original.hops[i] {
			c.t.Fatalf("stack: got nodes %v, want %v", nodes, in.original.hops)
		}
	}
}

// randomPut makes a report that the format can say.
func randomPut(r *rand.Rand, c *Config) put {
	p := put{original: newPacket(r.Uint32N(1<<20), r.IntN(2) == 0, r.IntN(8)-1,
		[]int{0, 3, 50, 300, 990 + r.IntN(60), 1400}[r.IntN(6)])}
	kind := report.InEthernet
	if c.Format != TR05 && r.IntN(2) == 0 {
		kind = p.original.kind
	}
	about := p.original.report(kind)
	if c.Format.groups() && r.IntN(10) == 0 {
		about.Kind, about.Fragment, about.Keep = report.InNone, nil, 0
	}
	about.HWID = uint8(r.IntN(4)) * 21
	about.Flags = p.original.flags
	for _, f := range []telemetry.Flags{
		telemetry.Dropped, telemetry.Congested, telemetry.Tracked,
		telemetry.Intermediate,
	} {
		if r.IntN(2) == 0 {
			about.Flags |= f
		}
	}
	about.IngressTS = r.Uint64()
	about.Metadata = randomMetadata(r)
	if c.Format == TR20 {
		about.DomainID = []uint16{0, 0x1234, 0x9999}[r.IntN(3)]
		if d := testDomains[0x1234]; about.DomainID != 0 {
			about.DSMdBits = uint16(r.Uint32()) & 0xA400
			about.DSMdStatus = uint16(r.Uint32())
			about.DSMetadata = make([]byte, d.PerHopBytes(about.DSMdBits)+d.SourceOnlyBytes(about.DSMdBits))
		}
	}
	p.report = about
	return p
}

// Everything that is exported is what was put in, in every format, under any configuration.
func TestWhatIsDecodedIsWhatWasPutIn(t *testing.T) {
	for seed := range uint64(60) {
		r := rand.New(rand.NewPCG(seed, 1))
		c := config(formats[seed%4])
		c.Destinations = collectors(1 + r.IntN(4))
		c.DontFragment = r.IntN(2) == 0
		c.MTU = 200 + r.IntN(1400)
		c.Domains = testDomains
		c.Frame.Checksum = r.IntN(2) == 0
		c.Seed = r.Uint64()
		c.EntropyPort = c.Format != TransparentSecurity && r.IntN(2) == 0
		if r.IntN(3) == 0 {
			c.Truncate = 64 + r.IntN(400)
		}
		if c.Format.groups() && r.IntN(3) > 0 {
			c.CoalesceNs = 1 + r.Uint64N(20000)
		}
		if r.IntN(3) == 0 {
			c.Source = netip.MustParseAddr("2001:db8::1")
			for i := range c.Destinations {
				c.Destinations[i] = netip.AddrPortFrom(netip.AddrFrom16([16]byte{0x20, 1, 15: byte(i)}), 32766)
			}
		}
		check := &checker{
			t: t, config: c, decoder: telemetry.NewDecoder(points(t)),
			waiting: map[[2]int][]put{}, next: map[[2]int]uint32{}, home: map[uint64]int{}, ids: map[[2]int]bool{},
		}
		e, err := New(c, check.take)
		if err != nil {
			t.Fatal(err)
		}
		check.frame = e.AppendFrame
		added := 0
		for range 300 {
			next := check.now + r.Uint64N(2000)
			for at, ok := e.Deadline(); ok && at <= next; at, ok = e.Deadline() {
				check.now = at
				e.Flush(at)
			}
			check.now = next
			in := randomPut(r, &c)
			in.atNs = check.now
			key := [2]int{e.Destination(in.report.Flow), int(in.report.HWID)}
			check.waiting[key] = append(check.waiting[key], in)
			if err := e.Add(&in.report, check.now); err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			added++
		}
		e.Drain(check.now)
		s := e.Stats()
		if check.reports != added || s.Reports != uint64(added) {
			t.Errorf("seed %d: got %d reports of %d, counted %d", seed, check.reports, added, s.Reports)
		}
		if c.CoalesceNs == 0 && s.Datagrams != s.Reports {
			t.Errorf("seed %d: got %d datagrams of %d reports", seed, s.Datagrams, s.Reports)
		}
	}
}
