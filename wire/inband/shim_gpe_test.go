package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestShimGPE(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ShimGPE) }
	t.Run("VXLAN", func(t *testing.T) { // vector int21_md_vxlan_gpe
		wiretest.Check(t, fresh, `
			10 // type MD
			09 // length 9 words, shim excluded
			80 // G: was VXLAN
			03 // next protocol: Ethernet
		`, &ShimGPE{Type: TypeMD, Length: 9, G: true, NextProtocol: 3})
	})
	t.Run("GPE", func(t *testing.T) {
		wiretest.Check(t, fresh, `30 03 00 82`, &ShimGPE{Type: TypeMX, Length: 3, NextProtocol: 0x82})
	})
}

func TestShimGPEReserved(t *testing.T) {
	var s ShimGPE
	want := ShimGPE{Type: TypeMD, Length: 9, NextProtocol: 3}
	if _, err := s.Decode(wiretest.Hex(t, "1f 09 7f 03")); err != nil || s != want {
		t.Errorf("Decode: got %+v, %v; want %+v", s, err, want)
	}
}

func TestShimGPEEnd(t *testing.T) {
	for length, want := range map[uint8]int{0: 4, 9: 40, 255: 1024} {
		if got := (&ShimGPE{Length: length}).End(); got != want {
			t.Errorf("End with Length %d: got %d, want %d", length, got, want)
		}
	}
}
