//go:build linux

package kernel

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/packet"
)

// TestTunnels sends packets in tunnels through the routers, by sockets of the hosts: each comes out as it was sent, and
// is reported by its own flow and path.
func TestTunnels(t *testing.T) {
	const count, vni = 100, 77
	n := newNetwork(t)
	geneve := packet.Geneve{Protocol: packet.EtherTypeTEB, VNI: vni}
	gpe := packet.VXLANGPE{
		Flags: packet.VXLANFlagI | packet.VXLANFlagP, NextProtocol: packet.NextEthernet, VNI: vni,
	}
	vxlan := packet.VXLAN{Flags: packet.VXLANFlagI, VNI: vni}
	for _, row := range []struct {
		text   string
		port   int
		header []byte
		kind   telemetry.Tunnel
	}{
		{"version: 2016", packet.PortGeneve, geneve.Append(nil), telemetry.TunnelGeneve},
		{"version: 2016\n  carrier: vxlan-gpe", packet.PortVXLANGPE, gpe.Append(nil), telemetry.TunnelVXLANGPE},
		{"carrier: geneve", packet.PortGeneve, geneve.Append(nil), telemetry.TunnelGeneve},
		{"carrier: vxlan-gpe", packet.PortVXLAN, vxlan.Append(nil), telemetry.TunnelVXLAN},
	} {
		t.Run(row.text, func(t *testing.T) {
			n.t = t
			text := "  " + row.text + "\n  watch: [{report_all: true, vni: 77}]\n"
			c := newCollector(t, text)
			nodes, stop := n.start(text, c.conn.LocalAddr().String())
			r := rand.New(rand.NewPCG(1, 2))
			for _, host := range []string{host4, host6} {
				from, to := n.dial(host, row.port)
				_ = to.SetReadDeadline(time.Now().Add(30 * time.Second))
				got := make([]byte, 2000)
				for i := range count {
					inner := packets.Shape{Kind: packets.UDP, IPv6: i%2 == 0, Payload: 1 + 13*i}.Frame(r)
					sent := append(bytes.Clone(row.header), inner...)
					if _, err := from.Write(sent); err != nil {
						t.Fatal(err)
					}
					size, err := to.Read(got)
					if err != nil || !bytes.Equal(got[:size], sent) {
						t.Fatalf("packet %d: %v, got %x, want %x", i, err, got[:size], sent)
					}
				}
				_, _ = from.Close(), to.Close()
			}
			stop()
			for i, node := range nodes {
				t.Logf("s%d: %v", i+1, counters(t, node))
			}
			paths := map[string]int{}
			for _, r := range c.reports(nodes) {
				if r.Flow.Tunnel == row.kind && r.Flow.TunnelID == vni && r.Flow.DstPort == 6001 {
					paths[fmt.Sprint(path(&r))]++
				}
			}
			if got := paths["[1 2 3]"]; len(paths) != 1 || got != 2*count {
				t.Errorf("paths %v, want %d times [1 2 3]", paths, 2*count)
			}
		})
	}
}
