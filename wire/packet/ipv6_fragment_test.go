package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var ipv6FragmentHeader = header{
	name:  "IPv6Fragment",
	fresh: func() wiretest.Codec { return new(IPv6Fragment) },
	examples: []example{{
		name: "first",
		hex: `
			11 00    // NextHeader UDP, reserved
			0001     // Offset 0, More
			12345678 // ID
		`,
		want: &IPv6Fragment{NextHeader: ProtoUDP, More: true, ID: 0x12345678},
	}, {
		name: "last",
		hex: `
			06 00    // NextHeader TCP, reserved
			05c8     // Offset 185
			00000001 // ID
		`,
		want: &IPv6Fragment{NextHeader: ProtoTCP, Offset: 185, ID: 1},
	}},
}

func TestIPv6Fragment(t *testing.T) { ipv6FragmentHeader.check(t) }

func TestIPv6FragmentTruncated(t *testing.T) {
	ipv6FragmentHeader.refused(t, `11 00 0001 123456`, 0, wire.ErrTruncatedIPv6Extension, &IPv6Fragment{})
}

func TestIPv6FragmentIsLater(t *testing.T) {
	for _, test := range []struct {
		name string
		h    IPv6Fragment
		want bool
	}{
		{"atomic", IPv6Fragment{}, false},
		{"first", IPv6Fragment{More: true}, false},
		{"middle", IPv6Fragment{Offset: 1, More: true}, true},
		{"last", IPv6Fragment{Offset: 1}, true},
	} {
		if got := test.h.IsLater(); got != test.want {
			t.Errorf("%s: got %v, want %v", test.name, got, test.want)
		}
	}
}

func TestIPv6FragmentWideValues(t *testing.T) {
	h := IPv6Fragment{Offset: 0xffff}
	if got, want := h.Append(nil), wiretest.Hex(t, `00 00 fff8 00000000`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}
