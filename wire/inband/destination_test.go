package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func TestDestination(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(Destination) }, `
		fc       // version 15, sequence number and TTL
		40       // TTL 64
		0000     // reserved
		00010203 // packet 66051 of its flow
	`, &Destination{HasSequence: true, HasTTL: true, TTL: 64, Sequence: 66051})
}

// No metadata header of any version is taken for one, as no version has 15.
func TestDestinationOfOthers(t *testing.T) {
	for version := range byte(15) {
		var d Destination
		_, err := d.Decode([]byte{version<<4 | 0x0F, 1, 2, 3, 4, 5, 6, 7})
		if !errors.Is(err, wire.ErrUnknownINTVersion) {
			t.Errorf("version %d: got %+v, %v", version, d, err)
		}
	}
}
