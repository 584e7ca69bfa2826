package dissect

import (
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

// TestCapturesWithoutDialect reads packets of programs that depart from the specifications without being told so. Nothing
// that they got wrong may come out as if it were right: where a number could be wrong, there is an error or a mark.
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
			if inner := tlv.Find("inner").Layers(); len(inner) != 2 || inner[0].Name != "ipv4" || inner[1].Name != "tcp" {
				t.Errorf("TLV %d: got %+v", i, tlv)
			}
		}
	}
}
