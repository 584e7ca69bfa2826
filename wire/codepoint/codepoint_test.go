package codepoint

import (
	"fmt"
	"net/netip"
	"strings"
	"testing"
)

func TestSetAcceptsWhatVectorsAndFilesSay(t *testing.T) {
	c := New()
	err := c.Apply(map[string]any{
		"int_udp_port": float64(17768), "int_dscp": "23", "gre_int_protocol": "0x4569",
		"probe_marker":              "0xaabbccddeeff0011",
		"vxlan_gpe_next_protocol_5": "int-2016", "int_format_for_version_0": "2016", "geneve_int_class": 171,
		"ds_lengths":  map[string]any{"0xabcd": map[string]any{"2": float64(8), "0": "source-only 4"}},
		"report_port": []any{6000, "0x1f40"}, "ifa_ip_protocol": uint64(253), "int_before_tcp_options": true,
		"dialects": map[string]any{"10.0.0.0/24:32766": "onos-int10-ver0", "10.0.0.3": "tps"},
	})
	if err != nil {
		t.Fatal(err)
	}
	if c.INTUDPPort != 17768 || c.INTDSCP != 23 || c.INTDSCPMask != 63 || c.GREProtocol != 0x4569 ||
		c.ProbeMarker != 0xaabbccddeeff0011 {
		t.Errorf("numbers: got %+v", c.Points)
	}
	if c.GPENextProtocol5 != GPE5INT2016 || c.FormatVersion0 != Version0INT2016 || len(c.GeneveClasses) != 2 ||
		c.ReportPorts[1] != 8000 {
		t.Errorf("names and lists: got %+v", c.Points)
	}
	if d := c.Domains[0xabcd]; d.PerHopBytes(0xa000) != 8 || d.SourceOnlyBytes(0xa000) != 4 ||
		c.SourceOnly(0xabcd, 0x2000) != 0 || c.SourceOnly(0x1234, 0) != -1 {
		t.Errorf("domain: got %+v", d)
	}
	if len(c.Rules) != 2 {
		t.Errorf("rules: got %+v", c.Rules)
	}
}

// What Map says, Apply takes, and it comes to the same.
func TestMapRoundTrip(t *testing.T) {
	a := New()
	if err := a.Apply(map[string]any{
		"int_udp_port": 17768, "int_dscp": 23, "int_dscp_mask": 31, "probe_marker": "0xaabbccddeeff0011",
		"vxlan_gpe_next_protocol_5": "ioam",
		"int_format_for_version_0":  "v1.0", "ds_lengths": map[string]any{"0xabcd": map[string]any{"2": 8}},
		"int_before_tcp_options": true, "source_nodes": map[string]any{"192.0.2.3": 3, "2001:db8::3": "0x10"},
		"dialects": map[string]any{
			"10.0.0.0/24:32766": "onos-int10-ver0", "[2001:db8::/32]:556": "tps",
			":6000": "geant-int04",
		},
	}); err != nil {
		t.Fatal(err)
	}
	b := New()
	if err := b.Apply(a.Map()); err != nil {
		t.Fatal(err)
	}
	if got, want := fmt.Sprint(b.Map()), fmt.Sprint(a.Map()); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
}

func TestSetRefuses(t *testing.T) {
	for _, c := range []struct {
		key  string
		v    any
		want string
	}{
		{"int_dcsp", 1, "unknown code point"},
		{"int_dscp", 64, "at most 63"},
		{"int_udp_port", "http", "want a number"},
		{"int_udp_port", -1, "want a number"},
		{"probe_marker", "0x11223344556677889", "want a number"},
		{"int_format_for_version_0", "3", "want one of 2016, none, v0.5, v1.0"},
		{"ds_lengths", map[string]any{"0xabcd": map[string]any{"2": 7}}, "multiple of 4"},
		{"ds_lengths", map[string]any{"0xabcd": map[string]any{"16": 4}}, "at most 15"},
		{"ds_lengths", 4, "want a mapping"},
		{"source_nodes", map[string]any{"leaf1": 3}, "want an address"},
		{"source_nodes", map[string]any{"192.0.2.3": -3}, "192.0.2.3: "},
		{"dialects", map[string]any{"10.0.0.1": "cisco"}, "unknown dialect"},
		{"dialects", map[string]any{"10.0.0.300": "tps"}, "want PREFIX[:PORT]"},
		{"dialects", map[string]any{"10.0.0.3:x": "tps"}, "bad port"},
	} {
		if err := New().Set(c.key, c.v); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s=%v: got %v, want %q", c.key, c.v, err, c.want)
		}
	}
}

func TestForPicksTheMostSpecificRule(t *testing.T) {
	c := New()
	for _, r := range [][2]string{
		{"any", "spec"},
		{"10.0.0.0/8", "geant-int10"},
		{"10.0.0.3", "tps"},
		{"10.0.0.3:32766", "onos-int10-ver0"},
		{"[2001:db8::/32]:556", "transparent-security"},
		{":6000", "geant-int04"},
	} {
		rule, err := ParseRule(r[0], r[1])
		if err != nil {
			t.Fatal(err)
		}
		c.Rules = append(c.Rules, rule)
	}
	c.Compile()
	for _, x := range []struct {
		src  string
		dst  uint16
		want string
	}{
		{"192.0.2.1", 8555, "spec"},
		{"192.0.2.1", 6000, "geant-int04"},
		{"10.9.9.9", 6000, "geant-int10"},
		{"10.0.0.3", 1, "tps"},
		{"10.0.0.3", 32766, "onos-int10-ver0"},
		{"2001:db8::1", 556, "tps"},
		{"2001:db8::1", 557, "spec"},
	} {
		if got := c.For(netip.MustParseAddr(x.src), 0, x.dst).Dialect.Name; got != x.want {
			t.Errorf("%s to port %d: got %s, want %s", x.src, x.dst, got, x.want)
		}
	}
	if p := c.For(netip.MustParseAddr("10.0.0.3"), 0, 32766); !p.MarksDSCP(0x17) || p.MarksDSCP(0) {
		t.Error("the dialect's own code points are missing in its profile")
	}
	if c.MarksDSCP(0x17) {
		t.Error("a dialect's code points leaked into those of the deployment")
	}
}

func TestDefaultTakesNoUserTraffic(t *testing.T) {
	p := Default()
	if p.INTUDPPort != 0 || p.MarksDSCP(0) || p.ProbeMarker != 0 || p.GREProtocol != 0 || p.IFAProtocol != 0 ||
		p.GPEIOAMNextProtocol != 0 {
		t.Errorf("got %+v", p)
	}
}
