package ifa_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ifa"
)

// FuzzIFA holds wiretest.Fuzz for every type, and decodes whole packets from the IFA header on.
func FuzzIFA(f *testing.F) {
	f.Add(uint8(0), wiretest.Hex(f, headerHex))
	f.Add(uint8(1), wiretest.Hex(f, metadataHex))
	f.Add(uint8(2), wiretest.Hex(f, hopHex))
	f.Add(uint8(3), wiretest.Hex(f, headerHex+"044c 0898 0010 0000"+metadataHex+hopHex+hopHex+"01020304"))

	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		switch kind % 4 {
		case 0:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ifa.Header) }, b)
		case 1:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ifa.Metadata) }, b)
		case 2:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ifa.Hop) }, b)
		case 3:
			_, _ = layers(b) // an error or a value, both are right
		}
	})
}
