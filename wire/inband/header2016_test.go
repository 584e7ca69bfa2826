package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func TestHeader2016(t *testing.T) {
	fresh := func() wiretest.Codec { return new(Header2016) }
	t.Run("HopByHop", func(t *testing.T) { // vector int2016_geneve
		wiretest.Check(t, fresh, `
			00   // Ver 0, Rep 0, C 0, E 0
			02   // Instruction Count 2
			10   // Max Hop Count 16
			03   // Total Hop Count 3
			9000 // switch id, queue occupancy
			0000 // reserved
		`, &Header2016{InstructionCount: 2, MaxHopCount: 16, TotalHopCount: 3, Bitmap: 0x9000})
	})
	t.Run("Flags", func(t *testing.T) { // vector int2016_all_bits_copy_e
		wiretest.Check(t, fresh, `
			3c // Ver 0, Rep 3, C, E
			08 01 01 ff00 0000
		`, &Header2016{Rep: 3, C: true, E: true, InstructionCount: 8, MaxHopCount: 1, TotalHopCount: 1, Bitmap: 0xFF00})
	})
}

func TestHeader2016Reserved(t *testing.T) {
	var h Header2016
	want := Header2016{InstructionCount: 2, MaxHopCount: 16, TotalHopCount: 3, Bitmap: 0x9000}
	if _, err := h.Decode(wiretest.Hex(t, "03 e2 10 03 9000 ffff")); err != nil || h != want {
		t.Errorf("Decode: got %+v, %v; want %+v", h, err, want)
	}
}

func TestHeader2016Stack(t *testing.T) {
	good := "00000003 0000001e 00000002 00000014 00000001 8000000a" // vector int2016_geneve
	header := Header2016{InstructionCount: 2, MaxHopCount: 16, TotalHopCount: 3, Bitmap: 0x9000}
	with := func(change func(*Header2016)) Header2016 {
		h := header
		change(&h)
		return h
	}
	tests := []struct {
		name   string
		header Header2016
		body   string
		hops   int
		err    error
	}{
		{"Good", header, good, 3, nil},
		{"Empty", with(func(h *Header2016) { h.TotalHopCount = 0 }), "", 0, nil},
		{
			"CountMismatch", with(func(h *Header2016) { h.InstructionCount = 3 }), good, 0,
			wire.ErrInstructionCountMismatch,
		},
		{"TooShort", header, good[:len(good)-9], 0, wire.ErrStackLengthMismatch},
		{"TooLong", header, good + "00000000", 0, wire.ErrStackLengthMismatch},
		{
			"BOSBeforeBottom", header, "00000003 8000001e 00000002 00000014 00000001 8000000a", 0,
			wire.ErrBOSBeforeBottom,
		},
		{"BOSMissing", header, "00000003 0000001e 00000002 00000014 00000001 0000000a", 0, wire.ErrBOSMissing},
		{"TotalAboveMax", with(func(h *Header2016) { h.MaxHopCount = 2 }), good, 0, wire.ErrTotalHopCountExceedsMax},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := test.header.Stack(wiretest.Hex(t, test.body))
			if s.Len() != test.hops || !errors.Is(err, test.err) {
				t.Errorf("got %d hops, %v; want %d, %v", s.Len(), err, test.hops, test.err)
			}
		})
	}
}

func TestHeader2016CutStack(t *testing.T) {
	header := Header2016{InstructionCount: 2, MaxHopCount: 16, TotalHopCount: 3, Bitmap: 0x9000}
	s, err := header.CutStack(wiretest.Hex(t, "00000003 0000001e 00000002"), 24)
	if s.Len() != 1 || len(s.Partial) != 4 || !errors.Is(err, wire.ErrShimLengthOverrun) {
		t.Errorf("got %d hops, %d bytes left, %v", s.Len(), len(s.Partial), err)
	}
	if s, err = header.CutStack(wiretest.Hex(t, "00000003 8000001e 00000002"), 24); !errors.Is(err,
		wire.ErrBOSBeforeBottom) {
		t.Errorf("bottom of stack in the wrong word: got %d hops, %v", s.Len(), err)
	}
}
