package embed

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/ioam"
	"github.com/waybill-int/waybill/wire/packet"
)

func TestCheck(t *testing.T) {
	for version, list := range carriers {
		for c := DstPort; c <= GRE; c++ {
			known := false
			for _, carrier := range list {
				known = known || carrier == c
			}
			if err := newDomain(version, c).Check(); (err == nil) != known {
				t.Errorf("version %d carrier %d: %v", version, c, err)
			}
		}
	}
	for _, c := range []struct {
		name   string
		change func(d *Domain)
		want   string
	}{
		{"no mode", func(d *Domain) { d.Mode = 0 }, "mode: want"},
		{"no version", func(d *Domain) { d.Version = 0 }, "version: want"},
		{"no carrier", func(d *Domain) { d.Carrier = 0 }, "carrier: want"},
		{"no port", func(d *Domain) { d.Points.INTUDPPort = 0 }, "code point is not configured"},
		{"port of reports", func(d *Domain) { d.Points.INTUDPPort = 8555 }, "port of telemetry reports"},
		{"port of VXLAN", func(d *Domain) { d.Points.INTUDPPort = 4789 }, "of a tunnel"},
		{"no hops", func(d *Domain) { d.MaxHops = 0 }, "number of hops"},
		{"MX of 1.0", func(d *Domain) { d.Mode, d.Version, d.Carrier = MX, inband.Version10, DSCP }, "only INT 2.x"},
		{"MX and complement", func(d *Domain) { d.Mode, d.Complement = MX, true }, "checksum complement: INT-MX"},
		{
			"0.5 and complement", func(d *Domain) { d.Version, d.Complement = inband.Version05, true },
			"checksum complement: this version",
		},
		{
			"GRE and complement", func(d *Domain) { d.Carrier, d.Complement, d.Points.GREProtocol = GRE, true, 0x4569 },
			"checksum complement: with this carrier",
		},
		{"2.1 and Rep", func(d *Domain) { d.ReplicaPolicy = ReplicatePorts }, "D instead"},
		{"Rep 4", func(d *Domain) { d.ReplicaPolicy = 4 }, "want 0 to 3"},
		{
			"DSCP and new IP",
			func(d *Domain) { d.Carrier, d.NewIP, d.Points.INTDSCP, d.Points.INTDSCPMask = DSCP, true, 1, 1 },
			"new IP header",
		},
		{
			"marker and options",
			func(d *Domain) { d.Carrier, d.BeforeTCPOptions, d.Points.ProbeMarker = Marker, true, 1 }, "TCP options",
		},
		{"0.5 and domain", func(d *Domain) { d.Version, d.DomainID = inband.Version05, 1 }, "Domain Specific ID"},
		{"default domain", func(d *Domain) { d.DSInstruction = 1 }, "domain 0"},
		{"unknown domain", func(d *Domain) { d.DomainID, d.DSInstruction = 9, 1 }, "not known for this domain"},
		{"too much source-only", func(d *Domain) {
			d.Carrier, d.DomainID, d.DSInstruction = Geneve, 9, 0x8000
			d.Points.Domains[9] = &codepoint.Domain{0: {Bytes: 124, SourceOnly: true}}
		}, "length field of the carrier"},
		{
			"GRE of IPv4", func(d *Domain) { d.Carrier, d.Points.GREProtocol = GRE, 0x0800 },
			"code point is not configured",
		},
		{"MPLS", func(d *Domain) {
			d.Version, d.Carrier, d.Points.GPENextProtocol5 = inband.Version05, VXLANGPE, codepoint.GPE5MPLS
		}, "code point is not configured"},
		{
			"no class", func(d *Domain) { d.Version, d.Carrier = inband.Version10, Geneve },
			"code point is not configured",
		},
	} {
		d := newDomain(inband.Version20, DstPort)
		c.change(d)
		if err := d.Check(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v, want %q", c.name, err, c.want)
		}
	}
	if err := (&Domain{Mode: XD}).Check(); err != nil {
		t.Errorf("XD: %v", err)
	}
}

func TestCheckInstruction(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	for _, c := range []struct {
		ins  Instruction
		want string
	}{
		{Instruction{Bitmap: 0xFF80}, ""},
		{Instruction{Bitmap: 0x8001}, "does not allow"},
		{Instruction{Bitmap: 0x8010}, "0x0010 mean nothing"},
		{Instruction{DSInstruction: 1}, "domain 0"},
		{Instruction{SourceOnly: []byte("12345678")}, "source-only"},
	} {
		if err := d.CheckInstruction(&c.ins); (err == nil) != (c.want == "") || err != nil &&
			!strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: got %v, want %q", c.ins, err, c.want)
		}
	}
	d.Mode = MX
	if d.CheckInstruction(&Instruction{SourceInserted: []byte("123")}) == nil ||
		d.CheckInstruction(&Instruction{SourceInserted: make([]byte, 1024)}) == nil {
		t.Error("source-inserted metadata of a wrong length: no error")
	}
	d.Mode, d.MaxHops = MD, 0
	if d.CheckInstruction(&Instruction{}) == nil || d.CheckInstruction(&Instruction{MaxHops: 1}) != nil {
		t.Error("maximum hop count")
	}
}

// In a domain of mode XD nothing is changed (INT 2.1 §3.1).
func TestXD(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	carrying := insert(t, d, build(packets.Shape{}), Instruction{Bitmap: 0x8000}, node(1))
	d.Mode = XD
	for _, frame := range [][]byte{build(packets.Shape{}), carrying} {
		p := parse(t, d, frame)
		inserted, r := d.Insert(nil, p, Instruction{Bitmap: 0x8000}, node(1), 0)
		if wantSame(t, "Insert", inserted, frame); r.Why != WrongMode {
			t.Errorf("%+v", r)
		}
		pushed, _ := d.Push(nil, p, node(1), 0)
		wantSame(t, "Push", pushed, frame)
		stripped, _, err := d.Strip(nil, p)
		if wantSame(t, "Strip", stripped, frame); err != nil || p.Flow.DstPort != 6001 {
			t.Errorf("%v, flow %v", err, p.Flow)
		}
	}
}

// A domain inside another one: each works on its own INT and leaves that of the other (INT 2.1 §5.7.2).
func TestNestedDomains(t *testing.T) {
	inner := newDomain(inband.Version20, DSCP)
	for _, c := range []Carrier{DstPort, NewUDP, VXLANGPE, Geneve, GRE} {
		outer := newDomain(inband.Version20, c)
		outer.Points.INTDSCP, outer.Points.INTDSCPMask = 0x17, 0x3F // so that it sees the flow
		plain := build(packets.Shape{Kind: packets.TCP, Payload: 50})
		carrying := push(t, inner, insert(t, inner, plain, Instruction{Bitmap: 0x8000}, node(1)), node(2))
		var s packets.Shape
		switch c {
		case VXLANGPE:
			s.Kind = packets.GPE
		case Geneve:
			s.Kind = packets.Geneve
		}
		if s.Kind != 0 { // in a tunnel between the domains
			frame := build(s)
			p := parse(t, outer, frame)
			at := p.tunnelAt + vxlanLen
			frame[p.sum.at], frame[p.sum.at+1] = 0, 0
			if frame[p.tunnelAt+3] = 3; c == Geneve {
				frame[p.tunnelAt], frame[p.tunnelAt+3] = 0, 0x58
			}
			e := edit{p: p, f: frame}
			e.resize(len(carrying) - (p.End - at))
			carrying = append(frame[:at:at], carrying...)
		}
		p := parse(t, outer, carrying)
		if p.INT.Present || !p.INT.Nested {
			t.Fatalf("carrier %d: %+v", c, p.INT)
		}
		frame := push(t, outer, insert(t, outer, carrying, Instruction{Bitmap: 0x9000}, node(11)), node(12))
		q := parse(t, outer, frame)
		if !q.INT.Present || !q.INT.Nested || q.INT.Hops != 2 || q.Flow != p.Flow {
			t.Errorf("carrier %d: %+v, flow %v", c, q.INT, q.Flow)
		}
		back, stripped := strip(t, outer, frame)
		wantSame(t, "inner domain", back, carrying)
		wantNodes(t, &stripped, 12, 11)
	}
}

// Frames that are not IP packets, or not whole, are forwarded as they are.
func TestForwardsWhatItCannotRead(t *testing.T) {
	d := newDomain(inband.Version20, DstPort)
	whole := build(packets.Shape{Tags: 1, Payload: 10})
	for _, c := range []struct {
		frame []byte
		want  error
	}{
		{nil, wire.ErrTruncatedEthernet},
		{whole[:13], wire.ErrTruncatedEthernet},
		{whole[:17], wire.ErrTruncatedVLAN},
		{whole[:30], wire.ErrTruncatedIPv4},
		{whole[:len(whole)-1], wire.ErrTruncatedIPv4},
		{append(bytes.Clone(whole[:12]), 0x08, 0x06, 0, 1), nil}, // ARP
	} {
		var p Packet
		if err := d.Parse(c.frame, &p); err != c.want || p.IPVersion != 0 || p.HasFlow {
			t.Errorf("%d bytes: %v, want %v", len(c.frame), err, c.want)
		}
		out, r := d.Insert(nil, &p, Instruction{Bitmap: 0x8000}, node(1), 0)
		if wantSame(t, "Insert", out, c.frame); r.Why != NotIP {
			t.Errorf("%+v", r)
		}
		out, r = d.Push(nil, &p, node(1), 0)
		if wantSame(t, "Push", out, c.frame); r.Why != NoINT {
			t.Errorf("%+v", r)
		}
		out, _, err := d.Strip(nil, &p)
		if wantSame(t, "Strip", out, c.frame); err != nil {
			t.Error(err)
		}
	}
}

func TestPacketFields(t *testing.T) {
	d := newDomain(inband.Version20, DSCP)
	frame := build(packets.Shape{Kind: packets.TCP, Tags: 2, DSCP: 46, TCPOptions: 8, Payload: 30, Padding: 4})
	p := parse(t, d, frame)
	if !p.Tagged || p.VLAN != 100 || p.PCP != 5 || p.L3 != 22 || p.L4 != 42 || p.Payload != 70 || p.End != 100 ||
		p.TotalLength != 78 {
		t.Errorf("%+v", p)
	}
	if p.IPVersion != 4 || p.Protocol != 6 || p.DSCP != 46 || p.Flow.SrcPort != 49152 || p.Flow.DstPort != 6001 ||
		p.Flow.Protocol != 6 || p.HasOuter {
		t.Errorf("%+v", p)
	}
	p = parse(t, d, build(packets.Shape{Kind: packets.VXLAN}))
	if !p.HasOuter || p.Flow.TunnelID != 0xbeef || p.Outer.DstPort != 4789 {
		t.Errorf("%+v", p)
	}
}

// INT goes in front of all other headers behind VXLAN-GPE, and the flow is found behind them.
func TestBehindVXLANGPE(t *testing.T) {
	d := newDomain(inband.Version20, VXLANGPE)
	d.Points.GPEIOAMNextProtocol = 0x55
	ip := packets.Shape{Port: 53}.AppendIP(nil, newRand(1))
	nsh := packet.NSH{TTL: 63, Length: 2, MDType: 2, NextProtocol: packet.NextIPv4, SPI: 7, SI: 255}
	ioamShim := ioam.Shim{Type: ioam.TypeE2E, HdrLen: 3, NextProtocol: packet.NextNSH}
	payload := append(append(ioamShim.Append(nil), make([]byte, 8)...), append(nsh.Append(nil), ip...)...)
	gpe := packet.VXLANGPE{Flags: 0x0C, NextProtocol: 0x55, VNI: 9}
	plain := inUDP(packet.PortVXLANGPE, append(gpe.Append(nil), payload...))
	before := parse(t, d, plain)
	if !before.HasFlow || before.Flow.DstPort != 53 || before.Flow.TunnelID != 9 {
		t.Errorf("flow %v", before.Flow)
	}
	frame := push(t, d, insert(t, d, plain, Instruction{Bitmap: 0x8000}, node(1)), node(2))
	if p := parse(t, d, frame); p.INT.Start != 50 || p.Flow != before.Flow || p.INT.Nested {
		t.Errorf("%+v, flow %v", p.INT, p.Flow)
	}
	back, _ := strip(t, d, frame)
	wantSame(t, "stripped", back, plain)
	// INT of another domain behind IOAM stays.
	plain = inUDP(packet.PortVXLANGPE, append(gpe.Append(nil), append(payload[:12:12], frame[50:]...)...))
	plain[53] = 0x82 // Next Protocol of the IOAM shim
	if p := parse(t, d, plain); p.INT.Present || !p.INT.Nested {
		t.Errorf("%+v", p.INT)
	}
}

// Senders of June 2016 set P, or I for it, and a bit that later became the version.
func TestR105FlagsOf2016(t *testing.T) {
	d := newDomain(inband.Version2016, VXLANGPE)
	frame := bytes.Clone(vector(t, "int2016_vxlan_gpe"))
	const flagsAt = 42
	for flags, want := range map[uint8]bool{0x0C: true, 0x08: true, 0x04: true, 0x18: true, 0x00: false, 0x10: false} {
		frame[flagsAt] = flags
		p := parse(t, d, frame)
		if p.INT.Present != want || want && (p.INT.Malformed != 0 || p.Flow.TunnelID != 0xBEEF) {
			t.Errorf("flags %#02x: %+v, flow %v", flags, p.INT, p.Flow)
		}
	}
}

func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for w := range WrongMode + 1 {
		if name := w.String(); name == "" || seen[name] {
			t.Errorf("reason %d: name %q", w, name)
		}
		seen[w.String()] = true
	}
	if Why(200).String() != WrongMode.String() || Action(200).String() != Popped.String() ||
		Inserted.String() != "inserted" {
		t.Error("names of values that are not defined")
	}
}

func TestNoAllocations(t *testing.T) {
	each(t, variants(), func(t *testing.T, d *Domain, frame []byte) {
		buf := make([]byte, 0, 2048)
		own := node(1)
		carrying := insert(t, d, frame, Instruction{Bitmap: 0xF000}, own)
		var p Packet
		allocs := testing.AllocsPerRun(100, func() {
			_ = d.Parse(frame, &p)
			buf, _ = d.Insert(buf[:0], &p, Instruction{Bitmap: 0xF000}, own, 1500)
			_ = d.Parse(carrying, &p)
			buf, _ = d.Push(buf[:0], &p, own, 1500)
			buf, _, _ = d.PopIntermediate(buf[:0], &p, own, nil, 1500)
			buf, _, _ = d.Strip(buf[:0], &p)
			buf, _ = d.CleanMark(buf[:0], &p)
			buf, _ = d.FollowUp(buf[:0], &p, own)
			buf, _ = d.SetDSFlags(buf[:0], &p, 1)
		})
		if allocs != 0 {
			t.Errorf("got %v allocations, want 0", allocs)
		}
	})
}
