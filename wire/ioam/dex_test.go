package ioam_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

// From vector ioam_ipv6_dex.
const dexHex = `
	0000      // Namespace-ID
	00        // Flags
	c0        // Extension-Flags: Flow ID, Sequence Number
	e00000    // IOAM-Trace-Type: bits 0, 1, 2
	00        // reserved
	12345678  // Flow ID
	0000000f  // Sequence Number
`

const dexExtraHex = `
	0001      // Namespace-ID
	ff        // Flags
	61        // Extension-Flags: Sequence Number and two unknown ones
	800000    // IOAM-Trace-Type: bit 0
	00        // reserved
	00000007  // Sequence Number
	0a0b0c0d  // word of flag 0x20
	01020304  // word of flag 0x01
`

func TestDEX(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ioam.DEX) }
	t.Run("flow id and sequence", func(t *testing.T) {
		wiretest.Check(t, fresh, dexHex,
			&ioam.DEX{ExtFlags: 0xc0, TraceType: 0xe00000, FlowID: 0x12345678, Sequence: 15})
	})
	t.Run("unknown extensions", func(t *testing.T) {
		wiretest.Check(t, fresh, dexExtraHex,
			&ioam.DEX{
				NamespaceID: 1, Flags: 0xff, ExtFlags: 0x61, TraceType: 0x800000, Sequence: 7,
				Extra: []byte{10, 11, 12, 13, 1, 2, 3, 4},
			})
	})
	t.Run("no extension", func(t *testing.T) {
		wiretest.Check(t, fresh, `
			0001 00 00  // Namespace-ID, Flags, Extension-Flags
			800000 00   // IOAM-Trace-Type, reserved
		`, &ioam.DEX{NamespaceID: 1, TraceType: 0x800000})
	})
}
