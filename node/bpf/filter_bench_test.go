//go:build linux

package bpf

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/watch"
)

// BenchmarkFilters is what a packet costs at its arrival that is compared with so many filters, none of which drops it.
func BenchmarkFilters(b *testing.B) {
	if os.Geteuid() != 0 {
		b.Skip("programs are loaded by root only")
	}
	p, err := load(Config{}, true)
	if err != nil {
		b.Fatalf("%+v", err)
	}
	defer p.Close()
	err = errors.Join(p.AddPort(Port{ID: 1, Edge: true, Ifindex: inIfindex}),
		p.AddPort(Port{ID: 2, Ifindex: outIfindex}),
		p.objects.Tests.Put(uint32(0), trialTest{Out: outIfindex, MTU: 1500}))
	if err != nil {
		b.Fatal(err)
	}
	r := rand.New(rand.NewPCG(1, 2))
	frame := packets.Shape{Kind: packets.UDP}.Frame(r)
	n := 0
	for _, filters := range []int{0, 1, MaxFilters} {
		for ; n < filters; n++ {
			to := netip.PrefixFrom(netip.AddrFrom4([4]byte{198, 51, 100, byte(n)}), 32)
			match := node.FilterMatch{Entry: watch.Entry{Dst: watch.Prefix{Prefix: to}}}
			if err := p.SetFilter(fmt.Sprint(n), &match); err != nil {
				b.Fatal(err)
			}
		}
		b.Run(fmt.Sprint(filters), func(b *testing.B) {
			_, took, err := p.objects.Arrive.Benchmark(frame, max(b.N, 1000), nil)
			if err != nil {
				b.Fatal(err)
			}
			b.ReportMetric(float64(took.Nanoseconds()), "ns/packet")
		})
	}
}
