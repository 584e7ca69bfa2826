package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

func TestHeader10(t *testing.T) {
	fresh := func() wiretest.Codec { return new(Header10) }
	t.Run("Plain", func(t *testing.T) { // vector int10_tcp_dscp
		wiretest.Check(t, fresh, `
			10   // Ver 1, Rep 0, C 0, E 0
			00   // M 0
			02   // Hop ML 2
			06   // Remaining Hop Count 6
			9000 // switch id, queue
			0000 // reserved
		`, &Header10{Version: 1, HopML: 2, RemainingHopCount: 6, Bitmap: 0x9000})
	})
	t.Run("Flags", func(t *testing.T) { // vector int10_vxlan_gpe_all
		wiretest.Check(t, fresh, `
			17 // Ver 1, Rep 1, C, E
			80 // M
			09 00 ff00 0000
		`, &Header10{Version: 1, Rep: 1, C: true, E: true, M: true, HopML: 9, Bitmap: 0xFF00})
	})
	t.Run("Sequence", func(t *testing.T) { // capture geant_v10_head_udp_s2s3, frame 2
		wiretest.Check(t, fresh, `
			10 00 06 06 cc00
			0001 // sequence number of the source
		`, &Header10{Version: 1, HopML: 6, RemainingHopCount: 6, Bitmap: 0xCC00, Reserved16: 1})
	})
}

func TestHeader10Reserved(t *testing.T) {
	var h Header10
	want := Header10{Version: 1, HopML: 2, RemainingHopCount: 6, Bitmap: 0x9000}
	if _, err := h.Decode(wiretest.Hex(t, "10 7f e2 06 9000 0000")); err != nil || h != want {
		t.Errorf("Decode: got %+v, %v; want %+v", h, err, want)
	}
}

func TestHeader10Format(t *testing.T) {
	tests := []struct {
		name   string
		bitmap uint16
		hopML  uint8
		want   Format
		err    error
	}{
		{"Spec", 0xFF00, 9, Format10, nil},
		{"Long", 0xFF00, 10, Format10Long, nil},
		{"Timestamps", 0xCC00, 6, Format10Long, nil},
		{"Same", 0xF000, 4, Format10, nil},
		{"Ambiguous", 0x0A00, 3, Format10, nil}, // one timestamp and level 2: three words either way
		{"Neither", 0xFF00, 8, Format10, wire.ErrHopMLMismatch},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			h := Header10{HopML: test.hopML, Bitmap: test.bitmap}
			if got, err := h.Format(); got != test.want || !errors.Is(err, test.err) {
				t.Errorf("got %d, %v; want %d, %v", got, err, test.want, test.err)
			}
		})
	}
}

func TestHeader10Stack(t *testing.T) {
	tests := []struct {
		name   string
		header Header10
		body   int
		widths *Widths
		hops   int
		err    error
	}{
		{"Good", Header10{HopML: 2, Bitmap: 0x9000}, 24, &Widths10, 3, nil},
		{"Long", Header10{HopML: 6, Bitmap: 0xCC00}, 48, &Widths10Long, 2, nil},
		{"Empty", Header10{HopML: 2, Bitmap: 0x9000}, 0, &Widths10, 0, nil},
		{"NothingAsked", Header10{}, 0, &Widths10, 0, nil},
		{"NothingAskedButSent", Header10{}, 4, &Widths10, 0, wire.ErrStackNotMultiple},
		{"HopMLMismatch", Header10{HopML: 3, Bitmap: 0x9000}, 24, &Widths10, 0, wire.ErrHopMLMismatch},
		{"NotMultiple", Header10{HopML: 2, Bitmap: 0x9000}, 20, &Widths10, 0, wire.ErrStackNotMultiple},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := test.header.Stack(make([]byte, test.body), test.widths)
			if s.Len() != test.hops || !errors.Is(err, test.err) {
				t.Errorf("got %d hops, %v; want %d, %v", s.Len(), err, test.hops, test.err)
			}
		})
	}
}
