package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv6OptionsHeader = header{
	name:  "IPv6Options",
	fresh: func() wiretest.Codec { return new(IPv6Options) },
	examples: []example{{
		name: "hop by hop", // capture ioam_basic_h1, frame 16: IOAM trace with room for two nodes
		hex: `
			3a 03                         // NextHeader ICMPv6, HdrExtLen 3
			0100                          // Options: PadN
			3116 0000007b08038000         //          IOAM
			     0000000000000000 000000000000
			0102 0000                     //          PadN
		`,
		want: &IPv6Options{NextHeader: ProtoICMPv6, HdrExtLen: 3, Options: []byte{
			1, 0,
			0x31, 22, 0, 0, 0, 0x7b, 8, 3, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
			1, 2, 0, 0,
		}},
	}, {
		name: "shortest",
		hex: `
			11 00         // NextHeader UDP, HdrExtLen 0
			0104 00000000 // Options: PadN
		`,
		want: &IPv6Options{NextHeader: ProtoUDP, Options: []byte{1, 4, 0, 0, 0, 0}},
	}},
}

func TestIPv6Options(t *testing.T) { ipv6OptionsHeader.check(t) }

func TestIPv6OptionsTruncated(t *testing.T) {
	t.Run("first byte only", func(t *testing.T) {
		ipv6OptionsHeader.refused(t, `11`, 0, wire.ErrTruncatedIPv6Extension, &IPv6Options{})
	})
	t.Run("options cut", func(t *testing.T) {
		ipv6OptionsHeader.refused(t, `11 ff 0104 00000000`, 0, wire.ErrTruncatedIPv6Extension,
			&IPv6Options{NextHeader: ProtoUDP, HdrExtLen: 255})
	})
}
