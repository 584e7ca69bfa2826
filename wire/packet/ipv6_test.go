package packet

import (
	"bytes"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv6Header = header{
	name:  "IPv6",
	fresh: func() wiretest.Codec { return new(IPv6) },
	examples: []example{{
		name: "flow label", // capture tps_v21_udp6_h1, frame 1
		hex: `
			600e2a54                         // version 6, DSCP 0, ECN 0, FlowLabel 0xE2A54
			0048                             // PayloadLength: more than is here, and no error
			11 40                            // NextHeader, HopLimit
			20010db8000100000000000000000001 // Src
			20010db8000100000000000000000002 // Dst
		`,
		want: &IPv6{
			FlowLabel: 0xe2a54, PayloadLength: 72, NextHeader: ProtoUDP, HopLimit: 64,
			Src: [16]byte{0x20, 1, 0xd, 0xb8, 0, 1, 15: 1}, Dst: [16]byte{0x20, 1, 0xd, 0xb8, 0, 1, 15: 2},
		},
	}, {
		name: "traffic class",
		hex: `
			65eabcde                         // version 6, DSCP 0x17, ECN 2, FlowLabel 0xABCDE
			0000                             // PayloadLength
			3b ff                            // NextHeader, HopLimit
			20010db8000100000000000000000001 // Src
			20010db8000200000000000000000002 // Dst
		`,
		want: &IPv6{
			DSCP: 0x17, ECN: 2, FlowLabel: 0xabcde, NextHeader: ProtoNone, HopLimit: 255,
			Src: [16]byte{0x20, 1, 0xd, 0xb8, 0, 1, 15: 1}, Dst: [16]byte{0x20, 1, 0xd, 0xb8, 0, 2, 15: 2},
		},
	}},
}

func TestIPv6(t *testing.T) { ipv6Header.check(t) }

func TestIPv6Errors(t *testing.T) {
	t.Run("shorter than 40", func(t *testing.T) {
		ipv6Header.refused(t, `60`+strings.Repeat("00", 38), 0, wire.ErrTruncatedIPv6, &IPv6{})
	})
	t.Run("version", func(t *testing.T) {
		ipv6Header.refused(t, `40`+strings.Repeat("00", 39), 0, wire.ErrIPv6Version, &IPv6{})
	})
}

func TestIPv6WideValues(t *testing.T) {
	h := IPv6{DSCP: 0xc0, ECN: 0xfc, FlowLabel: 0xffffffff}
	want := append(wiretest.Hex(t, `600fffff`), make([]byte, 36)...)
	if got := h.Append(nil); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}

func BenchmarkIPv6Decode(b *testing.B) {
	packet := wiretest.Hex(b, ipv6Header.examples[0].hex)
	b.ReportAllocs()
	b.SetBytes(int64(len(packet)))
	var h IPv6
	for b.Loop() {
		if _, err := h.Decode(packet); err != nil {
			b.Fatal(err)
		}
	}
}
