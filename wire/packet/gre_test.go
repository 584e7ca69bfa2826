package packet

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

var greHeader = header{
	name:  "GRE",
	fresh: func() wiretest.Codec { return new(GRE) },
	examples: []example{{
		name: "no optional words", // vector int21_md_gre_ipv4
		hex: `
			0000 // C, K, S clear, version 0
			4569 // Protocol
		`,
		want: &GRE{Protocol: 0x4569},
	}, {
		name: "key", // vector int21_mx_gre_key_ethernet
		hex: `
			2000     // K
			4569     // Protocol
			01020304 // Key
		`,
		want: &GRE{HasKey: true, Protocol: 0x4569, Key: 0x01020304},
	}, {
		name: "all optional words",
		hex: `
			b000      // C, K, S
			0800      // Protocol
			abcd 0000 // Checksum, reserved
			01020304  // Key
			0000002a  // Sequence
		`,
		want: &GRE{
			HasChecksum: true, HasKey: true, HasSequence: true, Protocol: EtherTypeIPv4,
			Checksum: 0xabcd, Key: 0x01020304, Sequence: 42,
		},
	}, {
		name: "sequence",
		hex: `
			1000     // S
			6558     // Protocol
			fffffffe // Sequence
		`,
		want: &GRE{HasSequence: true, Protocol: EtherTypeTEB, Sequence: 0xfffffffe},
	}},
}

func TestGRE(t *testing.T) { greHeader.check(t) }

func TestGREErrors(t *testing.T) {
	t.Run("shorter than 4", func(t *testing.T) {
		greHeader.refused(t, `2000 45`, 0, wire.ErrTruncatedGRE, &GRE{})
	})
	t.Run("optional word cut", func(t *testing.T) {
		greHeader.refused(t, `3000 4569 01020304 000000`, 0, wire.ErrTruncatedGRE,
			&GRE{HasKey: true, HasSequence: true, Protocol: 0x4569})
	})
	t.Run("version 1", func(t *testing.T) { // PPTP
		greHeader.refused(t, `3001 880b 00040001 00000000`, 0, wire.ErrGREVersion,
			&GRE{HasKey: true, HasSequence: true, Protocol: 0x880b})
	})
	t.Run("routing", func(t *testing.T) {
		greHeader.refused(t, `4000 0800 00000000 00000000`, 0, wire.ErrGRERouting, &GRE{Protocol: EtherTypeIPv4})
	})
}

// The flags s and Recur of RFC 1701, and all other bits of Reserved0, are ignored and not written.
func TestGREIgnoresReserved(t *testing.T) {
	var h GRE
	if n, err := h.Decode(wiretest.Hex(t, `0ff8 0800`)); n != greLen || err != nil {
		t.Fatalf("Decode: got %d, error %v; want 4, none", n, err)
	}
	if got, want := h.Append(nil), wiretest.Hex(t, `0000 0800`); !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x", got, want)
	}
}
