package ioam_test

import (
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire/ioam"
)

const potHex = `
	0001              // Namespace-ID
	00                // IOAM-POT-Type
	80                // flags
	0102030405060708  // PktID
	1112131415161718  // Cumulative
`

func TestPOT(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ioam.POT) }, potHex,
		&ioam.POT{NamespaceID: 1, Flags: 0x80, PktID: 0x0102030405060708, Cumulative: 0x1112131415161718})
}

func TestPOTLeavesWhatFollowsType0(t *testing.T) {
	b := append(wiretest.Hex(t, potHex), 9, 9)
	var p ioam.POT
	if n, err := p.Decode(b); n != len(b)-2 || err != nil || p.Extra != nil {
		t.Errorf("got %d, %v, Extra %x; want %d, no error, no Extra", n, err, p.Extra, len(b)-2)
	}
}

func TestPOTKeepsOtherTypesRaw(t *testing.T) {
	b := []byte{0, 1, 5, 0, 1, 2, 3}
	var p ioam.POT
	n, err := p.Decode(b)
	want := ioam.POT{NamespaceID: 1, Type: 5, Extra: []byte{1, 2, 3}}
	if n != len(b) || err != nil || !reflect.DeepEqual(p, want) {
		t.Errorf("got %d, %v, %+v; want %d, no error, %+v", n, err, p, len(b), want)
	}
	if got := p.Append(nil); !reflect.DeepEqual(got, b) || p.Len() != len(b) {
		t.Errorf("Append: got %x (Len %d), want %x", got, p.Len(), b)
	}
}
