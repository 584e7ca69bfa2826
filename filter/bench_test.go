package filter

import (
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

const typical = "node = 3 and latency > 50us and src in 10.0.0.0/8 and not proto = tcp"

func BenchmarkParse(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(everything, typical); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSQL(b *testing.B) {
	e, err := Parse(everything, typical)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		e.SQL(DuckDB, testNow)
	}
}

func BenchmarkMatch(b *testing.B) {
	var row Row = rowOf(b, "node=3 latency=60us src=10.0.0.1 proto=17 name=leaf1 list=1,2,3")
	for _, bc := range []struct{ name, text string }{
		{"typical", typical},
		{"one", "node = 3"},
		{"long_list", "node in (90, 91, 92, 93, 94, 95, 96, 97, 98, 99)"},
		{"many", "list = 3"},
		{"like", `name like "leaf%"`},
		{"regex", `name ~ "^leaf[0-9]+$"`},
	} {
		b.Run(bc.name, func(b *testing.B) {
			e, err := Parse(everything, bc.text)
			if err != nil {
				b.Fatal(err)
			}
			m := e.Matcher(clock)
			b.ReportAllocs()
			for b.Loop() {
				m.Match(row)
			}
		})
	}
}

// BenchmarkMatchFlow matches a flow as lists and streams do.
func BenchmarkMatchFlow(b *testing.B) {
	id, node := uint32(42), uint32(3)
	flow := telemetry.Flow{
		Endpoints: telemetry.Endpoints{
			Src: netip.MustParseAddr("10.0.0.1"), Dst: netip.MustParseAddr("10.0.0.2"), SrcPort: 5001, DstPort: 443,
			Protocol: "udp", Tunnel: "vxlan", TunnelID: &id,
		},
		Packets: 1000, Bytes: 1 << 20, Last: testNow, Residence: &telemetry.Distribution{P99: 2e6, RelativeError: 0.01},
		Paths: []telemetry.FlowPath{{Hops: []telemetry.PathHop{{Node: &id}, {Node: &node}}}},
	}
	for _, bc := range []struct{ name, text string }{
		{"number", "packets > 10"},
		{"pointer", "tunnel_id = 42"},
		{"address", "addr in 10.0.0.0/8"},
		{"enum", "protocol = udp"},
		{"distribution", "residence.p99 > 1ms"},
		{"time", "last > now-5m"},
		{"node", "node = 3"},
		{"typical", "node = 3 and residence.p99 > 50us and src in 10.0.0.0/8 and not proto = tcp"},
	} {
		b.Run(bc.name, func(b *testing.B) {
			e, err := Parse(Flows, bc.text)
			if err != nil {
				b.Fatal(err)
			}
			m := e.Matcher(clock)
			b.ReportAllocs()
			for b.Loop() {
				if !m.Match(FlowTable.Row(&flow)) {
					b.Fatal("does not match")
				}
			}
		})
	}
}
