package filter

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// What a condition selects by keys and by all that is known is what its filter selects, wherever it is compiled: of
// node names it brings what they mean.
func TestFlowConditions(t *testing.T) {
	now := time.Unix(1_800_000_000, 0)
	r := rand.New(rand.NewPCG(1, 2))
	schema := FlowTable.Schema().WithNodes(map[string]uint32{"leaf1": 1, "leaf2": 2})
	selected := 0
	for _, text := range []string{
		"", "dst_port = 443", "src in 10.0.0.0/30", "dst_port = 443 and packets > 50", "packets > 50 or dst_port = 443",
		"node = leaf1", "not node = leaf2 and protocol = tcp", "last > now - 10s", "dst_port != 443 and last > now - 10s",
		"src in 10.0.0.0/30 and dst_port = 443", "drops > 0", "protocol = udp and packets <= 50",
	} {
		e, err := Parse(schema, text)
		if err != nil {
			t.Fatalf("%s: %v", text, err)
		}
		match, selects := e.FlowCondition(now).Compile()
		whole := e.Matcher(func() time.Time { return now })
		for range 200 {
			node := 1 + r.Uint32N(2)
			key := telemetry.FlowKey{
				Src: telemetry.AddrFrom4([4]byte{10, 0, 0, byte(r.UintN(8))}), Protocol: uint8(6 + 11*r.UintN(2)),
				Dst: telemetry.AddrFrom4([4]byte{10, 0, 1, 1}), SrcPort: uint16(r.UintN(9)),
				DstPort: uint16(442 + r.UintN(2)),
			}
			f := telemetry.Flow{
				ID: fmt.Sprintf("%016x", key.Hash()), Endpoints: telemetry.EndpointsOf(&key), Packets: r.Uint64N(100),
				Drops: r.Uint64N(2), Last: now.Add(-time.Duration(r.UintN(20)) * time.Second),
				Paths: []telemetry.FlowPath{{Hops: []telemetry.PathHop{{Node: &node}}}},
			}
			want := whole.Match(FlowTable.Row(&f))
			got := (match == nil || match(&key)) && (selects == nil || selects(&f))
			if got != want {
				t.Fatalf("%q: %v of %+v, want %v", text, got, f, want)
			}
			if want {
				selected++
			}
			of := FlowCondition{Filter: e.String(), NowNs: now.UnixNano(), OneIn: 3, nodes: e.schema.nodes}
			match, selects := of.Compile()
			got = (match == nil || match(&key)) && (selects == nil || selects(&f))
			if got != (want && key.Hash()%3 == 0) {
				t.Fatalf("1 in 3 of %q: %v of flow %s, which it selects: %v", text, got, f.ID, want)
			}
		}
	}
	if selected < 500 {
		t.Errorf("%d flows were selected", selected)
	}
	if match, _ := (FlowCondition{Filter: "nothing ="}).Compile(); match(&telemetry.FlowKey{}) {
		t.Error("a filter that cannot be read selects a flow")
	}
}
