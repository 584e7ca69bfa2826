package ifa_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ifa"
)

// From vector ifa2_udp_two_hops.
const metadataHex = `
	ee  // Request Vector
	c0  // Action Vector: loss, colour
	7e  // Hop Limit 126
	10  // Current Length 16 words
`

func TestMetadata(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ifa.Metadata) }, metadataHex,
		&ifa.Metadata{
			RequestVector: 0xee, ActionVector: ifa.ActionLoss | ifa.ActionColour, HopLimit: 126,
			CurrentLength: 16,
		})
}
