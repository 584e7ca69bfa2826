package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var udpHeader = header{
	name:  "UDP",
	fresh: func() wiretest.Codec { return new(UDP) },
	examples: []example{{
		name: "Geneve", // vector int2016_geneve
		hex: `
			c351 17c1 // SrcPort, DstPort
			007a      // Length: more than is here, and no error
			0000      // Checksum: none
		`,
		want: &UDP{SrcPort: 50001, DstPort: PortGeneve, Length: 122},
	}, {
		name: "checksum", // capture onos_v10_udp_h1, frame 1
		hex: `
			1389 1771 // SrcPort, DstPort
			006c      // Length
			c90d      // Checksum
		`,
		want: &UDP{SrcPort: 5001, DstPort: 6001, Length: 108, Checksum: 0xc90d},
	}},
}

func TestUDP(t *testing.T) { udpHeader.check(t) }

func TestUDPTruncated(t *testing.T) {
	udpHeader.refused(t, `c351 17c1 007a 00`, 0, wire.ErrTruncatedUDP, &UDP{SrcPort: 50001, DstPort: PortGeneve})
	udpHeader.refused(t, `c351 17`, 0, wire.ErrTruncatedUDP, &UDP{})
}

func BenchmarkUDPDecode(b *testing.B) {
	packet := wiretest.Hex(b, udpHeader.examples[0].hex)
	b.ReportAllocs()
	b.SetBytes(int64(len(packet)))
	var h UDP
	for b.Loop() {
		if _, err := h.Decode(packet); err != nil {
			b.Fatal(err)
		}
	}
}
