package ioam_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

const legacyHex = `
	fa00  // IOAM-Trace-Type
	2d85  // NodeLen 5, Flags 1011, RemainingLen 5
`

func TestLegacyTrace(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ioam.LegacyTrace) }, legacyHex,
		&ioam.LegacyTrace{Type: 0xfa00, NodeLen: 5, Flags: 0x0b, RemainingLen: 5})
}
