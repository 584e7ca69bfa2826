// Packets of testdata/vectors that carry INT:
//
//	TestVectorsRebuilt  stripped, and then inserted and pushed again, every packet is what it was
//	TestVectorsBad      INT that breaks a rule has the reason that the vector says
package embed

import (
	"encoding/hex"
	"encoding/json"
	"os"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/inband"
	"github.com/waybill-int/waybill/wire/packet"
)

// vector returns the bytes of a vector.
func vector(t testing.TB, name string) []byte {
	t.Helper()
	text, err := os.ReadFile("../../testdata/vectors/" + name + ".json")
	if err != nil {
		t.Fatal(err)
	}
	var v struct{ Hex string }
	if err := json.Unmarshal(text, &v); err != nil {
		t.Fatal(err)
	}
	b, err := hex.DecodeString(v.Hex)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// inUDP returns an Ethernet frame with b as the payload of UDP to port, over IPv4 and without checksum.
func inUDP(port uint16, b []byte) []byte {
	eth := packet.Ethernet{EtherType: packet.EtherTypeIPv4}
	ip := packet.IPv4{
		IHL: 5, TotalLength: uint16(28 + len(b)), TTL: 64, Protocol: packet.ProtoUDP,
		Src: [4]byte{10, 0, 0, 1}, Dst: [4]byte{10, 0, 0, 2},
	}
	ip.Checksum = ip.HeaderChecksum()
	udp := packet.UDP{SrcPort: 50001, DstPort: port, Length: uint16(8 + len(b))}
	return append(udp.Append(ip.Append(eth.Append(nil))), b...)
}

func TestVectorsRebuilt(t *testing.T) {
	const (
		sourcePort  = 34 // of the outermost UDP header over IPv4; an INT node chooses its own
		outerIPSum  = 24
		outerIPAddr = 26
	)
	for _, c := range []struct {
		name    string
		version inband.Version
		carrier Carrier
		change  func(d *Domain)
		port    uint16 // to put the vector behind UDP
		free    []int  // bytes that are not compared
		flags   bool   // the flags of the header are not compared
	}{
		{name: "int05_vxlan_gpe_all", version: inband.Version05, carrier: VXLANGPE, port: packet.PortVXLANGPE},
		{name: "int10_tcp_dscp", version: inband.Version10, carrier: DSCP},
		{
			name: "int10_version_nibble_zero", version: inband.Version10, carrier: DSCP, flags: true,
			change: func(d *Domain) {
				d.Points.FormatVersion0 = codepoint.Version0INT10
			},
		},
		{
			name: "int10_vxlan_gpe_all", version: inband.Version10, carrier: VXLANGPE, port: packet.PortVXLANGPE,
			flags: true,
		},
		{
			name: "int2016_all_bits_copy_e", version: inband.Version2016, carrier: VXLANGPE, port: packet.PortVXLANGPE,
			flags: true,
		},
		{name: "int21_md_all_bits_invalid", version: inband.Version20, carrier: DstPort, flags: true},
		{
			name: "int21_md_checksum_complement", version: inband.Version20, carrier: DstPort,
			change: func(d *Domain) { d.Complement = true },
		},
		{name: "int21_md_geneve", version: inband.Version20, carrier: Geneve},
		{name: "int21_md_gre_ipv4", version: inband.Version20, carrier: GRE, free: []int{
			outerIPSum, outerIPSum + 1, outerIPAddr, outerIPAddr + 1, outerIPAddr + 2, outerIPAddr + 3, outerIPAddr + 4,
			outerIPAddr + 5, outerIPAddr + 6, outerIPAddr + 7,
		}},
		{
			name: "int21_md_new_udp_tcp", version: inband.Version20, carrier: NewUDP,
			free: []int{sourcePort, sourcePort + 1},
		},
		{
			name: "int21_md_per_hop_ds", version: inband.Version20, carrier: NewUDP,
			free: []int{sourcePort + 20, sourcePort + 21}, change: func(d *Domain) {
				d.DomainID, d.DSInstruction, d.Complement = testDomainID, 0x2000, true
				d.Points.Domains[testDomainID] = &codepoint.Domain{2: {Bytes: 8}}
			},
		},
		{name: "int21_md_probe_marker", version: inband.Version20, carrier: Marker},
		{
			name: "int21_md_source_only", version: inband.Version20, carrier: NewUDP,
			free: []int{sourcePort, sourcePort + 1}, change: func(d *Domain) {
				d.DomainID, d.DSInstruction, d.DSFlags = codepoint.TSDomain, 0x8000, 0x4000
			},
		},
		{name: "int21_md_tcp_dscp", version: inband.Version20, carrier: DSCP},
		{name: "int21_md_udp_npt1_ipv6", version: inband.Version20, carrier: DstPort},
		{name: "int21_md_vxlan_gpe", version: inband.Version20, carrier: VXLANGPE},
		{
			name: "int21_mx_gre_key_ethernet", version: inband.Version20, carrier: GRE,
			change: func(d *Domain) { d.Mode = MX },
		},
		{
			name: "int21_mx_new_udp_ipsec", version: inband.Version20, carrier: NewUDP,
			free: []int{sourcePort, sourcePort + 1}, change: func(d *Domain) {
				d.Mode, d.NewIP = MX, true
			},
		},
		{
			name: "int21_mx_source_inserted", version: inband.Version20, carrier: NewUDP,
			free: []int{sourcePort, sourcePort + 1}, change: func(d *Domain) {
				d.Mode, d.DomainID, d.DSInstruction = MX, testDomainID, 0xC000
			},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDomain(c.version, c.carrier)
			if c.change != nil {
				c.change(d)
			}
			want := vector(t, c.name)
			if c.port != 0 {
				want = inUDP(c.port, want)
			}
			p := parse(t, d, want)
			if !p.INT.Present || p.INT.Malformed != 0 {
				t.Fatalf("Parse: %+v", p.INT)
			}
			d.ReplicaPolicy = ReplicaPolicy(want[p.INT.Header]) >> 2 & 3 // where 0.5 and 1.0 have Rep
			plain, s := strip(t, d, want)
			got := rebuild(t, d, plain, &s)
			if c.flags {
				c.free = append(c.free, p.INT.Header, p.INT.Header+1)
			}
			if len(got) == len(want) {
				for _, at := range c.free {
					got[at] = want[at]
				}
			}
			wantSame(t, "rebuilt", got, want)
		})
	}
}

// rebuild inserts what was stripped into plain, node by node.
func rebuild(t *testing.T, d *Domain, plain []byte, s *Stripped) []byte {
	t.Helper()
	ins := Instruction{
		Bitmap: s.Bitmap, MaxHops: uint8(s.Hops) + s.Remaining, D: s.D, SourceOnly: s.SourceOnly,
		SourceInserted: s.SourceInserted,
	}
	records := make([]inband.Metadata, s.Hops)
	for i := range records {
		s.Layout.Decode(s.Stack.Record(i), &records[i])
		records[i].Has &^= inband.Complement
	}
	slices.Reverse(records) // the source comes first
	if d.Mode == MX {
		return insert(t, d, plain, ins, nil)
	}
	ins.DS = s.Stack.DSMetadata(s.Hops - 1)
	frame := insert(t, d, plain, ins, &records[0])
	for i := range records[1:] {
		out, r := d.PushDS(nil, parse(t, d, frame), &records[1+i], s.Stack.DSMetadata(s.Hops-2-i), 0)
		if r.Action != Pushed {
			t.Fatalf("Push: %+v", r)
		}
		frame = out
	}
	return frame
}

func TestVectorsBad(t *testing.T) {
	for name, want := range map[string]wire.Error{
		"bad_int21_hopml_bitmap_mismatch": wire.ErrHopMLMismatch,
		"bad_int21_length_below_header":   wire.ErrINTHeaderTruncated,
		"bad_int21_length_overrun":        wire.ErrShimLengthOverrun,
		"bad_int21_stack_not_multiple":    wire.ErrStackNotMultiple,
		"bad_int21_unknown_type":          wire.ErrUnknownINTType,
	} {
		// Their shims have NPT 1 or 0: either way something is to be wrong with them, and with nothing else.
		for _, c := range []Carrier{DstPort, DSCP} {
			d := newDomain(inband.Version20, c)
			frame := inUDP(17768, vector(t, name))
			if c == DSCP {
				frame[15] = 0x17 << 2
				e := edit{p: &Packet{L3: 14, IPVersion: 4}, f: frame}
				frame[15] = 0
				e.dscp(0x17)
			}
			p := parse(t, d, frame)
			if !p.INT.Present {
				t.Fatalf("%s: not found", name)
			}
			if p.INT.Malformed != want && p.INT.Malformed != wire.ErrUnknownNPT {
				t.Errorf("%s: got %v, want %v", name, p.INT.Malformed, want)
			}
		}
	}
	for name, want := range map[string]wire.Error{
		"bad_int2016_count_mismatch": wire.ErrInstructionCountMismatch,
		"bad_int2016_early_bos":      wire.ErrBOSBeforeBottom,
	} {
		d := newDomain(inband.Version2016, VXLANGPE)
		b := vector(t, name)
		gpe := packet.VXLANGPE{Flags: 0x0C, NextProtocol: gpe5, VNI: 7}
		shim := inband.ShimGPEOld{Type: inband.TypeHopByHop, Length: uint8(1 + len(b)/4), NextProtocol: packet.NextIPv4}
		frame := inUDP(packet.PortVXLANGPE, append(shim.Append(gpe.Append(nil)), b...))
		if p := parse(t, d, frame); p.INT.Malformed != want {
			t.Errorf("%s: got %v, want %v", name, p.INT.Malformed, want)
		}
	}
}
