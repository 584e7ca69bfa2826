package dissect

import (
	"encoding/hex"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
	"github.com/waybill-int/waybill/wire/packet"
)

// TestCapturesWithoutDialect reads packets of programs that depart from the specifications without being told so.
// Nothing that they got wrong may come out as if it were right: where a number could be wrong, there is an error or a
// mark.
func TestCapturesWithoutDialect(t *testing.T) {
	cfg := codepoint.New()
	cfg.Compile()
	for _, tr := range loadTruths(t) {
		for point := range tr.Statistics {
			for i, b := range readPcap(t, tr.Scenario+"_"+point+".pcap") {
				layers := Packet(b, Ethernet, cfg)
				report, user := userLayers(layers)
				if l := layerNamed(user, "int_"); l != nil {
					t.Fatalf("%s/%s packet %d: %s although nothing announces INT", tr.Scenario, point, i+1, l.Name)
				}
				if report == nil {
					continue
				}
				failed := false
				for range Errors(layers) {
					failed = true
				}
				switch {
				case strings.HasPrefix(tr.Scenario, "tps"): // RepType, InType and the lengths are wrong
					if !failed {
						t.Errorf("%s packet %d: no error", tr.Scenario, i+1)
					}
				case strings.HasPrefix(tr.Scenario, "onos_v10"): // the flags stand in reserved bits
					if report.Find("reserved") == nil {
						t.Errorf("%s packet %d: no mark", tr.Scenario, i+1)
					}
				case failed:
					t.Errorf("%s packet %d: error", tr.Scenario, i+1)
				}
			}
		}
	}
}

// TestQuirks looks for the mark of every dialect in the captures of its program.
func TestQuirks(t *testing.T) {
	for _, c := range []struct{ file, layer, want string }{
		{"onos_v10_tcp_reports.pcap", "telemetry_report_v1_0", "flags_first"},
		{"onos_v10_tcp_reports.pcap", "int_hbh_v1", "cut_stack"},
		{"onos_fabric_v04_udp_s2s3.pcap", "int_hbh_v0_5", "version_2_bits"},
		{"geant_v04_udp_s2s3.pcap", "int_hbh_v0_5", "version_2_bits,bitmap_low,wide_timestamps"},
		{"geant_v10_head_udp_s2s3.pcap", "int_hbh_v1", "wide_timestamps"},
		{"geant_v10_2021_udp_s2s3.pcap", "int_hbh_v1", "bitmap_low,wide_timestamps"},
		{"tps_v21_udp_s2s3.pcap", "int_shim_l4_v2", "length_counts_shim"},
		{"tps_v21_udp_reports.pcap", "telemetry_report_v2_0", "ts_core_report"},
		{"montimage_fl_udp_reports.pcap", "int_shim_l4_v1", "unmarked"},
		{"montimage_fl_udp_reports.pcap", "int_hbh_v1", "wide_timestamps"},
	} {
		layers := Packet(readPcap(t, c.file)[0], Ethernet, scenarioConfig(t, c.file))
		if l := layerNamed(layers, c.layer); l == nil || l.Find(quirkField).Text() != c.want {
			t.Errorf("%s: %s: got %+v, want quirk %s", c.file, c.layer, l, c.want)
		}
	}
}

// TestReport05WithOtherNibble reads a v0.5 report whose version nibble is 1.
func TestReport05WithOtherNibble(t *testing.T) {
	for _, v := range loadVectors(t) {
		if v.Name != "tr05_switch_local" {
			continue
		}
		b := v.bytes
		b[42] |= 0x10
		if err := v.cfg.Set("profile", "report05"); err != nil {
			t.Fatal(err)
		}
		v.cfg.Compile()
		report, user := userLayers(Packet(b, v.start, v.cfg))
		if report == nil || report.Name != "telemetry_report_v0_5" || report.Find("version").Number() != 1 ||
			report.Find(quirkField).Text() != "report_0_5" || layerNamed(user, "udp") == nil {
			t.Errorf("got %+v, %+v", report, user)
		}
	}
}

// TestNestedTLVs reads the draft in which TLVs of type 0 hold packet fragments.
func TestNestedTLVs(t *testing.T) {
	for _, v := range loadVectors(t) {
		if v.Name != "ts_nested_tlv_draft" {
			continue
		}
		if err := v.cfg.Set("profile", "ts-nested-tlv"); err != nil {
			t.Fatal(err)
		}
		v.cfg.Compile()
		layers := Packet(v.bytes, v.start, v.cfg)
		if layers[0].Find(quirkField).Text() != "nested_tlv" {
			t.Errorf("quirk: got %q", layers[0].Find(quirkField).Text())
		}
		for i, tlv := range layers[0].Find("reports").Objects()[0].Find("tlvs").Objects() {
			if inner := tlv.Find("inner").Layers(); len(inner) != 2 || inner[0].Name != "ipv4" ||
				inner[1].Name != "tcp" {
				t.Errorf("TLV %d: got %+v", i, tlv)
			}
		}
	}
}

// TestVersion0OverUDP reads an INT header of version nibble 0 whose Hop ML fits no width of the metadata. It is what
// the code point says, so that no word of a stack of 1.0 is taken for a tail of 0.5.
func TestVersion0OverUDP(t *testing.T) {
	b, err := hex.DecodeString("01000b0000000803ff000000" + strings.Repeat("0000000400020003", 4))
	if err != nil {
		t.Fatal(err)
	}
	for setting, want := range map[string]string{"v1.0": "int_hbh_v1", "v0.5": "int_hbh_v0_5"} {
		cfg := codepoint.New()
		if err := cfg.Apply(map[string]any{
			"int_udp_port": 0, "int_dscp": 23,
			"int_format_for_version_0": setting,
		}); err != nil {
			t.Fatal(err)
		}
		cfg.Compile()
		layers := Packet(b, INTShimL4v1, cfg)
		if layerNamed(layers, want) == nil {
			t.Errorf("%s: no %s in %s", setting, want, AppendJSON(nil, layers))
		}
		if tail := layerNamed(layers, "int_tail_v0_5"); (tail != nil) != (setting == "v0.5") {
			t.Errorf("%s: tail %v", setting, tail)
		}
	}
}

// TestIFABehindGRE reads IFA metadata behind a GRE header, of version 3 too, whose header is that of version 2.
func TestIFABehindGRE(t *testing.T) {
	vectors := loadVectors(t)
	i := slices.IndexFunc(vectors, func(v *vector) bool { return v.Name == "ifa2_udp_two_hops" })
	v := vectors[i]
	const ip, l4 = 14, 14 + 20 + 4
	gre := slices.Concat(v.bytes[:l4], []byte{0, 0, 8, 0}, v.bytes[l4+8:]) // for the UDP header of 8 bytes
	gre[ip+20+1] = packet.ProtoGRE
	for _, version := range []byte{2, 3} {
		gre[ip+20] = version<<4 | gre[ip+20]&0x0f
		want := layerNamed(Packet(v.bytes, v.start, v.cfg), "ifa_metadata")
		got := layerNamed(Packet(gre, v.start, v.cfg), "ifa_metadata")
		if got == nil || len(got.Find("hops").Objects()) != len(want.Find("hops").Objects()) {
			t.Errorf("version %d: got %+v, want the hops of %+v", version, got, want)
		}
	}
}
