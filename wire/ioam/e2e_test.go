package ioam_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

// From vector ioam_ipv6_e2e.
const e2eHex = `
	0000      // Namespace-ID
	7000      // IOAM-E2E-Type: bits 1, 2, 3
	00000063  // 32 bit sequence number
	65000009  // timestamp seconds
	000001f4  // timestamp fraction
`

const e2eSeq64Hex = `
	0007              // Namespace-ID
	9000              // IOAM-E2E-Type: bits 0, 3
	0102030405060708  // 64 bit sequence number
	0000000a          // timestamp fraction
`

func TestE2E(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ioam.E2E) }
	t.Run("seq32", func(t *testing.T) {
		wiretest.Check(t, fresh, e2eHex, &ioam.E2E{Type: 0x7000, Seq32: 99, TsSec: 0x65000009, TsFrac: 500})
	})
	t.Run("seq64", func(t *testing.T) {
		wiretest.Check(t, fresh, e2eSeq64Hex,
			&ioam.E2E{NamespaceID: 7, Type: 0x9000, Seq64: 0x0102030405060708, TsFrac: 10})
	})
	t.Run("undefined bits", func(t *testing.T) {
		wiretest.Check(t, fresh, `
			0007  // Namespace-ID
			0fff  // IOAM-E2E-Type: undefined bits only, no fields
		`, &ioam.E2E{NamespaceID: 7, Type: 0x0fff})
	})
}
