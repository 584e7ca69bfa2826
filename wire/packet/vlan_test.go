package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var vlanHeader = header{
	name:  "VLAN",
	fresh: func() wiretest.Codec { return new(VLAN) },
	examples: []example{{
		name: "all fields",
		hex: `
			b123 // PCP 5, DEI, ID 0x123
			0800 // EtherType
		`,
		want: &VLAN{PCP: 5, DEI: true, ID: 0x123, EtherType: EtherTypeIPv4},
	}, {
		name: "outer tag",
		hex: `
			4fff // PCP 2, ID 0xFFF
			8100 // EtherType: another tag
		`,
		want: &VLAN{PCP: 2, ID: 0xfff, EtherType: EtherTypeVLAN},
	}},
}

func TestVLAN(t *testing.T) { vlanHeader.check(t) }

func TestVLANTruncated(t *testing.T) {
	vlanHeader.refused(t, `b12308`, 0, wire.ErrTruncatedVLAN, &VLAN{})
}

func TestVLANWideValues(t *testing.T) {
	h := VLAN{PCP: 0xff, ID: 0xffff, EtherType: EtherTypeIPv6}
	if got, want := h.Append(nil), wiretest.Hex(t, `efff 86dd`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}

func TestIsVLAN(t *testing.T) {
	for _, etherType := range []uint16{0x8100, 0x88a8, 0x9100} {
		if !IsVLAN(etherType) {
			t.Errorf("IsVLAN(%#04x): got false", etherType)
		}
	}
	for _, etherType := range []uint16{EtherTypeIPv4, EtherTypeIPv6, EtherTypeMPLS, 0x8101, 0} {
		if IsVLAN(etherType) {
			t.Errorf("IsVLAN(%#04x): got true", etherType)
		}
	}
}
