package node

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/packets"
)

// A domain inside of another one leaves the INT of the outer one as it is, whatever both carry it in (INT 2.1 §5.7.2).
func TestNestedDomains(t *testing.T) {
	outer := []string{
		"carrier: dscp\n", "carrier: dst-port\n", "carrier: new-udp\n", "carrier: gre\n",
		"version: 1.0\ncarrier: dscp\n", "version: 0.5\n",
	}
	inner := []string{
		"carrier: new-udp\npoints: {int_udp_port: 5555}\n", "carrier: dst-port\npoints: {int_udp_port: 5555}\n",
		"carrier: marker\npoints: {probe_marker: 0xAABBCCDDEEFF0011}\n",
		"mode: mx\ncarrier: new-udp\npoints: {int_udp_port: 5555}\n",
		"carrier: gre\npoints: {gre_int_protocol: 0x4570}\n", "mode: xd\n",
	}
	seed, all := test.Seed(t)
	rounds := 25
	if all {
		rounds = 1000
	}
	for _, out := range outer {
		for _, in := range inner {
			t.Run(out+in, func(t *testing.T) {
				r := rand.New(rand.NewPCG(1, seed))
				inserted := uint64(0)
				for range rounds {
					c := newChain(t, 2, out)
					c.mayCut = true // the collector knows one of the two domains
					far := c.nodes[1]
					c.nodes = c.nodes[:1]
					for i := range 3 {
						c.nodes = append(c.nodes, newNode(t, in, testSpec(uint32(10+i), i == 0, i == 2)))
					}
					c.nodes = append(c.nodes, far)
					s := packets.Random(r)
					s.DSCP = 0
					frame := s.Frame(r)
					got := c.send(frame)
					if got == nil {
						for _, n := range c.nodes {
							n.stats.Each(func(name string, count uint64) { t.Log(n.spec.NodeID, name, count) })
						}
						t.Fatalf("%v: lost\n%x", s, frame)
					}
					if !bytes.Equal(routed(got), routed(frame)) {
						t.Fatalf("%v:\ngot  %x\nwant %x", s, routed(got), routed(frame))
					}
					if behind, before := c.links[3], c.links[0]; !bytes.Equal(routed(behind), routed(before)) {
						t.Fatalf("%v: the outer INT was changed:\ngot  %x\nwant %x", s, routed(behind), routed(before))
					}
					if c.nodes[0].stats.Count[Inserted] > 0 {
						inserted += c.nodes[1].stats.Count[Inserted]
					}
				}
				// Behind the GRE header of one domain there is neither TCP nor UDP for the other.
				impossible := strings.Contains(out, "gre") && strings.Contains(in, "marker")
				if inserted == 0 && in != "mode: xd\n" && !impossible {
					t.Error("no packet had INT of both domains")
				}
			})
		}
	}
}
