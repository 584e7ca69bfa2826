package fabric

import (
	"math/rand/v2"
	"net/netip"
	"testing"
)

// A table finds what a search through all prefixes finds.
func TestTable(t *testing.T) {
	for _, size := range []int{4, 16} {
		random := rand.New(rand.NewPCG(1, uint64(size)))
		address := func() []byte {
			b := make([]byte, size)
			for i := range b {
				b[i] = byte(random.IntN(3) * 85) // few values, so that prefixes nest
			}
			return b
		}
		table := newTable()
		routes := map[netip.Prefix]*route{}
		for range 300 {
			addr, _ := netip.AddrFromSlice(address())
			prefix, _ := addr.Prefix(random.IntN(size*8 + 1))
			routes[prefix] = &route{}
			table.insert(prefix, routes[prefix])
		}
		for range 20000 {
			b := address()
			addr, _ := netip.AddrFromSlice(b)
			var want *route
			for bits := range size*8 + 1 {
				prefix, _ := addr.Prefix(bits)
				if r := routes[prefix]; r != nil {
					want = r
				}
			}
			if table.lookup(b) != want {
				t.Fatalf("wrong route for %s", addr)
			}
		}
	}
}

func TestTableEmpty(t *testing.T) {
	if newTable().lookup([]byte{10, 0, 0, 1}) != nil {
		t.Error("a route from nowhere")
	}
}

func BenchmarkTableLookup(b *testing.B) {
	table := newTable()
	for i := range 64 {
		table.insert(netip.PrefixFrom(netip.AddrFrom4([4]byte{10, 0, byte(i), 0}), 24), &route{})
	}
	addr := []byte{10, 0, 17, 9}
	b.ReportAllocs()
	for b.Loop() {
		table.lookup(addr)
	}
}
