package packet

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var vxlanGPEHeader = header{
	name:  "VXLANGPE",
	fresh: func() wiretest.Codec { return new(VXLANGPE) },
	examples: []example{{
		name: "next protocol", // vector int2016_vxlan_gpe
		hex: `
			0c 0000 05 // Flags I and P, reserved, NextProtocol
			00beef 00  // VNI, reserved
		`,
		want: &VXLANGPE{Flags: VXLANFlagI | VXLANFlagP, NextProtocol: 5, VNI: 0x00beef},
	}, {
		name: "without P",
		hex: `
			08 0000 00 // Flags I, reserved, no NextProtocol
			fffffe 00  // VNI, reserved
		`,
		want: &VXLANGPE{Flags: VXLANFlagI, VNI: 0xfffffe},
	}},
}

func TestVXLANGPE(t *testing.T) { vxlanGPEHeader.check(t) }

func TestVXLANGPEErrors(t *testing.T) {
	t.Run("shorter than 8", func(t *testing.T) {
		vxlanGPEHeader.refused(t, `0c 0000 05 00beef`, 0, wire.ErrTruncatedVXLAN, &VXLANGPE{})
	})
	t.Run("version 1", func(t *testing.T) {
		vxlanGPEHeader.refused(t, `1c 0000 03 00beef 00`, vxlanLen, wire.ErrVXLANGPEVersion,
			&VXLANGPE{Flags: 0x1c, NextProtocol: NextEthernet, VNI: 0xbeef})
	})
	t.Run("version 2", func(t *testing.T) {
		vxlanGPEHeader.refused(t, `2c 0000 03 00beef 00`, vxlanLen, wire.ErrVXLANGPEVersion,
			&VXLANGPE{Flags: 0x2c, NextProtocol: NextEthernet, VNI: 0xbeef})
	})
}

func TestVXLANGPEFlags(t *testing.T) {
	for _, test := range []struct {
		flags uint8
		i, p  bool
	}{
		{0x0c, true, true}, {0x08, true, false}, {0x04, false, true}, {0xf3, false, false},
	} {
		h := VXLANGPE{Flags: test.flags}
		if h.I() != test.i || h.P() != test.p {
			t.Errorf("Flags %#02x: got I %v, P %v; want %v, %v", test.flags, h.I(), h.P(), test.i, test.p)
		}
	}
}

func TestVXLANGPECarries2016(t *testing.T) {
	for _, test := range []struct {
		flags, next uint8
		want        bool
	}{
		{0x0c, 5, true},
		{0x08, 5, true},
		{0x04, 5, true},
		{0x18, 5, true}, // p4lang/switch's tests
		{0x00, 5, false},
		{0xf3, 5, false},
		{0x0c, 3, false},
	} {
		h := VXLANGPE{Flags: test.flags, NextProtocol: test.next}
		if got := h.Carries2016(); got != test.want {
			t.Errorf("Flags %#02x, NextProtocol %d: got %v, want %v", test.flags, test.next, got, test.want)
		}
	}
}
