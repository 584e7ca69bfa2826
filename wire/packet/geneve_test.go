package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var geneveHeader = header{
	name:  "Geneve",
	fresh: func() wiretest.Codec { return new(Geneve) },
	examples: []example{{
		name: "two options", // vector int21_mx_geneve_second_option
		hex: `
			06 00                             // version 0, OptLen 6; O and C clear
			0800                              // Protocol
			0000fe 00                         // VNI, reserved
			0102 80 01 00010002               // Options: class 0x0102
			0103 03 03 200000009000000000000000 //        INT-MX
		`,
		want: &Geneve{
			OptLen: 6, Protocol: EtherTypeIPv4, VNI: 0xfe,
			Options: []byte{1, 2, 0x80, 1, 0, 1, 0, 2, 1, 3, 3, 3, 0x20, 0, 0, 0, 0x90, 0, 0, 0, 0, 0, 0, 0},
		},
	}, {
		name: "no options",
		hex: `
			00 c0     // version 0, OptLen 0; O, C
			6558      // Protocol
			abcdef 00 // VNI, reserved
		`,
		want: &Geneve{O: true, C: true, Protocol: EtherTypeTEB, VNI: 0xabcdef},
	}},
}

func TestGeneve(t *testing.T) { geneveHeader.check(t) }

func TestGeneveErrors(t *testing.T) {
	t.Run("shorter than 8", func(t *testing.T) {
		geneveHeader.refused(t, `00 00 6558 abcdef`, 0, wire.ErrTruncatedGeneve, &Geneve{})
	})
	t.Run("version 1", func(t *testing.T) {
		geneveHeader.refused(t, `40 00 6558 abcdef 00`, 0, wire.ErrGeneveVersion,
			&Geneve{Version: 1, Protocol: EtherTypeTEB, VNI: 0xabcdef})
	})
	// 8 + 63*4 = 260: more than a uint8 holds.
	t.Run("most options, cut", func(t *testing.T) {
		geneveHeader.refused(t, `3f 40 6558 abcdef 00 00000000`, 0, wire.ErrTruncatedGeneve,
			&Geneve{OptLen: 63, C: true, Protocol: EtherTypeTEB, VNI: 0xabcdef})
	})
}

func TestGeneveMostOptions(t *testing.T) {
	h := Geneve{OptLen: 63, Options: make([]byte, 252)}
	var got Geneve
	if n, err := got.Decode(append(h.Append(nil), 1, 2, 3, 4)); n != 260 || err != nil || len(got.Options) != 252 {
		t.Errorf("Decode: got %d, error %v, %d bytes of options; want 260, none, 252", n, err, len(got.Options))
	}
}

func TestGeneveWideValues(t *testing.T) {
	h := Geneve{Version: 0xfc, OptLen: 0xc0, VNI: 0xff123456}
	if got, want := h.Append(nil), wiretest.Hex(t, `00 00 0000 123456 00`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}
