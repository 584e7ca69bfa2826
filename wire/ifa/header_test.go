package ifa_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ifa"
)

// From vector ifa2_udp_two_hops.
const headerHex = `
	2f  // Ver 2, GNS 15
	11  // Next Header: UDP
	04  // flags: I
	ff  // Max Length 255 words
`

func TestHeader(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ifa.Header) }, headerHex,
		&ifa.Header{Version: 2, GNS: 15, NextHeader: 17, I: true, MaxLength: 255})
}

func TestHeaderFlags(t *testing.T) {
	tests := []struct {
		bit  uint8
		want ifa.Header
	}{
		{0x10, ifa.Header{Version: 2, MF: true}},
		{0x08, ifa.Header{Version: 2, TS: true}},
		{0x04, ifa.Header{Version: 2, I: true}},
		{0x02, ifa.Header{Version: 2, TA: true}},
		{0x01, ifa.Header{Version: 2, C: true}},
	}
	for _, tt := range tests {
		received := []byte{0x20, 0, 0xe0 | tt.bit, 0} // reserved bits set
		var h ifa.Header
		if _, err := h.Decode(received); err != nil || h != tt.want {
			t.Errorf("flag %#02x: got %+v, %v; want %+v", tt.bit, h, err, tt.want)
		}
		if h.Flags() != tt.bit {
			t.Errorf("Flags: got %#02x, want %#02x", h.Flags(), tt.bit)
		}
		if got, want := h.Append(nil), []byte{0x20, 0, tt.bit, 0}; !bytes.Equal(got, want) {
			t.Errorf("Append: got %x, want %x", got, want)
		}
	}
}

func TestHeaderVersion(t *testing.T) {
	for version := range uint8(16) {
		h := ifa.Header{GNS: 9}
		n, err := h.Decode([]byte{version<<4 | 1, 17, 0, 255})
		if version == ifa.Version || version == ifa.Version3 {
			if n != 4 || err != nil {
				t.Errorf("version %d: got %d, %v", version, n, err)
			}
			continue
		}
		if n != 0 || err != wire.ErrIFAVersion || h != (ifa.Header{Version: version}) {
			t.Errorf("version %d: got %d, %v, %+v; want 0, %v, the version only", version, n, err, h,
				wire.ErrIFAVersion)
		}
	}
}
