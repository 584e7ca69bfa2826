package report

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func newTLV() wiretest.Codec { return new(TLV) }

// From the vector tr20_tlvs_ds.
const tlvDSHex = `
	00 02 0007        // type 0 (DS extension data), length 2, template 7
	00000001 0000000a // data`

// From the vector tr20_tlvs_ds.
const tlvIPv4Hex = `
	20 0a 0000                               // type 2 (IPv4), length 10, no template
	4500002800004000400623ce0a0001010a000202 // IPv4
	c0000050010203040a0b0c0d5018100000000000 // TCP`

func TestTLVExtensionData(t *testing.T) {
	wiretest.Check(t, newTLV, tlvDSHex, &TLV{Length: 2, Template: 7, Data: []byte{0, 0, 0, 1, 0, 0, 0, 10}})
}

func TestTLVFragment(t *testing.T) {
	wiretest.Check(t, newTLV, tlvIPv4Hex, &TLV{Type: TLVIPv4, Length: 10, Data: wiretest.Hex(t, tlvIPv4Hex)[4:]})
}

func TestTLVEmpty(t *testing.T) {
	wiretest.Check(t, newTLV, "f0000000", &TLV{Type: 15})
}

func TestTLVOverrun(t *testing.T) {
	for _, text := range []string{"", "200a00", "20010000", "20020000 00000000 000000", "20ff0000 00000000"} {
		var h TLV
		if n, err := h.Decode(wiretest.Hex(t, text)); n != 0 || err != wire.ErrTLVOverrun {
			t.Errorf("%q: got %d, %v; want 0, %v", text, n, err, wire.ErrTLVOverrun)
		}
	}
	h := TLV{Data: []byte{1}}
	if _, err := h.Decode([]byte{0x20, 2, 0, 3}); err == nil ||
		!reflect.DeepEqual(h, TLV{Type: 2, Length: 2, Template: 3}) {
		t.Errorf("first word of a TLV that is cut: got %+v, %v", h, err)
	}
}

func TestTLVInType(t *testing.T) {
	for typ, want := range map[uint8]uint8{
		TLVDSExtension: InDSExtension, TLVEthernet: InEthernet, TLVIPv4: InIPv4, TLVIPv6: InIPv6, 4: InNone, 15: InNone,
	} {
		h := TLV{Type: typ, Data: []byte{0x45}}
		if got := h.InType(); got != want {
			t.Errorf("type %d: got InType %d, want %d", typ, got, want)
		}
	}
}

func TestTLVNestedInType(t *testing.T) {
	for _, tc := range []struct {
		tlv  TLV
		want uint8
	}{
		{TLV{Data: []byte{0x45}}, InIPv4},
		{TLV{Data: []byte{0x60}}, InIPv6},
		{TLV{Data: []byte{0x02}}, InEthernet},
		{TLV{}, InNone},
		{TLV{Type: TLVIPv6, Data: []byte{0x45}}, InIPv6},
		{TLV{Type: 9, Data: []byte{0x45}}, InNone},
	} {
		if got := tc.tlv.NestedInType(); got != tc.want {
			t.Errorf("%+v: got InType %d, want %d", tc.tlv, got, tc.want)
		}
	}
}
