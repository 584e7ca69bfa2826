package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var vxlanHeader = header{
	name:  "VXLAN",
	fresh: func() wiretest.Codec { return new(VXLAN) },
	examples: []example{{
		name: "VNI", // vector tr20_inner_only_vxlan_int
		hex: `
			08 000000 // Flags I, reserved
			00abcd 00 // VNI, reserved
		`,
		want: &VXLAN{Flags: VXLANFlagI, VNI: 0x00abcd},
	}, {
		name: "no VNI",
		hex: `
			00 000000 // Flags, reserved
			000000 00 // VNI, reserved
		`,
		want: &VXLAN{},
	}},
}

func TestVXLAN(t *testing.T) { vxlanHeader.check(t) }

func TestVXLANTruncated(t *testing.T) {
	vxlanHeader.refused(t, `08 000000 00abcd`, 0, wire.ErrTruncatedVXLAN, &VXLAN{})
}

func TestVXLANI(t *testing.T) {
	if h := (VXLAN{Flags: 0x08}); !h.I() {
		t.Error("Flags 0x08: I is false")
	}
	if h := (VXLAN{Flags: 0xf7}); h.I() {
		t.Error("Flags 0xF7: I is true")
	}
}

func TestVXLANWideValues(t *testing.T) {
	h := VXLAN{VNI: 0xff123456}
	if got, want := h.Append(nil), wiretest.Hex(t, `00 000000 123456 00`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}
