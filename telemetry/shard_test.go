package telemetry

import (
	"math/rand/v2"
	"testing"
)

// Both directions of a flow belong to the same shard, and flows are spread over all.
func TestShardOf(t *testing.T) {
	g := rand.New(rand.NewPCG(1, 2))
	const flows = 100_000
	for _, n := range []int{1, 2, 3, 16} {
		counts := make([]int, n)
		for i := range flows {
			k := FlowKey{
				Src: AddrFrom4([4]byte{10, 0, byte(g.Uint32()), byte(g.Uint32())}), SrcPort: uint16(g.Uint32()),
				Dst: AddrFrom4([4]byte{192, 0, 2, byte(g.Uint32() & 7)}), DstPort: 443, Protocol: 6,
			}
			if i%2 == 0 { // addresses that are near each other, without ports
				k = FlowKey{Src: Addr{1 << 61, uint64(i)}, Dst: Addr{1 << 61, 1}, TunnelID: 7, Protocol: 58}
			}
			back := k
			back.Src, back.Dst, back.SrcPort, back.DstPort = k.Dst, k.Src, k.DstPort, k.SrcPort
			at := k.ShardOf(n)
			if other := back.ShardOf(n); other != at {
				t.Fatalf("%v is of shard %d, and its way back of %d", &k, at, other)
			}
			counts[at]++
		}
		for shard, got := range counts {
			if want := flows / n; got < want*95/100 || got > want*105/100 {
				t.Errorf("shard %d of %d has %d flows of %d", shard, n, got, flows)
			}
		}
	}
}
