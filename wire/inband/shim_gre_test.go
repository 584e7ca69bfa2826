package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestShimGRE(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ShimGRE) }
	t.Run("Inserted", func(t *testing.T) { // vector int21_md_gre_ipv4
		wiretest.Check(t, fresh, `
			18   // type MD, G: GRE was inserted
			07   // length 7 words, shim excluded
			0800 // next protocol: IPv4
		`, &ShimGRE{Type: TypeMD, G: true, Length: 7, NextProtocol: 0x0800})
	})
	t.Run("Tunnel", func(t *testing.T) { // vector int21_mx_gre_key_ethernet
		wiretest.Check(t, fresh, `30 03 6558`, &ShimGRE{Type: TypeMX, Length: 3, NextProtocol: 0x6558})
	})
}

func TestShimGREReserved(t *testing.T) {
	var s ShimGRE
	want := ShimGRE{Type: TypeMD, Length: 7, NextProtocol: 0x0800}
	if _, err := s.Decode(wiretest.Hex(t, "17 07 0800")); err != nil || s != want {
		t.Errorf("Decode: got %+v, %v; want %+v", s, err, want)
	}
}

func TestShimGREEnd(t *testing.T) {
	for length, want := range map[uint8]int{0: 4, 7: 32, 255: 1024} {
		if got := (&ShimGRE{Length: length}).End(); got != want {
			t.Errorf("End with Length %d: got %d, want %d", length, got, want)
		}
	}
}
