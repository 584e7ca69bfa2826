// Properties of whole paths:
//
//	TestPathRestoresPackets  random packets through random domains: what leaves the sink equals what entered the source,
//	                         checksums are right on every link, and every link shows exactly what was pushed (R-2, R-11,
//	
package embed

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/dissect"
	"github.com/waybill-int/waybill/wire/inband"
)

// A path is one packet on its way through the nodes of a domain.
type path struct {
	t      *testing.T
	r      *rand.Rand
	d      *Domain
	ins    Instruction
	cfg    *codepoint.Config
	before []byte             // as it entered the source
	pushed []*inband.Metadata // newest first
	ds     [][]byte
	e, m   bool
	sums   bool // checksums are kept right
	seen   map[string]int
}

func TestPathRestoresPackets(t *testing.T) {
	rounds := 20_000
	if testing.Short() {
		rounds = 1000
	}
	seen := map[string]int{}
	for seed := range uint64(rounds) {
		onePath(t, seed, seen)
		if t.Failed() {
			t.Fatalf("seed %d", seed)
		}
	}
	// The generators must not miss a carrier, a kind of packet or a version.
	for version, list := range carriers {
		for _, carrier := range list {
			if name := fmt.Sprintf("version %d carrier %d", version, carrier); seen[name] < rounds/500 {
				t.Errorf("%s: only %d packets with INT", name, seen[name])
			}
		}
	}
	for k := range packets.NumKinds {
		if name := "kind " + k.String(); seen[name] < rounds/500 {
			t.Errorf("%s: only %d packets with INT", name, seen[name])
		}
	}
}

func onePath(t *testing.T, seed uint64, seen map[string]int) {
	r := rand.New(rand.NewPCG(seed, 1))
	d := randomDomain(r)
	s := packets.Random(r)
	if d.Carrier == VXLANGPE && r.IntN(2) == 0 {
		s.Kind = packets.GPE
	}
	if d.Carrier == Geneve && r.IntN(2) == 0 {
		s.Kind = packets.Geneve
	}
	c := &path{t: t, r: r, d: d, ins: randomInstruction(r, d), sums: d.updates(), seen: seen}
	c.cfg = codepoint.New()
	c.cfg.Points = d.Points.Clone()
	if d.Dialect != nil {
		if err := c.cfg.Set("profile", d.Dialect.Name); err != nil {
			t.Fatal(err)
		}
	}
	c.cfg.Compile()
	frame := s.Frame(r)
	if wrong := badSums(frame); wrong != nil && !s.Fragment {
		t.Fatalf("test packet: %v", wrong)
	}
	frame = c.source(frame)
	if frame == nil {
		return
	}
	seen[fmt.Sprintf("version %d carrier %d", d.Version, d.Carrier)]++
	seen["kind "+s.Kind.String()]++
	c.link(frame)
	for range r.IntN(6) {
		frame = c.transit(frame)
		c.link(frame)
	}
	c.sink(frame)
}

func (c *path) parse(frame []byte) *Packet {
	c.t.Helper()
	p := new(Packet)
	if err := c.d.Parse(frame, p); err != nil {
		c.t.Fatalf("Parse: %v\n%x", err, frame)
	}
	return p
}

// mtu is now and then too small for the next record.
func (c *path) mtu(p *Packet) int {
	if c.r.IntN(4) != 0 {
		return 0
	}
	return p.TotalLength + c.r.IntN(100)
}

// source inserts INT; nil if the packet can have none.
func (c *path) source(frame []byte) []byte {
	p := c.parse(frame)
	clean, rewritten := c.d.CleanMark(nil, p)
	if rewritten {
		frame = clean
		p = c.parse(frame)
	}
	c.before = bytes.Clone(frame)
	var own *inband.Metadata
	if c.r.IntN(4) != 0 {
		own = randomMetadata(c.r)
	}
	prefix := packets.Bytes(c.r, c.r.IntN(20))
	out, r := c.d.Insert(prefix, p, c.ins, own, c.mtu(p))
	if !bytes.Equal(frame, c.before) || !bytes.Equal(out[:len(prefix)], prefix) {
		c.t.Fatal("Insert changed what it may not")
	}
	out = out[len(prefix):]
	if len(out) != len(frame)+r.Added {
		c.t.Fatalf("Insert: %d bytes became %d, Result says %+v", len(frame), len(out), r)
	}
	if r.Action != Inserted {
		if !bytes.Equal(out, frame) {
			c.t.Fatalf("Insert: %+v, but the frame has changed", r)
		}
		return nil
	}
	if r.Record {
		c.add(own, c.ins.DS)
	}
	c.m = r.SetM && c.d.Version >= inband.Version10
	return out
}

func (c *path) add(own *inband.Metadata, ds []byte) {
	c.pushed = append([]*inband.Metadata{own}, c.pushed...)
	c.ds = append([][]byte{ds}, c.ds...)
}

// transit pushes a record.
func (c *path) transit(frame []byte) []byte {
	p := c.parse(frame)
	if !p.INT.Present || p.INT.Malformed != 0 || p.INT.Hops != len(c.pushed) {
		c.t.Fatalf("Parse: %+v, want %d hops\n%x", p.INT, len(c.pushed), frame)
	}
	var own *inband.Metadata
	if c.r.IntN(8) != 0 {
		own = randomMetadata(c.r)
	}
	ds := packets.Bytes(c.r, p.INT.perHopDS)
	out, r := c.d.PushDS(nil, p, own, ds, c.mtu(p))
	if len(out) != len(frame)+r.Added {
		c.t.Fatalf("Push: %d bytes became %d, Result says %+v", len(frame), len(out), r)
	}
	switch r.Action {
	case Pushed:
		c.add(own, ds)
	case Marked:
		c.e, c.m = c.e || r.SetE, c.m || r.SetM
	case Forwarded:
		if !bytes.Equal(out, frame) {
			c.t.Fatalf("Push: %+v, but the frame has changed", r)
		}
	}
	return out
}

// link looks at the packet between two nodes.
func (c *path) link(frame []byte) {
	c.t.Helper()
	if wrong := badSums(frame); wrong != nil && c.sums {
		c.t.Fatalf("wrong on the link: %v\n%x", wrong, frame)
	}
	p := c.parse(frame)
	original := c.parse(c.before)
	if p.Flow != original.Flow || p.HasFlow != original.HasFlow || p.HasOuter != original.HasOuter || p.HasOuter &&
		p.Outer != original.Outer {
		c.t.Fatalf("flow: got %v (outer %v), want %v (outer %v)\n%x", p.Flow, p.Outer, original.Flow, original.Outer,
			frame)
	}
	if c.d.Version == inband.Version05 && c.d.Carrier == DstPort {
		return // package dissect knows INT 2.x by port only
	}
	c.shows(dissect.Packet(frame, dissect.Ethernet, c.cfg), frame)
	c.collected(frame, p)
}

// collected compares with what a collector makes of the packet in a report.
func (c *path) collected(frame []byte, p *Packet) {
	c.t.Helper()
	header := []byte{0, 0x20, 0, 1, 0, 0, 0, 1, 0, 0, 0, 1} // of a report of version 0.5, F set
	var batch telemetry.Batch
	var h telemetry.Header
	telemetry.NewDecoder(c.cfg).Decode(append(header, frame...), netip.MustParseAddrPort("192.0.2.1:1"), 8555, &batch,
		&h)
	if h.Outcome != telemetry.Decoded || len(batch.Reports) != 1 {
		c.t.Fatalf("the collector says: %v\n%x", h.Reason, frame)
	}
	report := &batch.Reports[0]
	if len(report.Hops) != p.INT.Hops {
		c.t.Fatalf("the collector has %d hops, want %d\n%x", len(report.Hops), p.INT.Hops, frame)
	}
	if p.INT.g && (p.INT.Carrier == GRE || p.INT.Carrier == VXLANGPE) {
		return // for a collector the tunnel of INT is that of the flow
	}
	if p.INT.Carrier == NewUDP && p.HasOuter && p.Outer.Protocol == uint8(p.INT.next) &&
		p.Flow.Tunnel == telemetry.TunnelIP {
		return // a collector cannot know that the IP header in front of INT was there before
	}
	if report.Is(telemetry.HasFlow) != p.HasFlow || report.Flow != p.Flow {
		c.t.Fatalf("the collector has flow %v, want %v\n%x", report.Flow, p.Flow, frame)
	}
}

// shows compares what is in the packet with what was pushed.
func (c *path) shows(layers []dissect.Layer, frame []byte) {
	c.t.Helper()
	for err := range dissect.Errors(layers) {
		c.t.Fatalf("on the link: %v\n%x", err, frame)
	}
	for _, l := range layers {
		switch l.Name {
		case "int_md", "int_hbh_v1", "int_hbh_v0_5", "int_2016":
			c.showsStack(&l, frame)
			return
		case "int_mx":
			if got, want := l.Find("source_inserted").Text(), fmt.Sprintf("%x", c.ins.SourceInserted); got != want {
				c.t.Fatalf("source-inserted: got %s, want %s", got, want)
			}
			return
		}
	}
	var names []string
	for _, l := range layers {
		names = append(names, l.Name)
	}
	c.t.Fatalf("no INT in %v\n%x", strings.Join(names, " "), frame)
}

func (c *path) showsStack(l *dissect.Layer, frame []byte) {
	c.t.Helper()
	if l.Find("e").Flag() != c.e || l.Find("m").Flag() != c.m || l.Find("d").Flag() != c.ins.D {
		c.t.Fatalf("flags: got E %v M %v D %v, want %v %v %v", l.Find("e").Flag(), l.Find("m").Flag(),
			l.Find("d").Flag(), c.e, c.m, c.ins.D)
	}
	hops := l.Find("hops").Objects()
	if len(hops) != len(c.pushed) {
		c.t.Fatalf("%d hops, want %d\n%x", len(hops), len(c.pushed), frame)
	}
	for i, hop := range hops {
		for _, v := range values(c.pushed[i]) {
			f := hop.Find(v.name)
			switch {
			case f == nil:
			case c.pushed[i].Has&v.field == 0 && f.Meaning != dissect.NotAvailable:
				c.t.Fatalf("hop %d: %s is %v, want not available", i, v.name, f.Value)
			case c.pushed[i].Has&v.field != 0 && f.Number() != v.value:
				c.t.Fatalf("hop %d: %s is %v, want %d\n%x", i, v.name, f.Value, v.value, frame)
			}
		}
		if f := hop.Find("ds_metadata"); f != nil && i < len(hops)-1 && f.Text() != fmt.Sprintf("%x", c.ds[i]) {
			c.t.Fatalf("hop %d: DS metadata %s, want %x", i, f.Text(), c.ds[i])
		}
	}
}

// A value is one metadata value as package dissect names it.
type value struct {
	name  string
	field inband.Fields
	value uint64
}

func values(m *inband.Metadata) []value {
	return []value{
		{"node_id", inband.NodeID, uint64(m.NodeID)},
		{"l1_ingress", inband.L1Ingress, uint64(m.L1Ingress)},
		{"l1_egress", inband.L1Egress, uint64(m.L1Egress)},
		{"hop_latency", inband.HopLatency, uint64(m.HopLatency)},
		{"queue_id", inband.QueueID, uint64(m.QueueID)},
		{"queue_occupancy", inband.QueueOccupancy, uint64(m.QueueOccupancy)},
		{"queue_congestion", inband.QueueCongestion, uint64(m.QueueCongestion)},
		{"ingress_ts", inband.IngressTS, m.IngressTS},
		{"egress_ts", inband.EgressTS, m.EgressTS},
		{"l2_ingress", inband.L2Ingress, uint64(m.L2Ingress)},
		{"l2_egress", inband.L2Egress, uint64(m.L2Egress)},
		{"egress_tx_util", inband.EgressTxUtil, uint64(m.EgressTxUtil)},
		{"buffer_id", inband.BufferID, uint64(m.BufferID)},
		{"buffer_occupancy", inband.BufferOccupancy, uint64(m.BufferOccupancy)},
	}
}

// sink strips INT and compares.
func (c *path) sink(frame []byte) {
	p := c.parse(frame)
	out, s, err := c.d.Strip(nil, p)
	if err != nil {
		c.t.Fatalf("Strip: %v\n%x", err, frame)
	}
	if !bytes.Equal(out, c.before) {
		c.t.Fatalf("behind the sink, %+v\n%x\nwant\n%x\nwas\n%x", s, out, c.before, frame)
	}
	if s.Discard != c.ins.D || s.Hops != len(c.pushed) || s.Removed != len(frame)-len(out) {
		c.t.Fatalf("Strip: %+v, want %d hops, D %v", s, len(c.pushed), c.ins.D)
	}
	if c.ins.SourceOnly != nil && s.SourceOnly != nil && !bytes.Equal(s.SourceOnly, c.ins.SourceOnly) {
		c.t.Fatalf("source-only: got %x, want %x", s.SourceOnly, c.ins.SourceOnly)
	}
	for i := range s.Hops {
		var m inband.Metadata
		s.Layout.Decode(s.Stack.Record(i), &m)
		for _, v := range values(&m) {
			for _, want := range values(c.pushed[i]) {
				if v.name == want.name && m.Has&^m.Invalid&v.field != 0 && v.value != want.value {
					c.t.Fatalf("hop %d: %s is %d, want %d", i, v.name, v.value, want.value)
				}
			}
		}
	}
}
