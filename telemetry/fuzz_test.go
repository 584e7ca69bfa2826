package telemetry_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// profiles are code points that switch on everything, under every dialect.
func profiles(t testing.TB) []*codepoint.Config {
	t.Helper()
	var list []*codepoint.Config
	for i, d := range codepoint.Dialects {
		c := codepoint.New()
		err := c.Apply(map[string]any{
			"profile": d.Name, "int_udp_port": test.INTPort, "int_dscp": 0x17, "probe_marker": "0xaabbccddeeff0011",
			"gre_int_protocol": 0x4569,
			"geneve_int_class": 0xab, "vxlan_gpe_ioam_next_protocol": 0x83, "ifa_ip_protocol": 253,
			"vxlan_gpe_next_protocol_5": []string{"int-2016", "int-0.5", "ioam"}[i%3],
			"int_format_for_version_0":  []string{"2016", "v0.5", "v1.0"}[i%3],
			"ds_lengths":                map[string]any{"0xabcd": map[string]any{"0": 4, "2": 8}},
			"source_nodes":              map[string]any{anySource.Addr().String(): 77},
		})
		if err != nil {
			t.Fatal(err)
		}
		c.Compile()
		list = append(list, c)
	}
	return list
}

// check holds what must be true of any datagram.
func check(t *testing.T, c *codepoint.Config, payload []byte) {
	t.Helper()
	h, reports := decode(t, c, payload[:len(payload):len(payload)])
	switch {
	case h.Outcome == telemetry.Decoded && h.Reason != 0,
		h.Outcome != telemetry.Decoded && h.Reason == 0,
		h.Outcome == telemetry.Damaged && len(reports) == 0,
		h.Outcome == telemetry.Malformed && len(reports) > 0,
		h.Reports != len(reports):
		t.Fatalf("outcome %v, reason %v, %d reports", h.Outcome, h.Reason, len(reports))
	}
	for i := range reports {
		if r := &reports[i]; len(r.Hops) > 255 || r.Flow.Tunnel > telemetry.TunnelIP {
			t.Fatalf("report %d: %+v", i, r)
		}
	}
}

// Every prefix and every single-bit flip of every report vector has one outcome and no panic, under every dialect.
func TestDecodeDamagedVectors(t *testing.T) {
	vectors := append(test.Vectors(t, "tr*"), test.Vectors(t, "ts_*")...)
	all := profiles(t)
	for _, v := range vectors {
		payload := payloadOf(t, &v)
		payload = payload[:min(len(payload), 200)]
		for i, c := range append(all, v.Points(t)) {
			if i%3 != len(payload)%3 && i < len(all) {
				continue // a third of the dialects for each vector keeps this short
			}
			for n := range len(payload) + 1 {
				check(t, c, payload[:n])
			}
			for bit := range 8 * len(payload) {
				payload[bit/8] ^= 1 << (bit % 8)
				check(t, c, payload)
				payload[bit/8] ^= 1 << (bit % 8)
			}
		}
	}
}

func FuzzDecode(f *testing.F) {
	for _, v := range append(test.Vectors(f, "*tr*"), test.Vectors(f, "ts_*")...) {
		if v.StartsAt == "telemetry_report" || v.StartsAt == "ethernet" {
			f.Add(uint8(0), payloadOf(f, &v))
		}
	}
	for i, form := range test.Forms {
		f.Add(uint8(i), test.Report(form, 1, 2, 3))
	}
	payload, _ := followUp(f, true)
	f.Add(uint8(0), payload)
	payload, _ = destinationData(f)
	f.Add(uint8(0), payload)
	all := profiles(f)
	f.Fuzz(func(t *testing.T, profile uint8, payload []byte) {
		check(t, all[int(profile)%len(all)], payload)
	})
}
