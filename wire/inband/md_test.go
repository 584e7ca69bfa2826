package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestMD(t *testing.T) {
	fresh := func() wiretest.Codec { return new(MD) }
	t.Run("Plain", func(t *testing.T) { // vector int21_md_tcp_dscp
		wiretest.Check(t, fresh, `
			20   // Ver 2, D 0, E 0, M 0
			00   // reserved
			02   // Hop ML 2
			06   // Remaining Hop Count 6
			9000 // node id, queue
			0000 // domain 0
			0000 // DS Instruction
			0000 // DS Flags
		`, &MD{Version: 2, HopML: 2, RemainingHopCount: 6, Bitmap: 0x9000})
	})
	t.Run("Flags", func(t *testing.T) { // vector int21_md_all_bits_invalid
		wiretest.Check(t, fresh, `
			2e // Ver 2, D, E, M
			00 0c 00 ff80 0000 0000 0000
		`, &MD{Version: 2, D: true, E: true, M: true, HopML: 12, Bitmap: 0xFF80})
	})
	t.Run("DomainSpecific", func(t *testing.T) { // vector int21_md_source_only
		wiretest.Check(t, fresh, `
			20 00 01 05 8000
			5453 // domain: Transparent Security
			8000 // DS Instruction: bit 0
			4000 // DS Flags: bit 1
		`, &MD{
			Version: 2, HopML: 1, RemainingHopCount: 5, Bitmap: 0x8000,
			DomainID: 0x5453, DSInstruction: 0x8000, DSFlags: 0x4000,
		})
	})
}

func TestMDReserved(t *testing.T) {
	var h MD
	want := MD{Version: 2, HopML: 2, RemainingHopCount: 6, Bitmap: 0x9000}
	if _, err := h.Decode(wiretest.Hex(t, "21 ff e2 06 9000 0000 0000 0000")); err != nil || h != want {
		t.Errorf("Decode: got %+v, %v; want %+v", h, err, want)
	}
}
