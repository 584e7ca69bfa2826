// Rules for the source:
//
//	R-14  TestR014HeaderFields
//	R-15  TestR015HopML
//	R-16  TestR016RemainingHopCount
//	R-17  TestR017HopCountsOfOldVersions
//	R-18  TestR018SourceOnly
//	R-19  TestR019FixedHeadersExceedMTU
//	R-20  TestR020OwnMetadataExceedMTU
//	R-21  TestR021OriginalsInShim
//	R-22  TestR022NewUDPHeader
//	R-23  TestR023G
//	R-24  TestR024GeneveLimit
//	R-25  TestR025ShimLengthLimit
//	R-26  TestR026D
//	R-27  TestR027ComplementOnlyIfAllowed
package embed

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

func TestR014HeaderFields(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	d.DomainID, d.DSInstruction, d.DSFlags = codepoint.TSDomain, 0x8000, 0x4000
	frame := insert(t, d, build(packets.Shape{Payload: 20}),
		Instruction{Bitmap: 0xC000, D: true, MaxHops: 5, DSFlags: 0x0001}, node(1))
	var h inband.MD
	if _, err := h.Decode(frame[parse(t, d, frame).INT.Header:]); err != nil {
		t.Fatal(err)
	}
	want := inband.MD{
		Version: 2, D: true, HopML: 2, RemainingHopCount: 4, Bitmap: 0xC000, DomainID: codepoint.TSDomain,
		DSInstruction: 0x8000, DSFlags: 0x4001,
	}
	if h != want {
		t.Errorf("got  %+v\nwant %+v", h, want)
	}
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		in := parse(t, d, insert(t, d, frame, Instruction{Bitmap: 0xA000, MaxHops: 5}, node(1))).INT
		if in.E || in.M || in.C || in.D || in.Remaining != 4 || in.Bitmap != 0xA000 || in.HopML != 2 || in.Hops != 1 {
			t.Errorf("got %+v", in)
		}
	})
}

func TestR015HopML(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	d.DomainID = testDomainID
	for _, c := range []struct {
		bitmap, ds uint16
		words      uint8
	}{
		{0x8000, 0, 1},
		{0xFF80, 0, 12},
		{0x0E00, 0, 6},                   // 8 bytes each
		{0x8000, 0x4000, 2},              // per-hop, 4 bytes
		{0x8000, 0x5000, 4},              // per-hop, 4 and 8 bytes
		{0x8000, 0xA000, 1},              // source-only
		{0x0000, 0x0000, 0},              // nothing
		{0xFF80, 0x5000, 15},             // all
		{0xFF80 | 0x007E, 0x5000, 15},    // reserved bits are not written
		{0xFF80 | bitLast, 0x5000, 15},   // nor is bit 15 here
		{0xFF80 &^ 0x8000, 0xF000, 14},   // both kinds
		{0x8000 | 0x1000, 0x1000, 1 + 3}, // queue
	} {
		frame := insert(t, d, build(packets.Shape{}), Instruction{Bitmap: c.bitmap, DSInstruction: c.ds}, nil)
		if in := parse(t, d, frame).INT; in.HopML != c.words || in.Malformed != 0 {
			t.Errorf("bitmap %#04x, DS %#04x: got %+v, want Hop ML %d", c.bitmap, c.ds, in, c.words)
		}
	}
	d.Points.Domains[testDomainID] = &codepoint.Domain{0: {Bytes: 120}}
	ins := Instruction{Bitmap: 0xC000, DSInstruction: 0x8000}
	if d.CheckInstruction(&ins) == nil {
		t.Error("32 words per hop: no error")
	}
	if _, r := d.Insert(nil, parse(t, d, build(packets.Shape{})), ins, node(1), 0); r.Why != BadInstruction {
		t.Errorf("32 words per hop: %+v", r)
	}
}

func TestR016RemainingHopCount(t *testing.T) {
	each(t, variants(inband.Version10, inband.Version20), func(t *testing.T, d *Domain, frame []byte) {
		d.MaxHops = 6
		for _, c := range []struct {
			ins  Instruction
			own  *inband.Metadata
			want uint8
		}{
			{Instruction{Bitmap: 0x8000}, nil, 6},
			{Instruction{Bitmap: 0x8000}, node(1), 5},
			{Instruction{Bitmap: 0x8000, MaxHops: 3}, nil, 3},
			{Instruction{Bitmap: 0x8000, MaxHops: 3}, node(1), 2},
			{Instruction{Bitmap: 0x8000, MaxHops: 1}, node(1), 0},
			{Instruction{}, node(1), 6}, // nothing is asked, nothing is added
		} {
			if in := parse(t, d, insert(t, d, frame, c.ins, c.own)).INT; in.Remaining != c.want {
				t.Errorf("%+v: Remaining Hop Count %d, want %d", c.ins, in.Remaining, c.want)
			}
		}
	})
}

func TestR017HopCountsOfOldVersions(t *testing.T) {
	each(t, variants(inband.Version2016, inband.Version05), func(t *testing.T, d *Domain, frame []byte) {
		for _, own := range []*inband.Metadata{nil, node(1)} {
			out := insert(t, d, frame, Instruction{Bitmap: 0xE100, MaxHops: 6}, own)
			h := out[parse(t, d, out).INT.Header:]
			total := uint8(0)
			if own != nil { // the source is a node that adds, too
				total = 1
			}
			if want := []byte{0, 4, 6, total, 0xE1, 0, 0, 0}; !bytes.Equal(h[:8], want) {
				t.Errorf("header % x, want % x", h[:8], want)
			}
		}
	})
}

func TestR018SourceOnly(t *testing.T) {
	d := newDomain(inband.Version20, NewUDP)
	d.DomainID, d.DSInstruction = codepoint.TSDomain, 0x8000
	id := []byte{0xA6, 0x1A, 0xF6, 0xB1, 0x64, 0x7D, 0, 0}
	frame := insert(t, d, build(packets.Shape{Kind: packets.TCP}), Instruction{Bitmap: 0x8000, SourceOnly: id}, node(1))
	p := parse(t, d, frame)
	if p.INT.HopML != 1 || frame[p.INT.Shim+1] != 3+1+2 || !bytes.Equal(frame[p.INT.StackEnd-8:p.INT.StackEnd], id) {
		t.Errorf("%+v, Length %d", p.INT, frame[p.INT.Shim+1])
	}
	_, s := strip(t, d, push(t, d, push(t, d, frame, node(2)), node(3)))
	if wantNodes(t, &s, 3, 2, 1); !bytes.Equal(s.SourceOnly, id) {
		t.Errorf("source-only %x", s.SourceOnly)
	}
	// Without a record of the source they are the bottom all the same; without data they are not available.
	frame = insert(t, d, build(packets.Shape{Kind: packets.TCP}), Instruction{Bitmap: 0x8000}, nil)
	_, s = strip(t, d, push(t, d, frame, node(2)))
	if wantNodes(t, &s, 2); !bytes.Equal(s.SourceOnly, bytes.Repeat([]byte{0xFF}, 8)) {
		t.Errorf("source-only %x", s.SourceOnly)
	}
	// With per-hop metadata they stand in the order of the bits: 0 and 2 are source-only, 1 and 3 per hop; and in front
	// of the complement.
	d = newDomain(inband.Version20, DstPort)
	d.Complement = true
	d.DomainID, d.DSInstruction = testDomainID, 0xF000
	frame = insert(t, d, build(packets.Shape{Kind: packets.UDPNoChecksum}), Instruction{
		Bitmap: 0x8001, DS: []byte("1aaa3aaaaaaa"), SourceOnly: []byte("0bbb2bbbbbbb"),
	}, node(1))
	p = parse(t, d, frame)
	if got, want := string(frame[p.INT.Stack:p.INT.StackEnd]),
		"\x00\x00\x00\x01"+"0bbb1aaa2bbbbbbb3aaaaaaa"+"\xff\xff\xff\xff"; got != want {
		t.Errorf("record %q, want %q", got, want)
	}
	if _, r := d.Insert(nil, parse(t, d, build(packets.Shape{})), Instruction{SourceOnly: id}, nil,
		0); r.Why != BadInstruction {
		t.Errorf("source-only data of a wrong length: %+v", r)
	}
}

func TestR019FixedHeadersExceedMTU(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		p := parse(t, d, frame)
		fixed := len(insert(t, d, frame, Instruction{Bitmap: 0x8000}, nil)) - len(frame)
		out, r := d.Insert(nil, p, Instruction{Bitmap: 0x8000}, node(1), p.TotalLength+fixed-1)
		if wantSame(t, "forwarded", out, frame); r.Action != Forwarded || r.Why != MTU || r.SetM {
			t.Errorf("got %+v", r)
		}
		if _, r = d.Insert(nil, p, Instruction{Bitmap: 0x8000}, nil, p.TotalLength+fixed); r.Action != Inserted ||
			r.SetM {
			t.Errorf("exactly fitting: %+v", r)
		}
	})
}

func TestR020OwnMetadataExceedMTU(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		p := parse(t, d, frame)
		fixed := len(insert(t, d, frame, Instruction{Bitmap: 0xA000}, nil)) - len(frame)
		out, r := d.Insert(nil, p, Instruction{Bitmap: 0xA000}, node(1), p.TotalLength+fixed+7)
		m := d.Version >= inband.Version10 // older headers have no M
		if r.Action != Inserted || r.Added != fixed || r.SetM != m || r.Record || r.Why != MTU {
			t.Errorf("got %+v", r)
		}
		if in := parse(t, d, out).INT; in.M != m || in.Hops != 0 || in.Remaining != d.MaxHops {
			t.Errorf("got %+v", in)
		}
		if _, r = d.Insert(nil, p, Instruction{Bitmap: 0xA000}, node(1), p.TotalLength+fixed+8); !r.Record || r.SetM {
			t.Errorf("exactly fitting: %+v", r)
		}
	})
}

func TestR021OriginalsInShim(t *testing.T) {
	for _, c := range []struct {
		version inband.Version
		carrier Carrier
		s       packets.Shape
		at      int // in the shim
		want    []byte
	}{
		{inband.Version20, DSCP, packets.Shape{Kind: packets.TCP, DSCP: 46}, 0, []byte{0x10, 4, 0, 46 << 2}},
		{inband.Version20, Marker, packets.Shape{DSCP: 46}, 0, []byte{0x10, 4, 0, 46 << 2}},
		{inband.Version20, DstPort, packets.Shape{Port: 4789 + 2}, 0, []byte{0x14, 4, 0x12, 0xB7}},
		{inband.Version20, DstPort, packets.Shape{Kind: packets.TCP}, 0, []byte{0x18, 4, 0, 6}},
		{inband.Version20, NewUDP, packets.Shape{Kind: packets.ESP}, 0, []byte{0x18, 4, 0, 50}},
		{inband.Version20, NewUDP, packets.Shape{Kind: packets.UDP, IPv6: true}, 0, []byte{0x18, 4, 0, 17}},
		{inband.Version20, NewUDP, packets.Shape{Kind: packets.ICMP}, 0, []byte{0x18, 4, 0, 1}},
		{inband.Version10, DSCP, packets.Shape{DSCP: 46}, 0, []byte{1, 0, 4, 46 << 2}},
		{inband.Version05, DSCP, packets.Shape{DSCP: 46}, 16, []byte{17, 0x17, 0x71, 46}}, // in the tail
		{inband.Version05, DstPort, packets.Shape{Kind: packets.TCP}, 16, []byte{6, 0x17, 0x71, 0}},
	} {
		d := newDomain(c.version, c.carrier)
		frame := insert(t, d, build(c.s), Instruction{Bitmap: 0x8000}, node(1))
		p := parse(t, d, frame)
		if got := frame[p.INT.Shim+c.at:][:4]; !bytes.Equal(got, c.want) {
			t.Errorf("version %d carrier %d %v: % x, want % x", c.version, c.carrier, c.s.Kind, got, c.want)
		}
	}
}

func TestR022NewUDPHeader(t *testing.T) {
	d := newDomain(inband.Version20, NewUDP)
	ports := map[uint16]bool{}
	for i := range 50 {
		frame := build(packets.Shape{Kind: packets.TCP, Port: uint16(1000 + i)})
		var h inband.ShimL4
		var udp packet.UDP
		out := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		p := parse(t, d, out)
		_, _ = udp.Decode(out[p.L4:])
		_, _ = h.Decode(out[p.INT.Shim:])
		if udp.Checksum != 0 || udp.DstPort != 17768 || int(udp.Length) != p.End-p.L4 || h.NPT != inband.NPTProtocol ||
			h.Protocol != packet.ProtoTCP {
			t.Fatalf("%+v, %+v", udp, h)
		}
		again := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		if binary.BigEndian.Uint16(again[p.L4:]) != udp.SrcPort {
			t.Error("the source port is not the same for each packet of a flow")
		}
		ports[udp.SrcPort] = true
	}
	if len(ports) < 45 {
		t.Errorf("50 flows have %d source ports", len(ports))
	}
}

func TestR023G(t *testing.T) {
	d := newDomain(inband.Version20, VXLANGPE)
	for kind, g := range map[packets.Kind]bool{packets.VXLAN: true, packets.GPE: false} {
		frame := build(packets.Shape{Kind: kind})
		out := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		p := parse(t, d, out)
		if got := out[p.INT.Shim+2]&0x80 != 0; got != g ||
			binary.BigEndian.Uint16(out[p.L4+2:]) != packet.PortVXLANGPE || out[p.tunnelAt] != 0x0C ||
			out[p.tunnelAt+3] != 0x82 {
			t.Errorf("%v: G %v, header % x", kind, got, out[p.tunnelAt:p.tunnelAt+8])
		}
	}
	d = newDomain(inband.Version20, GRE)
	for kind, g := range map[packets.Kind]bool{packets.UDP: true, packets.ICMP: true, packets.GRE: false} {
		frame := build(packets.Shape{Kind: kind})
		out := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		p := parse(t, d, out)
		if got := out[p.INT.Shim]&0x08 != 0; got != g || p.Protocol != packet.ProtoGRE ||
			binary.BigEndian.Uint16(out[p.L4+2:]) != 0x4569 {
			t.Errorf("%v: G %v, protocol %d", kind, got, p.Protocol)
		}
	}
}

func TestR024GeneveLimit(t *testing.T) {
	for _, version := range []inband.Version{inband.Version2016, inband.Version05, inband.Version10, inband.Version20} {
		d := newDomain(version, Geneve)
		d.MaxHops = 255
		for _, bitmap := range []uint16{0x8000, 0xC000, 0xF000, 0xFF00} {
			ins := Instruction{Bitmap: bitmap}
			words := d.format().Widths().Bytes(bitmap) / 4
			room := 29
			if version == inband.Version20 {
				room = 28
			}
			if got, want := d.Hops(&ins), room/words; got != want {
				t.Errorf("version %d, %d words: %d hops, want %d", version, words, got, want)
			}
			toTheLimit(t, d, build(packets.Shape{Kind: packets.Geneve}), ins)
		}
	}
	d := newDomain(inband.Version20, Geneve)
	d.MaxHops = 255
	d.DomainID, d.DSInstruction = codepoint.TSDomain, 0x8000
	if got := d.Hops(&Instruction{Bitmap: 0xC000}); got != (28-2)/2 {
		t.Errorf("with source-only data: %d hops, want 13", got)
	}
	d.Points.Domains[codepoint.TSDomain] = &codepoint.Domain{0: {Bytes: 112, SourceOnly: true}}
	if d.CheckInstruction(&Instruction{Bitmap: 0x8000}) == nil {
		t.Error("no room for a single record: no error")
	}
	// Opt Len has a limit of its own, for all options together.
	d = newDomain(inband.Version20, Geneve)
	foreign := packet.GeneveOption{Class: 0x0199, Type: 1, Length: 31, Data: make([]byte, 124)}
	h := packet.Geneve{Protocol: packet.EtherTypeTEB, OptLen: 32, Options: foreign.Append(nil)}
	frame := inUDP(packet.PortGeneve, packets.Shape{}.AppendEthernet(h.Append(nil), newRand(1)))
	frame = insert(t, d, frame, Instruction{Bitmap: 0xFF80, MaxHops: 9}, node(1))
	if in := parse(t, d, frame).INT; in.Remaining != 1 {
		t.Errorf("%+v", in)
	}
	if out, r := d.Push(nil, parse(t, d, frame), node(2), 0); r.Action != Pushed || out[42]&0x3F != 32+4+24 {
		t.Errorf("%+v, Opt Len %d", r, out[42]&0x3F)
	}
}

// toTheLimit pushes until no more nodes may. That must be because of the hop count: a length field never overflows.
func toTheLimit(t *testing.T, d *Domain, frame []byte, ins Instruction) {
	t.Helper()
	want := d.Hops(&ins)
	frame = insert(t, d, frame, ins, node(1))
	for hops := 1; ; hops++ {
		out, r := d.Push(nil, parse(t, d, frame), node(2), 0)
		if r.Why == HopLimit && hops == want {
			break
		}
		if r.Action != Pushed || hops > 255 {
			t.Fatalf("version %d carrier %d: after %d of %d hops: %+v", d.Version, d.Carrier, hops, want, r)
		}
		frame = out
	}
	if p := parse(t, d, frame); p.INT.Malformed != 0 || p.INT.Hops != want {
		t.Errorf("%+v", p.INT)
	}
}

func TestR025ShimLengthLimit(t *testing.T) {
	for version, list := range carriers {
		for _, c := range list {
			if c == Geneve {
				continue
			}
			d := newDomain(version, c)
			d.MaxHops = 255
			s := packets.Shape{Kind: packets.UDP}
			if c == VXLANGPE {
				s.Kind = packets.GPE
			}
			for _, bitmap := range []uint16{0x8000, 0xA000, 0xFF00} {
				toTheLimit(t, d, build(s), Instruction{Bitmap: bitmap})
			}
		}
	}
	d := newDomain(inband.Version20, DstPort)
	d.MaxHops = 255
	if got := d.Hops(&Instruction{Bitmap: 0x8000}); got != 252 {
		t.Errorf("2.1: %d hops, want 252", got)
	}
	d = newDomain(inband.Version10, DSCP)
	d.MaxHops = 255
	if got := d.Hops(&Instruction{Bitmap: 0x8000}); got != 252 {
		t.Errorf("1.0: %d hops, want 252", got)
	}
}

func TestR026D(t *testing.T) {
	for _, mode := range []Mode{MD, MX} {
		each(t, variants(inband.Version20), func(t *testing.T, d *Domain, frame []byte) {
			d.Mode = mode
			out := insert(t, d, frame, Instruction{Bitmap: 0x8000, D: true}, node(1))
			if in := parse(t, d, out).INT; !in.D {
				t.Errorf("%+v", in)
			}
		})
	}
}

func TestR027ComplementOnlyIfAllowed(t *testing.T) {
	for _, version := range []inband.Version{inband.Version10, inband.Version20} {
		d := newDomain(version, DSCP)
		ins := Instruction{Bitmap: 0x8001}
		if parse(t, d, insert(t, d, build(packets.Shape{}), ins, node(1))).INT.Bitmap != 0x8000 ||
			d.CheckInstruction(&ins) == nil {
			t.Error("bit 15 in a domain without complements")
		}
		d.Complement = true
		if parse(t, d, insert(t, d, build(packets.Shape{}), ins, node(1))).INT.Bitmap != 0x8001 ||
			d.CheckInstruction(&ins) != nil {
			t.Error("no bit 15 in a domain with complements")
		}
	}
}
