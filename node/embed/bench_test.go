package embed

import (
	"math/rand/v2"
	"testing"

	"github.com/waybill-int/waybill/internal/test/packets"
	"github.com/waybill-int/waybill/wire/inband"
)

// benchInstruction asks for node id, level 1 interfaces, latency, queue and both timestamps: 8 words.
var benchInstruction = Instruction{Bitmap: 0xFC00}

// benchPackets are a packet as it enters the source, and behind one node, in the usual kinds of domains.
func benchPackets(b *testing.B, run func(b *testing.B, d *Domain, plain, carrying *Packet, own *inband.Metadata)) {
	for _, c := range []struct {
		name    string
		version inband.Version
		carrier Carrier
		kind    packets.Kind
		ipv6    bool
	}{
		{"2.1/udp-port", inband.Version20, DstPort, packets.UDP, false},
		{"2.1/udp-port-ipv6", inband.Version20, DstPort, packets.UDP, true},
		{"2.1/new-udp-tcp", inband.Version20, NewUDP, packets.TCP, false},
		{"2.1/dscp-tcp", inband.Version20, DSCP, packets.TCP, false},
		{"2.1/vxlan", inband.Version20, VXLANGPE, packets.VXLAN, false},
		{"2.1/geneve", inband.Version20, Geneve, packets.Geneve, false},
		{"1.0/dscp-udp", inband.Version10, DSCP, packets.UDP, false},
	} {
		b.Run(c.name, func(b *testing.B) {
			r := rand.New(rand.NewPCG(1, 1))
			d := newDomain(c.version, c.carrier)
			own := randomMetadata(r)
			own.Has = 1<<14 - 1
			frame := packets.Shape{Kind: c.kind, IPv6: c.ipv6, Payload: 500}.Frame(r)
			plain, carrying := new(Packet), new(Packet)
			if err := d.Parse(frame, plain); err != nil {
				b.Fatal(err)
			}
			out, result := d.Insert(nil, plain, benchInstruction, own, 0)
			if result.Action != Inserted {
				b.Fatalf("%+v", result)
			}
			if err := d.Parse(out, carrying); err != nil {
				b.Fatal(err)
			}
			b.ReportAllocs()
			b.SetBytes(int64(len(frame)))
			run(b, d, plain, carrying, own)
		})
	}
}

func BenchmarkParse(b *testing.B) {
	benchPackets(b, func(b *testing.B, d *Domain, _, carrying *Packet, _ *inband.Metadata) {
		var p Packet
		for b.Loop() {
			if d.Parse(carrying.Frame, &p) != nil {
				b.Fatal("error")
			}
		}
	})
}

func BenchmarkInsert(b *testing.B) {
	benchPackets(b, func(b *testing.B, d *Domain, plain, _ *Packet, own *inband.Metadata) {
		buf := make([]byte, 0, 2048)
		for b.Loop() {
			buf, _ = d.Insert(buf[:0], plain, benchInstruction, own, 9000)
		}
	})
}

func BenchmarkPush(b *testing.B) {
	benchPackets(b, func(b *testing.B, d *Domain, _, carrying *Packet, own *inband.Metadata) {
		buf := make([]byte, 0, 2048)
		for b.Loop() {
			buf, _ = d.Push(buf[:0], carrying, own, 9000)
		}
	})
}

func BenchmarkStrip(b *testing.B) {
	benchPackets(b, func(b *testing.B, d *Domain, _, carrying *Packet, _ *inband.Metadata) {
		buf := make([]byte, 0, 2048)
		for b.Loop() {
			buf, _, _ = d.Strip(buf[:0], carrying)
		}
	})
}
