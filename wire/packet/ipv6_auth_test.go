package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv6AuthHeader = header{
	name:  "IPv6Auth",
	fresh: func() wiretest.Codec { return new(IPv6Auth) },
	examples: []example{{
		name: "96 bits of ICV",
		hex: `
			11 04 0000               // NextHeader UDP, PayloadLen 4, reserved
			00000100                 // SPI
			00000007                 // Sequence
			0102030405060708090a0b0c // ICV
		`,
		want: &IPv6Auth{
			NextHeader: ProtoUDP, PayloadLen: 4, SPI: 0x100, Sequence: 7,
			ICV: []byte{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12},
		},
	}, {
		name: "no ICV",
		hex: `
			06 01 0000 // NextHeader TCP, PayloadLen 1, reserved
			00000100   // SPI
			ffffffff   // Sequence
		`,
		want: &IPv6Auth{NextHeader: ProtoTCP, PayloadLen: 1, SPI: 0x100, Sequence: 0xffffffff},
	}},
}

func TestIPv6Auth(t *testing.T) { ipv6AuthHeader.check(t) }

func TestIPv6AuthTruncated(t *testing.T) {
	t.Run("shorter than 12", func(t *testing.T) {
		ipv6AuthHeader.refused(t, `11 01 0000 00000100 000000`, 0, wire.ErrTruncatedIPv6Extension, &IPv6Auth{})
	})
	t.Run("ICV cut", func(t *testing.T) {
		ipv6AuthHeader.refused(t, `11 02 0000 00000100 00000007 010203`, 0, wire.ErrTruncatedIPv6Extension,
			&IPv6Auth{NextHeader: ProtoUDP, PayloadLen: 2, SPI: 0x100, Sequence: 7})
	})
	t.Run("PayloadLen 0", func(t *testing.T) {
		ipv6AuthHeader.refused(t, `11 00 0000 00000100 00000007`, 0, wire.ErrTruncatedIPv6Extension,
			&IPv6Auth{NextHeader: ProtoUDP, SPI: 0x100, Sequence: 7})
	})
}
