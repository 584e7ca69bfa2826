//go:build linux

package lab

import (
	"encoding/binary"
	"net/netip"
	"testing"

	"github.com/gopacket/gopacket"
	"github.com/gopacket/gopacket/layers"
)

// TestRawPacket lets gopacket read what floods send, and compute its checksum.
func TestRawPacket(t *testing.T) {
	for _, addresses := range [][2]string{{"11.1.2.3", "10.0.2.1"}, {"2001:db8::1:2", "fd00:0:0:2::1"}} {
		for _, syn := range []bool{false, true} {
			src := netip.AddrPortFrom(netip.MustParseAddr(addresses[0]), 10001)
			dst := netip.AddrPortFrom(netip.MustParseAddr(addresses[1]), 80)
			b := rawPacket(src, dst, 7, 1<<33|5, 501, syn)
			first := gopacket.LayerType(layers.LayerTypeIPv4)
			if src.Addr().Is6() {
				first = layers.LayerTypeIPv6
			}
			p := gopacket.NewPacket(b, first, gopacket.Default)
			if p.ErrorLayer() != nil || len(p.Layers()) < 2 {
				t.Fatalf("%s, syn %t: %v of %x", src, syn, p.ErrorLayer(), b)
			}
			l4 := p.TransportLayer().(interface {
				SetNetworkLayerForChecksum(l gopacket.NetworkLayer) error
				gopacket.LayerWithChecksum
			})
			if err := l4.SetNetworkLayerForChecksum(p.NetworkLayer()); err != nil {
				t.Fatal(err)
			}
			if err, sum := l4.VerifyChecksum(); err != nil || !sum.Valid {
				t.Errorf("%s, syn %t: %+v, %v", src, syn, sum, err)
			}
			n := p.NetworkLayer().NetworkFlow()
			if n.Src().String() != addresses[0] || n.Dst().String() != addresses[1] {
				t.Errorf("from %s to %s, want %s", n.Src(), n.Dst(), addresses)
			}
			tcp, ok := p.TransportLayer().(*layers.TCP)
			if ok != syn || syn && (!tcp.SYN || tcp.ACK || tcp.DstPort != 80) {
				t.Errorf("%s: got %+v, want a SYN: %t", src, p.TransportLayer(), syn)
			}
			if syn {
				continue
			}
			payload := p.TransportLayer().LayerPayload()
			if len(b) != 501 || binary.BigEndian.Uint32(payload) != 7 ||
				binary.BigEndian.Uint64(payload[4:]) != 1<<33|5 {
				t.Errorf("%s: %d bytes with %x", src, len(b), payload[:12])
			}
		}
	}
}
