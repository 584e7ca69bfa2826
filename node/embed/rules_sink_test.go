// Rules for the sink:
//
//	R-54  TestR054RestoresPortAndProtocol
//	R-55  TestR055RestoresDSCP
//	R-56  TestR056G
//	R-57  TestR057DiscardsD
//	R-58  TestR058DiscardsCopies
//	R-59  TestR059OwnMetadataInTheStack
//	R-61  TestR061Malformed
package embed

import (
	"encoding/binary"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

func TestR054RestoresPortAndProtocol(t *testing.T) {
	for _, c := range []Carrier{DstPort, NewUDP} {
		for k := range packets.NumKinds {
			for _, newIP := range []bool{false, true} {
				for _, ipv6 := range []bool{false, true} {
					d := newDomain(inband.Version20, c)
					d.NewIP = newIP
					plain := build(packets.Shape{Kind: k, IPv6: ipv6, IPOptions: true, Payload: 30})
					before := parse(t, d, plain)
					frame := push(t, d, insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1)), node(2))
					if p := parse(t, d, frame); p.Protocol != packet.ProtoUDP ||
						binary.BigEndian.Uint16(frame[p.L4+2:]) != 17768 || p.Flow != before.Flow {
						t.Errorf("carrier %d, %v: protocol %d, flow %v", c, k, p.Protocol, p.Flow)
					}
					back, s := strip(t, d, frame)
					wantSame(t, k.String(), back, plain)
					if wantNPT := map[bool]Carrier{true: DstPort, false: NewUDP}[c == DstPort &&
						before.sum.of == sumUDP]; s.Carrier != wantNPT {
						t.Errorf("carrier %d, %v: stripped carrier %d", c, k, s.Carrier)
					}
				}
			}
		}
	}
	d := newDomain(inband.Version05, DstPort) // TCP too, from the tail
	plain := build(packets.Shape{Kind: packets.TCP, Port: 443})
	frame := insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1))
	if p := parse(t, d, frame); binary.BigEndian.Uint16(frame[p.L4+2:]) != 17768 || p.Flow.DstPort != 443 {
		t.Errorf("flow %v", p.Flow)
	}
	back, _ := strip(t, d, frame)
	wantSame(t, "0.5", back, plain)
}

func TestR055RestoresDSCP(t *testing.T) {
	for _, version := range []inband.Version{inband.Version05, inband.Version10, inband.Version20} {
		for dscp := range uint8(64) {
			for _, ipv6 := range []bool{false, true} {
				d := newDomain(version, DSCP)
				plain := build(packets.Shape{DSCP: dscp, IPv6: ipv6})
				plain, _ = d.CleanMark(nil, parse(t, d, plain))
				frame := insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1))
				back, _ := strip(t, d, frame)
				p := parse(t, d, back)
				if want := dscp; want != 0x17 && p.DSCP != want || p.DSCP == 0x17 {
					t.Errorf("version %d: DSCP %#02x became %#02x", version, dscp, p.DSCP)
				}
			}
		}
	}
	// With a mark of one bit nodes may change the others on the way.
	d := newDomain(inband.Version20, DSCP)
	d.Points.INTDSCP, d.Points.INTDSCPMask = 0x01, 0x01
	frame := insert(t, d, build(packets.Shape{DSCP: 0x2E}), Instruction{Bitmap: 0x8000}, node(1))
	e := edit{p: parse(t, d, frame), f: frame}
	e.dscp(0x0B)
	back, _ := strip(t, d, frame)
	if p := parse(t, d, back); p.DSCP != 0x0A {
		t.Errorf("DSCP %#02x, want 0x0A", p.DSCP)
	}
}

func TestR056G(t *testing.T) {
	for _, k := range []packets.Kind{packets.VXLAN, packets.GPE} {
		d := newDomain(inband.Version20, VXLANGPE)
		plain := build(packets.Shape{Kind: k})
		frame := push(t, d, insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1)), node(2))
		back, _ := strip(t, d, frame)
		wantSame(t, k.String(), back, plain)
		if p := parse(t, d, frame); p.Flow != parse(t, d, plain).Flow || p.Outer != parse(t, d, plain).Outer {
			t.Errorf("%v: flow %v, outer %v", k, p.Flow, p.Outer)
		}
	}
	for k := range packets.NumKinds {
		for _, ipv6 := range []bool{false, true} {
			for tags := range 3 {
				d := newDomain(inband.Version20, GRE)
				plain := build(packets.Shape{Kind: k, IPv6: ipv6, Tags: tags, Padding: 3})
				frame := push(t, d, insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1)), node(2))
				if wrong := badSums(frame); wrong != nil {
					t.Errorf("%v: %v", k, wrong)
				}
				back, _ := strip(t, d, frame)
				wantSame(t, k.String(), back, plain)
			}
		}
	}
	// The vector has VXLAN made VXLAN-GPE by somebody else.
	d := newDomain(inband.Version20, VXLANGPE)
	back, _ := strip(t, d, vector(t, "int21_md_vxlan_gpe"))
	if p := parse(t, d, back); p.Outer.DstPort != packet.PortVXLAN || back[p.tunnelAt] != packet.VXLANFlagI ||
		back[p.tunnelAt+3] != 0 {
		t.Errorf("outer %v, header % x", p.Outer, back[p.tunnelAt:p.tunnelAt+8])
	}
	// A header of INT in front of an IP packet of the other version: the EtherType is that of the packet.
	d = newDomain(inband.Version20, GRE)
	plain := build(packets.Shape{IPv6: true})
	frame := insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))
	p := parse(t, d, frame)
	binary.BigEndian.PutUint16(frame[p.INT.Shim+2:], packet.EtherTypeIPv6)
	frame = append(frame[:p.INT.End:p.INT.End], plain[14:]...)
	binary.BigEndian.PutUint16(frame[16:], uint16(len(frame)-14))
	back, _ = strip(t, d, frame)
	wantSame(t, "IPv6 in IPv4", back, plain)
}

func TestR057DiscardsD(t *testing.T) {
	for _, mode := range []Mode{MD, MX} {
		each(t, variants(inband.Version20), func(t *testing.T, d *Domain, frame []byte) {
			d.Mode = mode
			for _, discard := range []bool{false, true} {
				back, s := strip(t, d, insert(t, d, frame, Instruction{Bitmap: 0x8000, D: discard}, node(1)))
				if s.Discard != discard || s.D != discard || mode == MD && s.Hops != 1 {
					t.Errorf("%+v", s)
				}
				wantSame(t, "packet", back, frame)
			}
		})
	}
}

func TestR058DiscardsCopies(t *testing.T) {
	each(t, variants(inband.Version2016, inband.Version05, inband.Version10),
		func(t *testing.T, d *Domain, frame []byte) {
			original := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
			if _, s := strip(t, d, original); s.Discard || s.C {
				t.Errorf("original: %+v", s)
			}
			d.MarkCopy(original)
			if _, s := strip(t, d, original); !s.Discard || !s.C || s.Hops != 1 {
				t.Errorf("copy: %+v", s)
			}
		})
}

func TestR059OwnMetadataInTheStack(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		carrying := insert(t, d, frame, Instruction{Bitmap: 0x8000}, node(1))
		// A sink that adds its record and reports the packet before it strips it.
		reported := push(t, d, carrying, node(9))
		back, s := strip(t, d, reported)
		wantSame(t, "packet", back, frame)
		wantNodes(t, &s, 9, 1)
	})
}

func TestR061Malformed(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		carrying := insert(t, d, frame, Instruction{Bitmap: 0x9000}, node(1))
		p := parse(t, d, carrying)
		damage := func(what string, at int, v byte, want wire.Error) {
			t.Helper()
			out := append([]byte(nil), carrying...)
			out[at] = v
			q := parse(t, d, out)
			if q.INT.Malformed != want {
				t.Errorf("%s: got %v, want %v", what, q.INT.Malformed, want)
			}
			back, s, err := d.Strip(nil, q)
			if err != want || s.Discard || s.Hops != 0 || s.Records != nil {
				t.Errorf("%s: %+v, error %v", what, s, err)
			}
			wantSame(t, what, back, frame)
		}
		// What the length covers is right: it is removed, whatever it is.
		switch d.Version {
		case inband.Version20, inband.Version10:
			damage("Hop ML", p.INT.Header+2, 3, wire.ErrHopMLMismatch)
		default:
			damage("Instruction Count", p.INT.Header+1, 3, wire.ErrInstructionCountMismatch)
		}
		damage("version", p.INT.Header, 0x70, wire.ErrUnknownINTVersion)

		// A length that is not inside the packet: nothing leaves.
		out := append([]byte(nil), carrying...)
		at, want := p.INT.Shim+d.shimLengthAt(), wire.ErrShimLengthOverrun
		v := byte(200)
		if d.Carrier == Geneve {
			v, want = 31, wire.ErrGeneveOptionOverrun
		}
		out[at] = v
		q := parse(t, d, out)
		back, s, err := d.Strip([]byte("before"), q)
		if q.INT.Malformed != want || err != want || !s.Discard || string(back) != "before" {
			t.Errorf("overrun: %+v, %+v, error %v", q.INT, s, err)
		}
	})
	// A mark without INT behind it.
	d := newDomain(inband.Version20, DSCP)
	for _, payload := range []int{0, 1, 3, 100} {
		frame := build(packets.Shape{DSCP: 0x17, Payload: payload})
		p := parse(t, d, frame)
		if !p.INT.Present || p.INT.Malformed == 0 {
			t.Errorf("%d bytes: %+v", payload, p.INT)
		}
		if out, s, err := d.Strip(nil, p); err == nil || s.Removed == 0 && (len(out) != 0 || !s.Discard) {
			t.Errorf("%d bytes: %+v, %v", payload, s, err)
		}
	}
	// A Next Protocol Type that does not say how to undo INT.
	d = newDomain(inband.Version20, DstPort)
	frame := insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))
	frame[parse(t, d, frame).INT.Shim] |= 0x0C
	if out, s, err := d.Strip(nil, parse(t, d, frame)); err != wire.ErrUnknownNPT || !s.Discard || len(out) != 0 {
		t.Errorf("NPT 3: %+v, %v", s, err)
	}
	// A shim of INT 1.0, which cannot keep the port, and a tail that is not there.
	frame = insert(t, d, build(packets.Shape{Kind: packets.UDPNoChecksum}), Instruction{Bitmap: 0x8000}, node(1))
	copy(frame[parse(t, d, frame).INT.Shim:], []byte{1, 0, 3, 0})
	if out, s, err := d.Strip(nil, parse(t, d, frame)); err != wire.ErrUnknownINTVersion || !s.Discard ||
		len(out) != 0 {
		t.Errorf("1.0 by port: %+v, %v", s, err)
	}
	old := newDomain(inband.Version05, DstPort)
	frame = insert(t, old, build(packets.Shape{Kind: packets.UDPNoChecksum}), Instruction{Bitmap: 0x8000}, node(1))
	frame[parse(t, old, frame).INT.Shim+2] = 1
	if out, s, err := old.Strip(nil, parse(t, old, frame)); err != wire.ErrTailMissing || !s.Discard || len(out) != 0 {
		t.Errorf("without tail: %+v, %v", s, err)
	}
	// A fragment cannot be put together without INT.
	frame = insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))
	frame[20] |= 0x20
	e := edit{p: &Packet{L3: 14, IPVersion: 4}, f: frame}
	frame[20] &^= 0x20
	e.ip16(20, binary.BigEndian.Uint16(frame[20:])|0x2000)
	if out, s, err := d.Strip(nil, parse(t, d, frame)); err != ErrFragment || !s.Discard || len(out) != 0 {
		t.Errorf("fragment: %+v, %v", s, err)
	}
}
