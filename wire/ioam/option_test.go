package ioam_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

func TestOption(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ioam.Option) }, `
		00  // reserved
		04  // IOAM-Opt-Type: direct export
	`, &ioam.Option{Type: ioam.TypeDEX})
}

func TestOptionUsesAllBytes(t *testing.T) {
	var o ioam.Option
	b := []byte{0xff, 3, 1, 2, 3}
	n, err := o.Decode(b)
	if n != len(b) || err != nil {
		t.Fatalf("Decode: got %d, %v; want %d, no error", n, err, len(b))
	}
	if o.Type != ioam.TypeE2E || !bytes.Equal(o.Data, b[2:]) {
		t.Fatalf("Decode: got %+v", o)
	}
	if cap(o.Data) != len(o.Data) {
		t.Errorf("capacity of the view: got %d, want %d", cap(o.Data), len(o.Data))
	}
	if got, want := o.Append(nil), []byte{0, 3, 1, 2, 3}; !bytes.Equal(got, want) {
		t.Errorf("Append: got %x, want %x (reserved bits are sent as zero)", got, want)
	}
	if n, err := o.Decode(b[:1]); n != 0 || err != wire.ErrTruncatedIOAM || o.Data != nil {
		t.Errorf("Decode of one byte: got %d, %v, %+v", n, err, o)
	}
}
