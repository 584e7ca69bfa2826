package ioam_test

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

// From vector ioam_vxlan_gpe_incremental.
const shimHex = `
	01  // IOAM-Type: incremental trace
	09  // IOAM HDR Len: 9 words, shim included
	00  // reserved
	03  // Next Protocol: Ethernet
`

func TestShim(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(ioam.Shim) }, shimHex,
		&ioam.Shim{Type: ioam.TypeIncremental, HdrLen: 9, NextProtocol: 3})
}

func TestShimBodyLen(t *testing.T) {
	tests := []struct {
		name      string
		hdrLen    uint8
		available int
		want      int
		err       error
	}{
		{"shim only", 1, 0, 0, nil},
		{"fits exactly", 9, 32, 32, nil},
		{"more behind", 9, 100, 32, nil},
		{"longest", 255, 1016, 1016, nil},
		{"does not cover the shim", 0, 100, 0, wire.ErrIOAMShimLength},
		{"one byte missing", 9, 31, 0, wire.ErrIOAMShimLength},
		{"nothing behind", 2, 0, 0, wire.ErrIOAMShimLength},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			s := ioam.Shim{HdrLen: tt.hdrLen}
			if got, err := s.BodyLen(tt.available); got != tt.want || err != tt.err {
				t.Errorf("BodyLen(%d): got %d, %v; want %d, %v", tt.available, got, err, tt.want, tt.err)
			}
		})
	}
}
