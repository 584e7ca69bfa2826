// Rules for all nodes:
//
//	R-2   TestR002SinkRemovesEveryHeader
//	R-3   TestR003OneMark
//	R-4   TestR004NoMarkWithoutINT
//	R-5   TestR005ClassWithoutMark
//	R-6   TestR006TransitLeavesDestinationHeaders
//	R-7   TestR007HeadersBeforeDestinationHeaders
//	R-8   TestR008ReservedBitsAreZero
//	R-9   TestR009TransitKeepsTheHeader
//	R-10  TestR010NeverFragments
//	R-11  TestR011Lengths
//	R-12  TestR012PlaceOfTCPOptions
package embed

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

func TestR002SinkRemovesEveryHeader(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		out := push(t, d, insert(t, d, frame, Instruction{Bitmap: 0xA000}, node(1)), node(2))
		back, s := strip(t, d, out)
		wantSame(t, "behind the sink", back, frame)
		wantNodes(t, &s, 2, 1)
		if p := parse(t, d, back); p.INT.Present || p.INT.Nested {
			t.Errorf("INT left: %+v", p.INT)
		}
	})
	for _, text := range []string{"int2016_geneve", "int2016_vxlan_gpe"} { // with destination headers
		d := newDomain(inband.Version2016, VXLANGPE)
		if text == "int2016_geneve" {
			d = newDomain(inband.Version2016, Geneve)
		}
		frame := vector(t, text)
		back, s := strip(t, d, frame)
		if len(frame)-len(back) != s.Removed ||
			s.Removed != map[string]int{"int2016_geneve": 60, "int2016_vxlan_gpe": 60}[text] ||
			len(s.Destination) != 20 {
			t.Errorf("%s: %+v", text, s)
		}
		if p := parse(t, d, back); p.INT.Present || badSums(back) != nil {
			t.Errorf("%s: left %+v, %v", text, p.INT, badSums(back))
		}
		wantNodes(t, &s, 3, 2, 1)
	}
}

func TestR003OneMark(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	d.Points.INTDSCP, d.Points.INTDSCPMask = 0x17, 0x3F // of another domain
	out := insert(t, d, build(packets.Shape{DSCP: 9}), Instruction{Bitmap: 0x8000}, node(1))
	if p := parse(t, d, out); p.DSCP != 9 || p.INT.Conflict {
		t.Errorf("marked by port: DSCP %d, conflict %v", p.DSCP, p.INT.Conflict)
	}
	other := newDomain(inband.Version20, DSCP)
	out = insert(t, other, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))
	if p := parse(t, other, out); p.Flow.DstPort != 6001 || binary.BigEndian.Uint16(out[p.L4+2:]) != 6001 {
		t.Errorf("marked by DSCP: port %d", binary.BigEndian.Uint16(out[p.L4+2:]))
	}
	// Marked twice, by somebody else: the port counts.
	out = insert(t, d, build(packets.Shape{DSCP: 0x17}), Instruction{Bitmap: 0x8000}, node(1))
	p := parse(t, d, out)
	if !p.INT.Present || !p.INT.Conflict || p.INT.Malformed != 0 || p.INT.Carrier != DstPort {
		t.Errorf("marked twice: %+v", p.INT)
	}
}

func TestR004NoMarkWithoutINT(t *testing.T) {
	for _, c := range []struct{ mark, mask, before, after uint8 }{
		{0x17, 0x3F, 0x17, 0},
		{0x17, 0x3F, 0x16, 0x16},
		{0x01, 0x01, 0x2F, 0x2E},
		{0x20, 0x20, 0x2A, 0x0A},
	} {
		for _, ipv6 := range []bool{false, true} {
			d := newDomain(inband.Version20, DSCP)
			d.Points.INTDSCP, d.Points.INTDSCPMask = c.mark, c.mask
			frame := build(packets.Shape{Kind: packets.TCP, DSCP: c.before, IPv6: ipv6, Payload: 50})
			out, rewritten := d.CleanMark(nil, parse(t, d, frame))
			p := parse(t, d, out)
			if p.DSCP != c.after || rewritten != (c.before != c.after) || p.INT.Present || badSums(out) != nil {
				t.Errorf("DSCP %#02x with mark %#02x/%#02x: got %#02x, rewritten %v, %v", c.before, c.mark, c.mask,
					p.DSCP, rewritten, badSums(out))
			}
			// Nor does it come back behind the sink.
			out = insert(t, d, out, Instruction{Bitmap: 0x8000}, node(1))
			if p := parse(t, d, out); p.DSCP != c.after&^c.mask|c.mark {
				t.Errorf("marked: DSCP %#02x", p.DSCP)
			}
			shim := parse(t, d, out).INT.Shim
			out[shim+3] = c.mark << 2 // somebody has saved a DSCP that marks
			out, _ = strip(t, d, out)
			if p := parse(t, d, out); d.Points.MarksDSCP(p.DSCP) {
				t.Errorf("the mark %#02x has left the domain", p.DSCP)
			}
		}
	}
	d := newDomain(inband.Version20, DstPort)
	if _, rewritten := d.CleanMark(nil, parse(t, d, build(packets.Shape{DSCP: 0x17}))); rewritten {
		t.Error("a domain that marks by port has rewritten a DSCP")
	}
}

func TestR005ClassWithoutMark(t *testing.T) {
	d := newDomain(inband.Version20, DSCP)
	d.Points.INTDSCP, d.Points.INTDSCPMask = 0x01, 0x01
	frame := build(packets.Shape{Kind: packets.TCP, DSCP: 0x2E, Payload: 50})
	marked := parse(t, d, insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1)))
	if got := d.ClassDSCP(marked); got != 0x2E || marked.DSCP != 0x2F {
		t.Errorf("marked %#02x: class %#02x, want 0x2E", marked.DSCP, got)
	}
	if got := d.ClassDSCP(parse(t, d, frame)); got != 0x2E {
		t.Errorf("not marked: class %#02x, want 0x2E", got)
	}
	d.Points.INTDSCP, d.Points.INTDSCPMask = 0x17, 0x3F // all bits: the shim knows
	if got := d.ClassDSCP(parse(t, d, insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1)))); got != 0x2E {
		t.Errorf("marked by a value: class %#02x, want 0x2E", got)
	}
}

// destinations returns a packet with a destination header behind the header that nodes look at, and its contents.
func destinations(t *testing.T, c Carrier) (*Domain, []byte, []byte) {
	d := newDomain(inband.Version20, c)
	contents := []byte{0xDE, 0xAD, 0xBE, 0xEF}
	if c == VXLANGPE {
		frame := insert(t, d, build(packets.Shape{Kind: packets.GPE}), Instruction{Bitmap: 0x8000}, node(1))
		p := parse(t, d, frame)
		frame[p.sum.at], frame[p.sum.at+1] = 0, 0
		shim := inband.ShimGPE{Type: inband.TypeDestination, Length: 1, NextProtocol: frame[p.INT.Shim+3]}
		frame[p.INT.Shim+3] = 0x82
		return d, grown(p, frame, p.INT.End, append(shim.Append(nil), contents...)), contents
	}
	frame := insert(t, d, build(packets.Shape{Kind: packets.Geneve}), Instruction{Bitmap: 0x8000}, node(1))
	p := parse(t, d, frame)
	frame[p.sum.at], frame[p.sum.at+1] = 0, 0
	option := packet.GeneveOption{Class: geneveClassINT, Type: inband.TypeDestination, Length: 1, Data: contents}
	frame[p.tunnelAt] += 2
	return d, grown(p, frame, p.INT.End, option.Append(nil)), contents
}

// grown inserts more at offset at of the frame, without a UDP checksum.
func grown(p *Packet, frame []byte, at int, more []byte) []byte {
	frame = append(frame[:at:at], append(more, frame[at:]...)...)
	e := edit{p: p, f: frame}
	e.resize(len(more))
	return frame
}

func TestR006TransitLeavesDestinationHeaders(t *testing.T) {
	for _, c := range []Carrier{VXLANGPE, Geneve} {
		d, frame, contents := destinations(t, c)
		out := push(t, d, frame, node(2))
		p := parse(t, d, out)
		if p.INT.Destination == 0 || !bytes.Equal(out[p.INT.Destination:p.INT.DestinationEnd], contents) ||
			p.INT.Hops != 2 {
			t.Errorf("carrier %d: %+v", c, p.INT)
		}
		back, s := strip(t, d, out)
		if !bytes.Equal(s.Destination, contents) || parse(t, d, back).INT.Present {
			t.Errorf("carrier %d: stripped %+v", c, s)
		}
		wantNodes(t, &s, 2, 1)
	}
	// Alone it is nothing to a transit node.
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		out := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		setType(t, d, out, inband.TypeDestination)
		got, r := d.Push(nil, parse(t, d, out), node(2), 0)
		if wantSame(t, "forwarded", got, out); r.Why != DestinationOnly {
			t.Errorf("got %v", r.Why)
		}
		back, s := strip(t, d, out)
		if wantSame(t, "stripped", back, frame); s.Type != inband.TypeDestination || len(s.Destination) == 0 {
			t.Errorf("stripped %+v", s)
		}
	})
}

// setType changes the type in the shim or option of frame.
func setType(t *testing.T, d *Domain, frame []byte, kind uint8) {
	p := parse(t, d, frame)
	switch at := p.INT.Shim; {
	case p.INT.Carrier == Geneve:
		frame[at+2] = kind
	case d.Version == inband.Version20:
		frame[at] = kind<<4 | frame[at]&0x0F
	default:
		frame[at] = kind
	}
}

func TestR007HeadersBeforeDestinationHeaders(t *testing.T) {
	for _, c := range []Carrier{VXLANGPE, Geneve} {
		d, frame, _ := destinations(t, c)
		// Only the destination header is left, and a source inserts INT again.
		p := parse(t, d, frame)
		main := p.INT.Destination - shimLen - p.INT.Start
		rest := append(bytes.Clone(frame[:p.INT.Start]), frame[p.INT.Start+main:]...)
		e := edit{p: p, f: rest}
		e.resize(-main)
		if c == Geneve {
			rest[p.tunnelAt] -= uint8(main / 4)
		}
		q := parse(t, d, rest)
		if q.INT.Type != inband.TypeDestination {
			t.Fatalf("carrier %d: %+v", c, q.INT)
		}
		told := bytes.Clone(rest[q.INT.Destination:q.INT.DestinationEnd])
		out, r := d.Insert(nil, q, Instruction{Bitmap: 0x8000, Destination: &inband.Destination{}}, node(1), 0)
		again := parse(t, d, out)
		if r.Action != Inserted || again.INT.Type != inband.TypeMD || again.INT.Malformed != 0 || again.INT.Hops != 1 ||
			again.INT.Destination < again.INT.StackEnd ||
			!bytes.Equal(out[again.INT.Destination:again.INT.DestinationEnd], told) {
			t.Errorf("carrier %d: %+v, %+v", c, r, again.INT)
		}
		if stripped, s, err := d.Strip(nil, again); err != nil || !bytes.Equal(s.Destination, told) ||
			bytes.Contains(stripped, told) {
			t.Errorf("carrier %d: %v, %x of %x", c, err, s.Destination, stripped)
		}
	}
	// The source puts its own message behind the INT header, and what entered leaves.
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		message := inband.Destination{HasSequence: true, HasTTL: true, TTL: 64, Sequence: 9}
		out := insert(t, d, frame, Instruction{Bitmap: 0x8000, MaxHops: 2, Destination: &message}, node(1))
		chains := d.Carrier == Geneve || d.Carrier == VXLANGPE
		p := parse(t, d, out)
		if (p.INT.Destination > p.INT.StackEnd) != chains || p.INT.Hops != 1 && d.Mode == MD {
			t.Errorf("%+v", p.INT)
		}
		pushed, r := d.Push(nil, p, node(2), 0)
		if d.Mode == MD && r.Action != Pushed {
			t.Errorf("%+v", r)
		}
		stripped, s, err := d.Strip(nil, parse(t, d, pushed))
		if err != nil || !bytes.Equal(stripped, frame) || chains != bytes.Equal(s.Destination, message.Append(nil)) {
			t.Errorf("%v: %x\ngot  %x\nwant %x", err, s.Destination, stripped, frame)
		}
	})
	// MD or MX, never both.
	d := newDomain(inband.Version20, Geneve)
	md := insert(t, d, build(packets.Shape{Kind: packets.Geneve}), Instruction{Bitmap: 0x8000}, node(1))
	mx := *d
	mx.Mode = MX
	if out, r := mx.Insert(nil, parse(t, &mx, md), Instruction{Bitmap: 0x8000}, nil, 0); r.Why != AlreadyINT ||
		!bytes.Equal(out, md) {
		t.Errorf("MX on MD: %+v", r)
	}
}

func TestR008ReservedBitsAreZero(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		out := insert(t, d, frame, Instruction{Bitmap: 0xFFFF, MaxHops: 1}, nil)
		h := out[parse(t, d, out).INT.Header:]
		switch d.Version {
		case inband.Version20:
			if h[0] != 0x20 || h[1] != 0 || h[2]&0xE0 != 0 || binary.BigEndian.Uint16(h[4:]) != 0xFF80 {
				t.Errorf("header % x", h[:12])
			}
		case inband.Version10:
			if h[0] != 0x10 || h[1] != 0 || h[2]&0xE0 != 0 || binary.BigEndian.Uint16(h[4:]) != 0xFF00 || h[6] != 0 ||
				h[7] != 0 {
				t.Errorf("header % x", h[:8])
			}
		default:
			if h[0] != 0 || h[1] != 8 || binary.BigEndian.Uint16(h[4:]) != 0xFF00 || h[6] != 0 || h[7] != 0 {
				t.Errorf("header % x", h[:8])
			}
		}
	})
}

func TestR009TransitKeepsTheHeader(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		frame = insert(t, d, frame, Instruction{Bitmap: 0xE000}, node(1))
		p := parse(t, d, frame)
		h := frame[p.INT.Header:]
		shim := frame[p.INT.Shim:]
		switch d.Version { // all reserved bits
		case inband.Version20:
			h[0] |= 0x01
			h[1], h[2] = 0xFF, h[2]|0xE0
		case inband.Version10:
			h[1], h[2] = 0x7F, h[2]|0xE0
			h[6], h[7] = 0xAB, 0xCD
		case inband.Version05:
			h[1] |= 0xE0
			h[6], h[7] = 0xAB, 0xCD
		case inband.Version2016:
			h[0] |= 0x03
			h[1] |= 0xE0
			h[6], h[7] = 0xAB, 0xCD
		}
		if p.INT.Carrier == Geneve {
			shim[3] |= 0xE0
		}
		out := push(t, d, frame, node(2))
		got, want := out[p.INT.Header:p.INT.Stack], bytes.Clone(frame[p.INT.Header:p.INT.Stack])
		if d.Version < inband.Version10 {
			want[3]++
		} else {
			want[3]--
		}
		wantSame(t, "header", got, want)
		if p.INT.Carrier == Geneve && out[p.INT.Shim+3]&0xE0 != 0xE0 {
			t.Error("the reserved bits of the option have changed")
		}
		if back, s := strip(t, d, out); s.Hops != 2 || len(back)+s.Removed != len(out) {
			t.Errorf("stripped %+v", s)
		}
	})
}

func TestR010NeverFragments(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		p := parse(t, d, frame)
		if out, r := d.Insert(nil, p, Instruction{Bitmap: 0x8000}, node(1), p.TotalLength+3); r.Action != Forwarded ||
			r.Why != MTU || !bytes.Equal(out, frame) {
			t.Errorf("Insert: %+v", r)
		}
		carrying := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		p = parse(t, d, carrying)
		if out, r := d.Push(nil, p, node(1), p.TotalLength); len(out) != len(carrying) || r.Why != MTU {
			t.Errorf("Push: %+v", r)
		}
	})
	for _, ipv6 := range []bool{false, true} { // nor is INT put into what is a fragment already
		d := newDomain(inband.Version20, DstPort)
		frame := build(packets.Shape{Kind: packets.UDP, IPv6: ipv6, Fragment: true, Payload: 64})
		if out, r := d.Insert(nil, parse(t, d, frame), Instruction{Bitmap: 0x8000}, node(1), 0); r.Why != IsFragment ||
			!bytes.Equal(out, frame) {
			t.Errorf("fragment: %+v", r)
		}
	}
}

func TestR011Lengths(t *testing.T) {
	for _, v := range variants() {
		for _, ipv6 := range []bool{false, true} {
			s := v.s
			s.IPv6, s.Padding = ipv6, 5
			before := build(s)
			frame := before
			for i := range 4 {
				n := len(frame)
				if i == 0 {
					frame = insert(t, v.d, frame, Instruction{Bitmap: 0x9000}, node(1))
				} else {
					frame = push(t, v.d, frame, node(uint32(i)))
				}
				// Lengths and checksums are right by what an independent walk over IP, UDP, shims and options says.
				if wrong := badSums(frame); wrong != nil {
					t.Errorf("%s: %v", v.name, wrong)
				}
				if p := parse(t, v.d, frame); p.INT.Malformed != 0 || p.End != len(frame)-5 || i > 0 &&
					len(frame)-n != 8 {
					t.Errorf("%s: %+v", v.name, p.INT)
				}
			}
			back, _ := strip(t, v.d, frame)
			wantSame(t, v.name, back, before)
		}
	}
}

func TestR012PlaceOfTCPOptions(t *testing.T) {
	for _, before := range []bool{false, true} {
		d := newDomain(inband.Version10, DSCP)
		d.BeforeTCPOptions = before
		frame := build(packets.Shape{Kind: packets.TCP, TCPOptions: 12, Payload: 40})
		out := push(t, d, insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1)), node(2))
		p := parse(t, d, out)
		want := p.L4 + 32
		if before {
			want = p.L4 + 20
		}
		if p.INT.Shim != want || p.Payload-p.INT.End != map[bool]int{false: 0, true: 12}[before] {
			t.Errorf("before %v: shim at %d, want %d; payload at %d", before, p.INT.Shim, want, p.Payload)
		}
		back, _ := strip(t, d, out)
		wantSame(t, "stripped", back, frame)
	}
	d := newDomain(inband.Version05, DSCP)
	d.BeforeTCPOptions = true
	if d.Check() == nil {
		t.Error("INT 0.5 before TCP options: no error")
	}
}
