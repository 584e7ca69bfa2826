//go:build linux

package bpf

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/node"
	"github.com/waybill-int/waybill/node/embed"
	"github.com/waybill-int/waybill/wire/packet"
)

// TestWithdraw takes the record of a transit node out of packets that are dropped behind it: what is left is what came,
// byte for byte, with its checksums. The record was put in by a node.Node.
func TestWithdraw(t *testing.T) {
	for i, text := range []string{
		"mode: md", "version: 1.0", "version: 2016", "version: 2016\ncarrier: vxlan-gpe", "carrier: geneve",
		"carrier: vxlan-gpe",
		"version: 1.0\ncarrier: geneve", "version: 1.0\ncarrier: vxlan-gpe", "carrier: dst-port", "carrier: new-udp",
	} {
		t.Run(text, func(t *testing.T) {
			source := newNode(t, text, testSpec(3, true, false), nil)
			transit := newNode(t, text, testSpec(4, false, false), nil)
			d := source.Domain()
			c := sameCase{trial: &trial{t: t}, r: rand.New(rand.NewPCG(uint64(i), 1))}
			r := Reporter{Node: transit}
			pass := func(n *node.Node, frame []byte) []byte {
				var s node.State
				var out node.Output
				n.Process(frame, node.Ingress{Port: 1, TimeNs: 1000}, func(*node.State) node.Egress {
					return node.Egress{Port: 2, DepartedNs: 2000}
				}, &s, &out)
				return bytes.Clone(out.Frame)
			}
			seen := map[string]int{}
			for range 2000 {
				came := pass(source, c.frame(d))
				left := pass(transit, came)
				var p embed.Packet
				if len(left) <= len(came) || d.Parse(left, &p) != nil {
					continue
				}
				e := Event{Bytes: left, Len: len(left), Record: p.INT.Stack, RecordLen: len(left) - len(came)}
				seen[fmt.Sprint(p.IPVersion, p.Protocol == packet.ProtoTCP)]++
				if got := r.withdraw(&e); !bytes.Equal(got, came) {
					t.Fatalf("got\n%x, want\n%x", got, came)
				}
			}
			if seen["4 false"] < 50 || seen["6 false"] < 50 {
				t.Errorf("only %v", seen)
			}
		})
	}
}
