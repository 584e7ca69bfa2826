package dissect

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/wire"
)

var noAddr netip.Addr

// TestErrorTexts holds that every error has a text for people.
func TestErrorTexts(t *testing.T) {
	for e := wire.Error(1); e < wire.NumErrors; e++ {
		if errorTexts[e] == "" {
			t.Errorf("%v has no text", e)
		}
	}
	if got := ErrorText(wire.NumErrors); got != "unknown error" {
		t.Errorf("no error: got %q", got)
	}
}

// TestFlowOf looks through what INT puts between the headers of a flow.
func TestFlowOf(t *testing.T) {
	want := map[string]string{
		"int10_tcp_dscp":                 "10.0.1.1:49152 -> 10.0.2.2:80 TCP",
		"int21_md_udp_npt1_ipv6":         "[2001:db8:1::1]:40000 -> [2001:db8:2::2]:4791 UDP",
		"int21_md_new_udp_tcp":           "10.0.1.1:49152 -> 10.0.2.2:80 TCP",
		"int21_md_per_hop_ds":            "[2001:db8:1::1]:1 -> [2001:db8:2::2]:2 UDP",
		"int21_mx_new_udp_ipsec":         "10.0.1.1 -> 10.0.2.2 IPv4",
		"int2016_geneve":                 "192.0.2.1:50001 -> 192.0.2.2:6081 UDP",
		"int21_md_gre_ipv4":              "192.0.2.1 -> 192.0.2.2 GRE",
		"ioam_ipv6_e2e":                  "[2001:db8:1::1]:40000 -> [2001:db8:2::2]:53 UDP",
		"ifa2_udp_two_hops":              "172.16.1.7:1100 -> 172.16.2.8:2200 UDP",
		"tr05_int05_tcp":                 "10.0.1.1:49152 -> 10.0.2.2:22 TCP",
		"tr20_embedded_int_md_new_udp":   "10.0.1.1:49152 -> 10.0.2.2:80 TCP",
		"tr20_coalesced_three":           "10.0.1.1:49152 -> 10.0.2.2:80 TCP; [2001:db8:1::1]:40000 -> [2001:db8:2::2]:53 UDP",
		"ts_tracked_flow_as_implemented": "192.168.1.2:51000 -> 10.2.1.10:80 TCP",
		"ts_drop_report":                 "",
	}
	for _, v := range loadVectors(t) {
		text, ok := want[v.Name]
		if !ok {
			continue
		}
		var flows []string
		for _, fragment := range Fragments(Packet(v.bytes, v.start, v.cfg)) {
			if f, ok := FlowOf(fragment); ok {
				flows = append(flows, f.String())
			}
		}
		if got := strings.Join(flows, "; "); got != text {
			t.Errorf("%s: got %q, want %q", v.Name, got, text)
		}
	}
}

// TestSummary describes packets of different kinds in a line.
func TestSummary(t *testing.T) {
	want := map[string]string{
		"int21_md_geneve":          "192.0.2.1 -> 192.0.2.2  UDP 50002 -> 6081, INT-MD path 257 514 771",
		"int2016_all_bits_copy_e":  "UDP 40000 -> 53",
		"ioam_ipv6_dex":            "2001:db8:1::1 -> 2001:db8:2::2  UDP 40000 -> 53, IOAM",
		"tr05_drop":                "192.0.2.11 -> 192.0.2.200  telemetry report v0.5 of a drop (reason 80) of node 168496141, about 10.0.1.1:40000 -> 10.0.2.2:53 UDP",
		"tr20_coalesced_three":     "(3 reports), drop (reason 60)",
		"bad_int21_unknown_type":   "int_shim_l4_v2, int_contents, error unknown_int_type",
		"bad_tr20_tlv_overrun":     "telemetry report v2.0 of node 16, error tlv_overrun",
		"bad_tr_unknown_version":   "telemetry report, error unknown_version",
		"ioam_ipv6_all_fields_oss": "IOAM path 11259375 11259375",
	}
	for _, v := range loadVectors(t) {
		if text := want[v.Name]; text != "" {
			if got := Summary(Packet(v.bytes, v.start, v.cfg)); !strings.Contains(got, text) {
				t.Errorf("%s: got %q, want %q", v.Name, got, text)
			}
		}
	}
}

// TestAppendValue writes values with their units, and none for what is not available.
func TestAppendValue(t *testing.T) {
	for _, c := range []struct {
		field       Field
		want, human string
	}{
		{Field{Value: uint64(331), Width: 32, Unit: "us"}, "331 us", ""},
		{Field{Value: uint64(10432059), Width: 32, Unit: "us"}, "10432059 us", "10.432059s"},
		{Field{Value: uint64(1500), Width: 32, Unit: "ns"}, "1500 ns", "1.5µs"},
		{Field{Value: uint64(2000), Width: 32, Unit: "ms"}, "2000 ms", "2s"},
		{
			Field{Value: uint64(1795216415817140301), Width: 64, Unit: "ns"},
			"1795216415817140301 ns",
			"2026-11-20 23:13:35.817140301 UTC",
		},
		{Field{Value: uint64(1) << 63, Width: 64, Unit: "us"}, "9223372036854775808 us", ""},
		{Field{Value: uint64(1610612736), Width: 32, Unit: "unix s"}, "1610612736 s", "2021-01-14 08:25:36 UTC"},
		{Field{Value: uint64(0xffffffff), Width: 32, Unit: "ns", Meaning: NotAvailable}, "not available", ""},
		{Field{Value: uint64(0x112233), Width: 56}, "0x00000000112233", ""},
		{Field{Value: false, Width: 1}, "false", ""},
		{Field{Value: []string{"a", "b"}}, "a, b", ""},
		{Field{Value: []string{}}, "none", ""},
		{Field{Value: wire.ErrNoReport}, "no_report", ""},
		{Field{Value: Object{}}, "", ""},
	} {
		if got := string(AppendValue(nil, &c.field)); got != c.want {
			t.Errorf("%+v: got %q, want %q", c.field, got, c.want)
		}
		if got := humanTime(&c.field); got != c.human {
			t.Errorf("%+v: got %q, want %q", c.field, got, c.human)
		}
	}
}

// TestNilFields asks fields that are not there.
func TestNilFields(t *testing.T) {
	var f *Field
	if f.Number() != 0 || f.Text() != "" || f.Flag() || f.Objects() != nil || f.Layers() != nil {
		t.Error("a nil field has a value")
	}
}

// TestErrorsStops ends the walk through the errors of a packet early.
func TestErrorsStops(t *testing.T) {
	failed := []Field{errorAt(wire.ErrNoReport, 0)}
	layers := []Layer{
		{Fields: []Field{{Name: "o", Value: Object(failed)}}},
		{Fields: []Field{{Name: "l", Value: []Object{failed}}}},
		{Fields: []Field{{Name: "n", Value: []Layer{{Fields: failed}}}}},
	}
	n := 0
	for range Errors(layers) {
		n++
	}
	if n != 3 {
		t.Errorf("got %d errors, want 3", n)
	}
	for i := range layers {
		n := 0
		for range Errors(append(layers[i:i+1:i+1], layers...)) {
			n++
			break
		}
		if n != 1 {
			t.Errorf("got %d errors, want 1", n)
		}
	}
}

func BenchmarkPacket(b *testing.B) {
	for _, v := range loadVectors(b) {
		switch v.Name {
		case "tr05_switch_local", "tr10_min_int10_udp", "tr20_embedded_int_md_new_udp", "int21_md_all_bits_invalid":
			b.Run(v.Name, func(b *testing.B) {
				b.ReportAllocs()
				b.SetBytes(int64(len(v.bytes)))
				for b.Loop() {
					Packet(v.bytes, v.start, v.cfg)
				}
			})
		}
	}
}

func BenchmarkAppendJSON(b *testing.B) {
	for _, v := range loadVectors(b) {
		if v.Name != "tr20_embedded_int_md_new_udp" {
			continue
		}
		layers := Packet(v.bytes, v.start, v.cfg)
		buf := AppendJSON(nil, layers)
		b.ReportAllocs()
		for b.Loop() {
			buf = AppendJSON(buf[:0], layers)
		}
	}
}
