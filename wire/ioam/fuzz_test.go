package ioam_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

// FuzzIOAM holds wiretest.Fuzz for every type, and walks over whole options.
func FuzzIOAM(f *testing.F) {
	const walkKind = 9
	node := allFields()
	typedRecord := append([]byte{0xff, 0xf0, 0x02}, node.Append(nil, allFieldsType)...)
	for kind, seed := range [][]byte{
		(&ioam.Option{Type: ioam.TypeE2E, Data: []byte("data")}).Append(nil),
		wiretest.Hex(f, shimHex),
		wiretest.Hex(f, traceHex),
		node.Snapshot.Append(nil),
		typedRecord,
		wiretest.Hex(f, e2eHex),
		wiretest.Hex(f, dexExtraHex),
		wiretest.Hex(f, potHex),
		wiretest.Hex(f, legacyHex),
	} {
		f.Add(uint8(kind), seed)
	}
	f.Add(uint8(walkKind), wiretest.Hex(f, "0000 0000 1803 e00000 00"+spaceHex))
	f.Add(uint8(walkKind), wiretest.Hex(f, "0001 0000 1806 e00000 00"+spaceHex))
	f.Add(uint8(walkKind), append(wiretest.Hex(f, "0000 0000 7800 fff002 00"), typedRecord[3:]...))

	f.Fuzz(func(t *testing.T, kind uint8, b []byte) {
		switch kind % 10 {
		case 0:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.Option) }, b)
		case 1:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.Shim) }, b)
		case 2:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.Trace) }, b)
		case 3:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.Snapshot) }, b)
		case 4: // the trace type, then the record
			if len(b) < 3 {
				return
			}
			traceType := uint32(b[0])<<16 | uint32(b[1])<<8 | uint32(b[2])
			wiretest.Fuzz(t, func() wiretest.Codec { return &record{traceType: traceType} }, b[3:])
		case 5:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.E2E) }, b)
		case 6:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.DEX) }, b)
		case 7:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.POT) }, b)
		case 8:
			wiretest.Fuzz(t, func() wiretest.Codec { return new(ioam.LegacyTrace) }, b)
		case walkKind:
			if err := walk(b); err == errInconsistent {
				t.Fatal(err)
			}
		}
	})
}
