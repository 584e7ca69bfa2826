package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestShimGPEOld(t *testing.T) { // vector int2016_vxlan_gpe
	wiretest.Check(t, func() wiretest.Codec { return new(ShimGPEOld) }, `
		01 // type hop-by-hop
		00 // reserved
		09 // length 9 words, shim included
		05 // next protocol: another INT shim
	`, &ShimGPEOld{Type: TypeHopByHop, Length: 9, NextProtocol: 5})
}

func TestShimGPEOldEnd(t *testing.T) {
	for length, want := range map[uint8]int{0: 0, 9: 36, 255: 1020} {
		if got := (&ShimGPEOld{Length: length}).End(); got != want {
			t.Errorf("End with Length %d: got %d, want %d", length, got, want)
		}
	}
}
