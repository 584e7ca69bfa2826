package codepoint

import (
	"encoding/json"
	"fmt"
	"testing"
)

// FuzzApply: what a file of code points says is taken or refused, and what is taken, Map says again.
func FuzzApply(f *testing.F) {
	for _, text := range []string{
		`{"int_udp_port": 17768, "int_dscp": "23", "probe_marker": "0xaabbccddeeff0011", "int_before_tcp_options": true}`,
		`{"ds_lengths": {"0xabcd": {"2": 8, "0": "source-only 4"}}, "report_port": [6000, "0x1f40"], "geneve_int_class": 171}`,
		`{"dialects": {"10.0.0.0/24:32766": "onos-int10-ver0", "[2001:db8::/32]:556": "tps", ":6000": "geant-int04"}}`,
		`{"vxlan_gpe_next_protocol_5": "int-2016", "int_format_for_version_0": "2016", "vxlan_gpe_int_next_protocols": [8]}`,
		`{"dialects": {"any": "auto"}, "ds_lengths": []}`, `{"int_dscp": "23/0x3f", "gre_int_protocol": -1}`,
	} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var m map[string]any
		if json.Unmarshal(text, &m) != nil {
			return
		}
		a, b := New(), New()
		if a.Apply(m) != nil {
			return
		}
		a.Compile()
		if err := b.Apply(a.Map()); err != nil {
			t.Fatalf("%s: %v is refused: %v", text, a.Map(), err)
		}
		if got, want := fmt.Sprint(b.Map()), fmt.Sprint(a.Map()); got != want {
			t.Errorf("%s:\ngot  %s\nwant %s", text, got, want)
		}
	})
}
