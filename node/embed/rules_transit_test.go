// Rules for transit nodes:
//
//	R-28  TestR028RecordBehindHeader
//	R-29  TestR029WholeRecords
//	R-30  TestR030AllOrNothing
//	R-31  TestR031CountsWhatItAdds
//	R-32  TestR032HopLimit
//	R-33  TestR033NotAvailable
//	R-34  TestR034ReservedInstruction
//	R-35  TestR035UnknownDomain
//	R-36  TestR036BeyondItsCapacity
//	R-37  TestR037MTU
//	R-38  TestR038IntermediateReport
//	R-39  TestR039HeaderAfterIntermediateReport
//	R-40  TestR040FlagsStay
//	R-41  TestR041BottomOfStack
//	R-42  TestR042Copies
//	R-43  TestR043FollowUp
//	R-44  TestR044DSFlags
//	R-45  TestR045MXKeepsItsSize
//	R-46  TestR046UnknownVersionAndType
package embed

import (
	"bytes"
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
)

func TestR028RecordBehindHeader(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	d.DomainID, d.DSInstruction, d.Complement = testDomainID, 0x4000, true
	frame := insert(t, d, build(packets.Shape{Kind: packets.UDPNoChecksum}),
		Instruction{Bitmap: 0xD001, DS: []byte("old!")}, node(1))
	p := parse(t, d, frame)
	out, r := d.PushDS(nil, p, node(2), []byte("new!"), 0)
	if r.Action != Pushed || r.Added != 20 {
		t.Fatalf("%+v", r)
	}
	wantSame(t, "stack", out[p.INT.Stack:p.INT.StackEnd+20], []byte(""+
		"\x00\x00\x00\x02"+"\x00\x0c\x00\x16"+"\x04\x00\x01\xf6"+"new!"+"\xff\xff\xff\xff"+
		"\x00\x00\x00\x01"+"\x00\x0b\x00\x15"+"\x04\x00\x01\xf5"+"old!"+"\xff\xff\xff\xff"))
	wantSame(t, "in front of it", out[p.INT.Header+4:p.INT.Stack], frame[p.INT.Header+4:p.INT.Stack])
}

func TestR029WholeRecords(t *testing.T) {
	for _, v := range variants() {
		for bitmap := uint16(0x0080); bitmap != 0; bitmap <<= 1 { // every instruction, and all
			for _, asked := range []uint16{bitmap, 0xFF00} {
				frame := insert(t, v.d, build(v.s), Instruction{Bitmap: asked}, nil)
				p := parse(t, v.d, frame)
				if p.INT.Bitmap == 0 {
					continue // this version has no such instruction
				}
				want := 4 * int(p.INT.HopML)                          // or Instruction Count
				for _, own := range []*inband.Metadata{node(2), {}} { // one has all values, one none
					out, r := v.d.Push(nil, p, own, 0)
					if n := len(out) - len(frame); r.Action != Pushed || r.Added != want || n != want {
						t.Errorf("%s, bitmap %#04x: %+v, %d bytes, want %d", v.name, asked, r, n, want)
					}
				}
			}
		}
	}
	// Metadata of a domain that the node does not know count too.
	d := newDomain(inband.Version20, DstPort)
	d.DomainID, d.DSInstruction = testDomainID, 0x5000
	frame := insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))
	out, r := d.Push(nil, parse(t, d, frame), node(2), 0)
	if want := 4 * int(parse(t, d, frame).INT.HopML); r.Added != want || len(out)-len(frame) != want {
		t.Errorf("domain: %+v, %d bytes, want %d", r, len(out)-len(frame), want)
	}
}

func TestR030AllOrNothing(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		frame = insert(t, d, frame, Instruction{Bitmap: 0xE000}, node(1))
		// A node without metadata.
		out, r := d.Push(nil, parse(t, d, frame), nil, 0)
		if wantSame(t, "without metadata", out, frame); r.Why != NoMetadata {
			t.Errorf("got %+v", r)
		}
		// A packet that cannot get longer: the length field of its shim or option is at its end.
		for r.Action = Pushed; r.Action == Pushed; {
			setRemaining(d, frame, parse(t, d, frame), 255)
			if out, r = d.Push(nil, parse(t, d, frame), node(2), 0); r.Action == Pushed {
				frame = out
			}
		}
		if wantSame(t, "full", out, frame); r.Why != CarrierFull {
			t.Errorf("got %+v", r)
		}
	})
	// Nor can an IP packet be longer than 65535 bytes.
	d := newDomain(inband.Version20, DstPort)
	frame := insert(t, d, build(packets.Shape{Payload: 65535 - 28 - 20}), Instruction{Bitmap: 0x8000}, node(1))
	if out, r := d.Push(nil, parse(t, d, frame), node(2), 0); r.Why != CarrierFull || !bytes.Equal(out, frame) {
		t.Errorf("got %+v", r)
	}
}

// setRemaining makes room in the hop counts, behind the back of the checksum.
func setRemaining(d *Domain, frame []byte, p *Packet, n uint8) {
	if d.Version < inband.Version10 {
		frame[p.INT.Header+2] = n // Max Hop Count
	} else {
		frame[p.INT.Header+3] = n
	}
}

func TestR031CountsWhatItAdds(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		d.MaxHops = 5
		frame = insert(t, d, frame, Instruction{Bitmap: 0x8000}, nil)
		for i := range uint8(5) {
			before := parse(t, d, frame).INT
			frame = push(t, d, frame, node(1))
			after := parse(t, d, frame).INT
			if after.Remaining != before.Remaining-1 || after.Hops != before.Hops+1 || before.Remaining != 5-i {
				t.Errorf("before %+v, after %+v", before, after)
			}
			if d.Version < inband.Version10 && after.Total != before.Total+1 {
				t.Errorf("Total Hop Count: %d, then %d", before.Total, after.Total)
			}
			p := parse(t, d, frame) // what adds nothing counts nothing
			out, _ := d.Push(nil, p, nil, 0)
			more, _ := d.Push(nil, p, node(2), p.TotalLength)
			if parse(t, d, out).INT.Remaining != after.Remaining || parse(t, d, more).INT.Remaining != after.Remaining {
				t.Error("counted what was not added")
			}
		}
	})
}

func TestR032HopLimit(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		d.MaxHops = 2
		full := push(t, d, insert(t, d, frame, Instruction{Bitmap: 0xA000}, node(1)), node(2))
		p := parse(t, d, full)
		out, r := d.Push(nil, p, node(3), 0)
		if r.Action != Marked || r.Why != HopLimit || !r.SetE || r.SetM || len(out) != len(full) {
			t.Errorf("got %+v", r)
		}
		in := parse(t, d, out).INT
		if !in.E || in.Hops != 2 || in.Remaining != 0 || p.INT.E {
			t.Errorf("got %+v", in)
		}
		if again, r := d.Push(nil, parse(t, d, out), node(3), 0); r.Action != Forwarded || !bytes.Equal(again, out) {
			t.Errorf("again: %+v", r)
		}
		back, s := strip(t, d, out)
		if wantSame(t, "stripped", back, frame); !s.E {
			t.Errorf("stripped: %+v", s)
		}
		wantNodes(t, &s, 2, 1)
	})
	// Total above Max, as ONOS sends it, is no room either.
	d := newDomain(inband.Version05, DSCP)
	d.MaxHops = 1
	frame := insert(t, d, build(packets.Shape{Kind: packets.UDPNoChecksum}), Instruction{Bitmap: 0x8000}, node(1))
	frame[parse(t, d, frame).INT.Header+2] = 0
	if _, r := d.Push(nil, parse(t, d, frame), node(2), 0); !r.SetE {
		t.Errorf("Total 1, Max 0: %+v", r)
	}
}

func TestR033NotAvailable(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		frame = insert(t, d, frame, Instruction{Bitmap: 0xFF00}, nil)
		p := parse(t, d, frame)
		out := push(t, d, frame, &inband.Metadata{})
		record := out[p.INT.Stack : p.INT.Stack+4*int(p.INT.HopML)]
		for i, b := range record {
			switch {
			case d.Version != inband.Version2016 && b != 0xFF,
				d.Version == inband.Version2016 && i%4 == 0 && b != 0x7F && i != len(record)-4,
				d.Version == inband.Version2016 && i%4 != 0 && b != 0xFF:
				t.Fatalf("byte %d of % x", i, record)
			}
		}
		_, s := strip(t, d, out)
		var m inband.Metadata
		s.Layout.Decode(s.Stack.Record(0), &m)
		if m.Has == 0 || m.Has != m.Invalid {
			t.Errorf("has %#x, invalid %#x", m.Has, m.Invalid)
		}
	})
}

func TestR034ReservedInstruction(t *testing.T) {
	// Vector int21_md_reserved_bit asks for bit 10, which 2.1 reserves.
	d := newDomain(inband.Version20, NewUDP)
	frame := vector(t, "int21_md_reserved_bit")
	p := parse(t, d, frame)
	out := push(t, d, frame, node(7))
	wantSame(t, "record", out[p.INT.Stack:p.INT.Stack+8], []byte{0, 0, 0, 7, 0xFF, 0xFF, 0xFF, 0xFF})
	for _, c := range []struct {
		version inband.Version
		bits    uint16
	}{
		{inband.Version2016, 0x00FF},
		{inband.Version05, 0x00FF},
		{inband.Version10, 0x00FE},
		{inband.Version20, 0x007E},
	} {
		each(t, variants(c.version), func(t *testing.T, d *Domain, frame []byte) {
			frame = insert(t, d, frame, Instruction{Bitmap: 0x8000, MaxHops: 1}, nil)
			p := parse(t, d, frame)
			h := frame[p.INT.Header:]
			binary.BigEndian.PutUint16(h[4:], 0x8000|c.bits)
			words := byte(1)
			for bits := c.bits; bits != 0; bits &= bits - 1 {
				words++
			}
			if d.Version < inband.Version10 {
				h[1] = words
			} else {
				h[2] = words
			}
			out := push(t, d, frame, node(7))
			got := out[p.INT.Stack : p.INT.Stack+4*int(words)]
			if got[3] != 7 || !bytes.Equal(got[5:len(got)-4], bytes.Repeat([]byte{0xFF}, len(got)-9)) &&
				d.Version != inband.Version2016 {
				t.Errorf("record % x", got)
			}
		})
	}
}

func TestR035UnknownDomain(t *testing.T) {
	source := newDomain(inband.Version20, DstPort)
	source.DomainID, source.DSInstruction = testDomainID, 0x5000
	frame := insert(t, source, build(packets.Shape{}), Instruction{Bitmap: 0x8000, DS: []byte("abcdefghijkl")}, node(1))
	d := newDomain(inband.Version20, DstPort)
	delete(d.Points.Domains, testDomainID)
	p := parse(t, d, frame)
	out := push(t, d, frame, node(2))
	wantSame(t, "record", out[p.INT.Stack:p.INT.Stack+16],
		append([]byte{0, 0, 0, 2}, bytes.Repeat([]byte{0xFF}, 12)...))
	// DS metadata of a length that the header does not ask for are not written either.
	got, _ := source.PushDS(nil, parse(t, source, frame), node(2), []byte("abcd"), 0)
	wantSame(t, "wrong length", got, out)
}

func TestR036BeyondItsCapacity(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	frame := insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0xFF80}, nil)
	out := push(t, d, frame, &inband.Metadata{Has: inband.NodeID | inband.EgressTxUtil, NodeID: 5, EgressTxUtil: 6})
	p := parse(t, d, out)
	record := out[p.INT.Stack:p.INT.StackEnd]
	want := append([]byte{0, 0, 0, 5}, bytes.Repeat([]byte{0xFF}, 36)...)
	want = append(want, 0, 0, 0, 6, 0xFF, 0xFF, 0xFF, 0xFF)
	wantSame(t, "record", record, want)
	if p.INT.HopML != 12 || p.INT.Remaining != d.MaxHops-1 {
		t.Errorf("%+v", p.INT)
	}
}

func TestR037MTU(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		frame = insert(t, d, frame, Instruction{Bitmap: 0xA000}, node(1))
		p := parse(t, d, frame)
		if _, r := d.Push(nil, p, node(2), p.TotalLength+8); r.Action != Pushed {
			t.Errorf("exactly fitting: %+v", r)
		}
		out, r := d.Push(nil, p, node(2), p.TotalLength+7)
		in := parse(t, d, out).INT
		if len(out) != len(frame) || r.Why != MTU || in.Hops != 1 || in.Remaining != p.INT.Remaining {
			t.Errorf("got %+v, %+v", r, in)
		}
		if m := d.Version >= inband.Version10; r.SetM != m || in.M != m || !m && !bytes.Equal(out, frame) {
			t.Errorf("M: %+v, %+v", r, in)
		}
	})
}

func TestR038IntermediateReport(t *testing.T) {
	each(t, variants(inband.Version20), func(t *testing.T, d *Domain, frame []byte) {
		d.DomainID, d.DSInstruction = codepoint.TSDomain, 0x8000
		id := []byte("deviceid")
		carrying := push(t, d, insert(t, d, frame, Instruction{Bitmap: 0xA000, SourceOnly: id}, node(1)), node(2))
		p := parse(t, d, carrying)
		// The own record into the report.
		out, stack, r := d.PopIntermediate(nil, p, nil, nil, p.TotalLength)
		if r.Action != Popped || r.Record || r.Added != -(2*8+8) || len(out) != len(carrying)+r.Added {
			t.Fatalf("got %+v", r)
		}
		s := Stripped{Hops: stack.Len(), Stack: stack, Layout: inband.NewLayout(inband.Format20, 0xA000)}
		if wantNodes(t, &s, 2, 1); !bytes.Equal(stack.SourceOnly, id) {
			t.Errorf("source-only %q", stack.SourceOnly)
		}
		// Or into the packet.
		out, _, r = d.PopIntermediate(nil, p, node(3), nil, p.TotalLength)
		if r.Action != Popped || !r.Record || r.Added != 8-(2*8+8) {
			t.Fatalf("got %+v", r)
		}
		if q := parse(t, d, out); q.INT.M || q.INT.StackEnd-q.INT.Stack != 8 {
			t.Errorf("got %+v", q.INT)
		}
		// Not into both, if it does not fit the packet even so.
		if _, _, r = d.PopIntermediate(nil, p, node(3), nil, p.TotalLength-(2*8+8)+7); r.Action != Popped || r.Record ||
			r.Why != MTU {
			t.Errorf("got %+v", r)
		}
		// Nor if no more nodes may add one.
		setRemaining(d, carrying, p, 0)
		out, _, r = d.PopIntermediate(nil, parse(t, d, carrying), node(3), nil, 0)
		if r.Action != Popped || r.Record || !r.SetE || !parse(t, d, out).INT.E {
			t.Errorf("got %+v", r)
		}
	})
	for _, v := range variants(inband.Version2016, inband.Version05, inband.Version10) {
		frame := insert(t, v.d, build(v.s), Instruction{Bitmap: 0xA000}, node(1))
		if out, _, r := v.d.PopIntermediate(nil, parse(t, v.d, frame), node(2), nil, 0); r.Why != WrongMode ||
			!bytes.Equal(out, frame) {
			t.Errorf("%s: %+v", v.name, r)
		}
	}
}

func TestR039HeaderAfterIntermediateReport(t *testing.T) {
	for _, ipv6 := range []bool{false, true} {
		d := newDomain(inband.Version20, DstPort)
		plain := build(packets.Shape{IPv6: ipv6, Payload: 33})
		frame := push(t, d, insert(t, d, plain, Instruction{Bitmap: 0xA000}, node(1)), node(2))
		p := parse(t, d, frame)
		for _, own := range []*inband.Metadata{nil, node(3)} {
			out, _, _ := d.PopIntermediate(nil, p, own, nil, 0)
			q := parse(t, d, out)
			want := p.INT
			want.Hops, want.StackEnd, want.End = 0, want.Stack, want.Stack
			if own != nil {
				want.Hops, want.Remaining = 1, want.Remaining-1
				want.StackEnd, want.End = want.Stack+8, want.Stack+8
			}
			if q.INT != want {
				t.Errorf("got  %+v\nwant %+v", q.INT, want)
			}
			if wrong := badSums(out); wrong != nil {
				t.Error(wrong)
			}
			back, s := strip(t, d, push(t, d, out, node(4)))
			wantSame(t, "behind the sink", back, plain)
			if own == nil {
				wantNodes(t, &s, 4)
			} else {
				wantNodes(t, &s, 4, 3)
			}
		}
	}
}

func TestR040FlagsStay(t *testing.T) {
	each(t, variants(inband.Version10, inband.Version20), func(t *testing.T, d *Domain, frame []byte) {
		frame = insert(t, d, frame, Instruction{Bitmap: 0xA000, D: true}, node(1))
		p := parse(t, d, frame)
		frame[p.INT.Header] |= d.flagE()
		at, mask := d.flagM()
		frame[p.INT.Header+at] |= mask
		if d.Version == inband.Version10 {
			frame[p.INT.Header] |= d.flagC()
		}
		before := parse(t, d, frame).INT
		if !before.E || !before.M || !before.D && !before.C {
			t.Fatalf("%+v", before)
		}
		pushed := push(t, d, frame, node(2))
		marked, _ := d.Push(nil, parse(t, d, frame), node(2), p.TotalLength)
		for _, out := range [][]byte{pushed, marked} {
			if after := parse(t, d, out).INT; !after.E || !after.M || after.D != before.D || after.C != before.C {
				t.Errorf("got %+v", after)
			}
		}
	})
}

func TestR041BottomOfStack(t *testing.T) {
	each(t, variants(inband.Version2016), func(t *testing.T, d *Domain, frame []byte) {
		for _, own := range []*inband.Metadata{nil, node(1)} {
			out := insert(t, d, frame, Instruction{Bitmap: 0x9000}, own)
			for range 3 {
				out = push(t, d, out, node(2))
				p := parse(t, d, out)
				stack := out[p.INT.Stack:p.INT.StackEnd]
				if i := inband.BOSIndex(stack); p.INT.Malformed != 0 || i != len(stack)/4-1 {
					t.Fatalf("bottom of stack in word %d of % x", i, stack)
				}
			}
		}
	})
}

func TestR042Copies(t *testing.T) {
	for _, v := range variants(inband.Version2016, inband.Version05, inband.Version10) {
		v.d.ReplicaPolicy = ReplicateBoth
		plain := build(v.s)
		original := insert(t, v.d, plain, Instruction{Bitmap: 0x8000}, node(1))
		duplicate := bytes.Clone(original)
		if !v.d.MarkCopy(duplicate) {
			t.Fatalf("%s: not marked", v.name)
		}
		if p := parse(t, v.d, original); p.INT.C {
			t.Errorf("%s: the original has C", v.name)
		}
		if p := parse(t, v.d, duplicate); !p.INT.C || badSums(duplicate) != nil {
			t.Errorf("%s: copy %+v, %v", v.name, p.INT, badSums(duplicate))
		}
		back, s := strip(t, v.d, push(t, v.d, duplicate, node(2)))
		if wantSame(t, v.name, back, plain); !s.C || !s.Discard {
			t.Errorf("%s: stripped %+v", v.name, s)
		}
	}
	d := newDomain(inband.Version20, DstPort)
	if d.MarkCopy(insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))) ||
		d.MarkCopy(build(packets.Shape{})) || d.MarkCopy(nil) {
		t.Error("marked what has no C")
	}
}

func TestR043FollowUp(t *testing.T) {
	for _, v := range variants(inband.Version2016, inband.Version05) {
		plain := build(v.s)
		original := insert(t, v.d, plain, Instruction{Bitmap: 0x9000}, node(1))
		p := parse(t, v.d, original)
		out, r := v.d.FollowUp(nil, p, node(2))
		if r.Action != Pushed {
			t.Fatalf("%s: %+v", v.name, r)
		}
		q := parse(t, v.d, out)
		if q.INT.Type != inband.TypeDestination || badSums(out) != nil {
			t.Errorf("%s: %+v, %v", v.name, q.INT, badSums(out))
		}
		// It has all metadata, and triggers nothing.
		whole := push(t, v.d, original, node(2))
		if w := parse(t, v.d, whole); !bytes.Equal(out[q.INT.Destination+8:q.INT.DestinationEnd],
			whole[w.INT.Stack:w.INT.StackEnd]) {
			t.Errorf("%s: metadata % x", v.name, out[q.INT.Destination:q.INT.DestinationEnd])
		}
		if same, r := v.d.Push(nil, q, node(3), 0); r.Why != DestinationOnly || !bytes.Equal(same, out) {
			t.Errorf("%s: %+v", v.name, r)
		}
		back, s := strip(t, v.d, out)
		if wantSame(t, v.name, back, plain); !s.Discard {
			t.Errorf("%s: it leaves the domain", v.name)
		}
		if same, r := v.d.FollowUp(nil, p, nil); r.Action != Forwarded || !bytes.Equal(same, original) {
			t.Errorf("%s: without metadata: %+v", v.name, r)
		}
	}
}

func TestR044DSFlags(t *testing.T) {
	for _, mode := range []Mode{MD, MX} {
		d := newDomain(inband.Version20, DstPort)
		d.Mode, d.DomainID = mode, codepoint.TSDomain
		d.DSFlags = 0x8000
		plain := build(packets.Shape{Payload: 9})
		frame := insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1))
		out, r := d.SetDSFlags(nil, parse(t, d, frame), 0x2000)
		p := parse(t, d, out)
		if r.Action != Marked || p.INT.DSFlags != 0xA000 || len(out) != len(frame) || badSums(out) != nil {
			t.Errorf("%+v, %+v, %v", r, p.INT, badSums(out))
		}
		back, s := strip(t, d, out)
		if wantSame(t, "stripped", back, plain); s.DSFlags != 0xA000 {
			t.Errorf("stripped %+v", s)
		}
		if same, r := d.SetDSFlags(nil, p, 0x8000); r.Action != Forwarded || !bytes.Equal(same, out) {
			t.Errorf("set before: %+v", r)
		}
		if _, r := d.SetDSFlags(nil, parse(t, d, plain), 1); r.Why != NoINT {
			t.Errorf("without INT: %+v", r)
		}
	}
	d := newDomain(inband.Version10, DSCP)
	if _, r := d.SetDSFlags(nil,
		parse(t, d, insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))),
		1); r.Why != WrongMode {
		t.Errorf("INT 1.0: %+v", r)
	}
}

func TestR045MXKeepsItsSize(t *testing.T) {
	each(t, variants(inband.Version20), func(t *testing.T, d *Domain, frame []byte) {
		d.Mode = MX
		out := insert(t, d, frame, Instruction{Bitmap: 0x9001, SourceInserted: []byte("sequence")}, nil)
		same, r := d.Push(nil, parse(t, d, out), node(2), 0)
		if wantSame(t, "transit", same, out); r.Action != Forwarded || r.Why != WrongMode {
			t.Errorf("%+v", r)
		}
		back, s := strip(t, d, out)
		if wantSame(t, "stripped", back, frame); s.Bitmap != 0x9000 || string(s.SourceInserted) != "sequence" ||
			s.Type != inband.TypeMX {
			t.Errorf("stripped %+v", s)
		}
	})
}

func TestR046UnknownVersionAndType(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		known := insert(t, d, frame, Instruction{Bitmap: 0x9000}, node(1))
		p := parse(t, d, known)

		out := bytes.Clone(known)
		out[p.INT.Header] = out[p.INT.Header]&0x0F | 0x70
		q := parse(t, d, out)
		if q.INT.Malformed != wire.ErrUnknownINTVersion || q.INT.Version != inband.VersionUnknown {
			t.Errorf("version: %+v", q.INT)
		}
		same, r := d.Push(nil, q, node(2), 0)
		if wantSame(t, "unknown version", same, out); r.Why != UnknownVersion {
			t.Errorf("version: %+v", r)
		}

		out = bytes.Clone(known)
		setType(t, d, out, 9)
		q = parse(t, d, out)
		if d.Carrier == Marker && !q.INT.Present { // a marker without a known type announces nothing
			return
		}
		same, r = d.Push(nil, q, node(2), 0)
		if wantSame(t, "unknown type", same, out); r.Why != UnknownType {
			t.Errorf("type: %+v, %+v", r, q.INT)
		}
	})
}
