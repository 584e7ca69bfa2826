package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var nshHeader = header{
	name:  "NSH",
	fresh: func() wiretest.Codec { return new(NSH) },
	examples: []example{{
		name: "fixed context",
		hex: `
			0fc6                             // version 0, TTL 63, Length 6
			01 03                            // MDType 1, NextProtocol Ethernet
			00002a ff                        // SPI, SI
			000102030405060708090a0b0c0d0e0f // Context
		`,
		want: &NSH{
			TTL: 63, Length: 6, MDType: 1, NextProtocol: NextEthernet, SPI: 42, SI: 255,
			Context: []byte{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15},
		},
	}, {
		name: "no context",
		hex: `
			3042      // version 0, O, U, TTL 1, Length 2
			02 01     // MDType 2, NextProtocol IPv4
			abcdef 01 // SPI, SI
		`,
		want: &NSH{O: true, U: true, TTL: 1, Length: 2, MDType: 2, NextProtocol: NextIPv4, SPI: 0xabcdef, SI: 1},
	}},
}

func TestNSH(t *testing.T) { nshHeader.check(t) }

func TestNSHErrors(t *testing.T) {
	readable := NSH{TTL: 63, Length: 3, MDType: 2, NextProtocol: NextIPv6, SPI: 42, SI: 254}
	t.Run("shorter than 8", func(t *testing.T) {
		nshHeader.refused(t, `0fc2 02 02 00002a`, 0, wire.ErrTruncatedNSH, &NSH{})
	})
	t.Run("context cut", func(t *testing.T) {
		nshHeader.refused(t, `0fc3 02 02 00002a fe 000000`, 0, wire.ErrTruncatedNSH, &readable)
	})
	t.Run("length 1", func(t *testing.T) {
		kept := readable
		kept.Length = 1
		nshHeader.refused(t, `0fc1 02 02 00002a fe`, 0, wire.ErrNSHLength, &kept)
	})
	t.Run("version 1", func(t *testing.T) {
		nshHeader.refused(t, `4fc2 02 02 00002a fe`, 0, wire.ErrNSHVersion, &NSH{})
	})
}

func TestNSHWideValues(t *testing.T) {
	h := NSH{TTL: 0xff, Length: 0xff, MDType: 0xff, SPI: 0xff123456}
	if got, want := h.Append(nil), wiretest.Hex(t, `0fff 0f 00 123456 00`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}
