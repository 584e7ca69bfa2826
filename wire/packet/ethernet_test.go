package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ethernetHeader = header{
	name:  "Ethernet",
	fresh: func() wiretest.Codec { return new(Ethernet) },
	examples: []example{{
		name: "IPv4", // vector int2016_geneve
		hex: `
			020000000002 // Dst
			020000000001 // Src
			0800         // EtherType
		`,
		want: &Ethernet{
			Dst:       [6]byte{2, 0, 0, 0, 0, 2},
			Src:       [6]byte{2, 0, 0, 0, 0, 1},
			EtherType: EtherTypeIPv4,
		},
	}},
}

func TestEthernet(t *testing.T) { ethernetHeader.check(t) }

func TestEthernetTruncated(t *testing.T) {
	ethernetHeader.refused(t, `020000000002 020000000001 08`, 0, wire.ErrTruncatedEthernet, &Ethernet{})
}

func BenchmarkEthernetDecode(b *testing.B) {
	frame := wiretest.Hex(b, ethernetHeader.examples[0].hex)
	b.ReportAllocs()
	b.SetBytes(int64(len(frame)))
	var h Ethernet
	for b.Loop() {
		if _, err := h.Decode(frame); err != nil {
			b.Fatal(err)
		}
	}
}
