package telemetry_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// benchPoints are the code points of the reports that package test makes.
func benchPoints(t testing.TB) *codepoint.Config {
	t.Helper()
	c := codepoint.New()
	for key, value := range map[string]any{
		"int_udp_port": test.INTPort, "int_dscp": 0x17,
		"int_format_for_version_0": "v0.5",
	} {
		if err := c.Set(key, value); err != nil {
			t.Fatal(err)
		}
	}
	c.Compile()
	return c
}

func TestDecodeMadeReports(t *testing.T) {
	c := benchPoints(t)
	for _, form := range test.Forms {
		for _, hops := range []int{1, 3, 5} {
			h, reports := decode(t, c, test.Report(form, 77, 9, hops))
			if h.Outcome != telemetry.Decoded {
				t.Fatalf("%s: outcome %v, reason %v", form, h.Outcome, h.Reason)
			}
			for _, r := range reports {
				if r.Flow.DstPort != 4000 || !r.Is(telemetry.HasFlow) {
					t.Errorf("%s: flow %v", form, &r.Flow)
				}
				if r.Bytes != 20+8+18 {
					t.Errorf("%s: got %d bytes, want those of the packet without INT", form, r.Bytes)
				}
				if r.Is(telemetry.Embedded) && len(r.Hops) != hops {
					t.Errorf("%s: got %d hops, want %d", form, len(r.Hops), hops)
				}
				for i, hop := range r.Hops {
					if hop.NodeID != uint32(i+1) || hop.LatencyNs < 1000 {
						t.Errorf("%s: hop %d: %+v", form, i, hop)
					}
				}
			}
		}
	}
}

func TestDecodeNoAllocs(t *testing.T) {
	d := telemetry.NewDecoder(benchPoints(t))
	var batch telemetry.Batch
	var h telemetry.Header
	for _, form := range test.Forms {
		payload := test.Report(form, 77, 9, 5)
		if allocs := testing.AllocsPerRun(200, func() {
			batch.Reset()
			d.Decode(payload, anySource, 6000, &batch, &h)
		}); allocs != 0 {
			t.Errorf("%s: got %v allocations, want 0", form, allocs)
		}
	}
}

// BenchmarkReportDecode is the way of a report from the UDP payload to a filled telemetry.Report, with 5 hops in a
// stack. gp/report is the ratio to what gopacket takes for the headers around the telemetry alone, see test.Headers.
func BenchmarkReportDecode(b *testing.B) {
	for _, form := range test.Forms {
		b.Run(string(form), func(b *testing.B) {
			d := telemetry.NewDecoder(benchPoints(b))
			var payloads [64][]byte // not one, so that branches are not all predicted
			for i := range payloads {
				payloads[i] = test.Report(form, uint32(i*7919), uint32(i), 5)
			}
			var batch telemetry.Batch
			var h telemetry.Header
			d.Decode(payloads[0], anySource, 6000, &batch, &h)
			reports, i := len(batch.Reports), 0
			headers := test.NewHeaders()
			b.SetBytes(int64(len(payloads[0])))
			b.ReportAllocs()
			headers.Loop(b, reports, func(int) {}, func(n int) {
				for range n {
					batch.Reset()
					d.Decode(payloads[i&63], anySource, 6000, &batch, &h)
					i++
				}
			})
			if len(batch.Reports) != reports {
				b.Fatal("not all was decoded")
			}
		})
	}
}

// BenchmarkGopacketBaseline is what gopacket takes for the headers around the telemetry alone.
func BenchmarkGopacketBaseline(b *testing.B) {
	headers := test.NewHeaders()
	b.ReportAllocs()
	i := 0
	for b.Loop() {
		headers.Parse(b, i)
		i++
	}
}
