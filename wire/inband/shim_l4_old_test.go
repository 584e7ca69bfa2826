package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestShimL4Old(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ShimL4Old) }
	t.Run("v1.0", func(t *testing.T) { // vector int10_tcp_dscp
		wiretest.Check(t, fresh, `
			01 // type hop-by-hop
			00 // reserved
			07 // length 7 words, shim included
			00 // DSCP 0
		`, &ShimL4Old{Type: TypeHopByHop, Length: 7})
	})
	t.Run("DSCP", func(t *testing.T) { // capture geant_v10_head_udp_s2s3, frame 2
		wiretest.Check(t, fresh, `
			01 00 0f
			28 // DSCP 10 in the upper 6 bits
		`, &ShimL4Old{Type: TypeHopByHop, Length: 15, DSCP: 10})
	})
}

func TestShimL4OldEnd(t *testing.T) {
	for length, want := range map[uint8]int{0: 0, 7: 28, 255: 1020} {
		if got := (&ShimL4Old{Length: length}).End(); got != want {
			t.Errorf("End with Length %d: got %d, want %d", length, got, want)
		}
	}
}
