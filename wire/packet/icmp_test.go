package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var icmpHeader = header{
	name:  "ICMP",
	fresh: func() wiretest.Codec { return new(ICMP) },
	examples: []example{{
		name: "ICMPv6 echo request", // capture ioam_basic_h1, frame 17
		hex: `
			80 00    // Type, Code
			2fe1     // Checksum
			12340001 // Rest: identifier, sequence number
		`,
		want: &ICMP{Type: 128, Checksum: 0x2fe1, Rest: 0x12340001},
	}, {
		name: "ICMPv4 fragmentation needed",
		hex: `
			03 04    // Type, Code
			f723     // Checksum
			000005d8 // Rest: MTU 1496
		`,
		want: &ICMP{Type: 3, Code: 4, Checksum: 0xf723, Rest: 1496},
	}},
}

func TestICMP(t *testing.T) { icmpHeader.check(t) }

func TestICMPTruncated(t *testing.T) {
	icmpHeader.refused(t, `80 00 2fe1 123400`, 0, wire.ErrTruncatedICMP, &ICMP{})
}
