package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func TestHeader05(t *testing.T) {
	fresh := func() wiretest.Codec { return new(Header05) }
	t.Run("Plain", func(t *testing.T) { // vector int05_vxlan_gpe_all
		wiretest.Check(t, fresh, `
			00   // Ver 0, Rep 0, C 0, E 0
			08   // Instruction Count 8
			10   // Max Hop Count 16
			01   // Total Hop Count 1
			ff00 // all eight instructions
			0000 // reserved
		`, &Header05{InstructionCount: 8, MaxHopCount: 16, TotalHopCount: 1, Bitmap: 0xFF00})
	})
	t.Run("Flags", func(t *testing.T) {
		wiretest.Check(t, fresh, `
			0b // Ver 0, Rep 2, C, E
			01 04 04 8000 0000
		`, &Header05{Rep: 2, C: true, E: true, InstructionCount: 1, MaxHopCount: 4, TotalHopCount: 4, Bitmap: 0x8000})
	})
}

func TestHeader05Decode04(t *testing.T) {
	tests := []struct {
		name string
		hex  string
		want Header05
	}{
		{ // capture geant_v04_udp_s2s3, frame 2
			"GEANT", "40 04 08 02 00cc 0000",
			Header05{Version: 1, InstructionCount: 4, MaxHopCount: 8, TotalHopCount: 2, Bitmap: 0x00CC},
		},
		{ // capture geant_v04_udp_reports, frame 4
			"GEANT E", "44 03 02 02 00e0 0000",
			Header05{Version: 1, E: true, InstructionCount: 3, MaxHopCount: 2, TotalHopCount: 2, Bitmap: 0x00E0},
		},
		{
			"Rep C", "38 01 08 01 8000 0000",
			Header05{Rep: 3, C: true, InstructionCount: 1, MaxHopCount: 8, TotalHopCount: 1, Bitmap: 0x8000},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			b := wiretest.Hex(t, test.hex)
			var h Header05
			if n, err := h.Decode04(b); n != 8 || err != nil || h != test.want {
				t.Errorf("got %d, %+v, %v; want %+v", n, h, err, test.want)
			}
			for i := range b {
				if n, err := h.Decode04(b[:i]); n != 0 || !errors.Is(err, wire.ErrINTHeaderTruncated) {
					t.Errorf("first %d bytes: got %d, %v", i, n, err)
				}
			}
		})
	}
}

func TestHeader05Stack(t *testing.T) {
	header := Header05{InstructionCount: 3, MaxHopCount: 8, TotalHopCount: 2, Bitmap: 0xC800}
	tests := []struct {
		name   string
		header Header05
		body   int
		widths *Widths
		hops   int
		err    error
	}{
		{"Good", header, 24, &Widths05, 2, nil},
		{"Long", header, 32, &Widths04Long, 2, nil},
		{"Empty", Header05{InstructionCount: 1, Bitmap: 0x8000}, 0, &Widths05, 0, nil},
		{
			"CountMismatch",
			Header05{InstructionCount: 3, TotalHopCount: 2, Bitmap: 0xC000},
			24, &Widths05, 0,
			wire.ErrInstructionCountMismatch,
		},
		{"TooShort", header, 20, &Widths05, 0, wire.ErrStackLengthMismatch},
		{"TooLong", header, 36, &Widths05, 0, wire.ErrStackLengthMismatch},
		// Capture onos_fabric_v04_udp_reports, frame 4: the maximum is ignored by the sender.
		{
			"TotalAboveMax",
			Header05{InstructionCount: 3, MaxHopCount: 2, TotalHopCount: 3, Bitmap: 0xE000},
			36,
			&Widths05, 3, nil,
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := test.header.Stack(make([]byte, test.body), test.widths)
			if s.Len() != test.hops || !errors.Is(err, test.err) {
				t.Errorf("got %d hops, %v; want %d, %v", s.Len(), err, test.hops, test.err)
			}
		})
	}
	t.Run("Cut", func(t *testing.T) {
		s, err := header.CutStack(make([]byte, 20), 24, &Widths05)
		if s.Len() != 1 || len(s.Partial) != 8 || !errors.Is(err, wire.ErrShimLengthOverrun) {
			t.Errorf("got %d hops, %d bytes left, %v", s.Len(), len(s.Partial), err)
		}
	})
}
