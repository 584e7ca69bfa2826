package inband

import (
	"bytes"
	"errors"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

const domain = 0xABCD

func TestMDStack(t *testing.T) {
	tests := []struct {
		name   string
		header MD
		so     int
		body   int
		want   Stack // of which RecordLen, DS, Unsure and the length of SourceOnly count
		hops   int
		err    error
	}{
		{"Good", MD{HopML: 2, Bitmap: 0x9000}, 0, 24, Stack{RecordLen: 8}, 3, nil},
		{"Empty", MD{HopML: 2, Bitmap: 0x9000}, 0, 0, Stack{RecordLen: 8}, 0, nil},
		{"DefaultDomainIsKnown", MD{HopML: 2, Bitmap: 0x9000}, -1, 24, Stack{RecordLen: 8}, 3, nil},
		{"DefaultDomainRemainder", MD{HopML: 2, Bitmap: 0x9000}, -1, 28, Stack{}, 0, wire.ErrStackNotMultiple},
		{"DefaultDomainDS", MD{HopML: 3, Bitmap: 0x9000}, 0, 24, Stack{}, 0, wire.ErrHopMLMismatch},
		{"DefaultDomainSourceOnly", MD{HopML: 2, Bitmap: 0x9000}, 8, 24, Stack{}, 0, wire.ErrHopMLMismatch},
		{"HopMLBelowBitmap", MD{HopML: 1, Bitmap: 0x9000, DomainID: domain}, 0, 8, Stack{}, 0, wire.ErrHopMLMismatch},
		{"NotMultiple", MD{HopML: 2, Bitmap: 0x9000}, 0, 12, Stack{}, 0, wire.ErrStackNotMultiple},
		{"PerHopDS", MD{HopML: 4, Bitmap: 0x9000, DomainID: domain}, 0, 32, Stack{RecordLen: 16, DS: 8}, 2, nil},
		{
			"SourceOnly",
			MD{HopML: 1, Bitmap: 0x8000, DomainID: domain},
			8, 20,
			Stack{RecordLen: 4, SourceOnly: make([]byte, 8)},
			3, nil,
		},
		{
			"SourceOnlyWithoutRecord",
			MD{HopML: 1, Bitmap: 0x8000, DomainID: domain},
			8, 8,
			Stack{RecordLen: 4, SourceOnly: make([]byte, 8)},
			0, nil,
		},
		{
			"SourceOnlyTruncated",
			MD{HopML: 1, Bitmap: 0x8000, DomainID: domain},
			8, 4,
			Stack{},
			0,
			wire.ErrSourceOnlyTruncated,
		},
		{
			"SourceOnlyNotMultiple",
			MD{HopML: 2, Bitmap: 0x9000, DomainID: domain},
			8, 20,
			Stack{},
			0,
			wire.ErrStackNotMultiple,
		},
		{
			"UnknownDomainNone",
			MD{HopML: 2, Bitmap: 0x9000, DomainID: domain},
			-1, 16,
			Stack{RecordLen: 8, Unsure: true},
			2, nil,
		},
		{
			"UnknownDomainRemainder",
			MD{HopML: 2, Bitmap: 0x9000, DomainID: domain},
			-1, 20,
			Stack{RecordLen: 8, SourceOnly: make([]byte, 4), Unsure: true},
			2, nil,
		},
		{"NothingAsked", MD{}, 0, 0, Stack{}, 0, nil},
		{"NothingAskedButSent", MD{}, 0, 4, Stack{}, 0, wire.ErrStackNotMultiple},
		{"NothingAskedUnknownDomain", MD{DomainID: domain}, -1, 4, Stack{}, 0, wire.ErrStackNotMultiple},
		{"OnlySourceOnly", MD{DomainID: domain}, 8, 8, Stack{SourceOnly: make([]byte, 8)}, 0, nil},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := test.header.Stack(make([]byte, test.body), test.so)
			if s.Len() != test.hops || !errors.Is(err, test.err) {
				t.Fatalf("got %d hops, %v; want %d, %v", s.Len(), err, test.hops, test.err)
			}
			if s.RecordLen != test.want.RecordLen || s.DS != test.want.DS || s.Unsure != test.want.Unsure ||
				!bytes.Equal(s.SourceOnly, test.want.SourceOnly) {
				t.Errorf("got %+v, want %+v", s, test.want)
			}
		})
	}
}

// TestMDStackBottom shows where each part of the bottom record lies. Two records: node id aa.. and bb...
func TestMDStackBottom(t *testing.T) {
	tests := []struct {
		name       string
		header     MD
		so         int
		body       string
		sourceOnly string
		ds         [2]string // DSMetadata of both records
		complement [2]uint32
	}{
		{
			"SourceOnly",
			MD{HopML: 1, Bitmap: 0x8000, DomainID: domain},
			8,
			`aaaaaaaa
			 bbbbbbbb 1111111111111111`,
			"1111111111111111",
			[2]string{},
			[2]uint32{},
		},
		{
			"SourceOnlyComplement",
			MD{HopML: 2, Bitmap: 0x8001, DomainID: domain},
			8,
			`aaaaaaaa                  00000001
			 bbbbbbbb 1111111111111111 00000002`,
			"1111111111111111",
			[2]string{},
			[2]uint32{1, 2},
		},
		{
			"PerHopDSComplement",
			MD{HopML: 3, Bitmap: 0x8001, DomainID: domain},
			0,
			`aaaaaaaa 22222222 00000001
			 bbbbbbbb 33333333 00000002`,
			"",
			[2]string{"22222222", "33333333"},
			[2]uint32{1, 2},
		},
		{
			"Mixed",
			MD{HopML: 3, Bitmap: 0x8001, DomainID: domain},
			8,
			`aaaaaaaa 22222222                  00000001
			 bbbbbbbb 1111111133333333 11111111 00000002`,
			"",
			[2]string{"22222222", "111111113333333311111111"},
			[2]uint32{1, 2},
		},
		{
			"MixedNoComplement",
			MD{HopML: 2, Bitmap: 0x8000, DomainID: domain},
			4,
			`aaaaaaaa 22222222
			 bbbbbbbb 33333333 11111111`,
			"",
			[2]string{"22222222", "3333333311111111"},
			[2]uint32{},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := test.header.Stack(wiretest.Hex(t, test.body), test.so)
			if err != nil || s.Len() != 2 {
				t.Fatalf("got %d hops, %v", s.Len(), err)
			}
			if !bytes.Equal(s.SourceOnly, wiretest.Hex(t, test.sourceOnly)) {
				t.Errorf("SourceOnly: got %x, want %s", s.SourceOnly, test.sourceOnly)
			}
			layout := NewLayout(Format20, test.header.Bitmap)
			for i, nodeID := range []uint32{0xAAAAAAAA, 0xBBBBBBBB} {
				var m Metadata
				layout.Decode(s.Record(i), &m)
				if m.NodeID != nodeID || m.Complement != test.complement[i] {
					t.Errorf("record %d: got node %x, complement %d", i, m.NodeID, m.Complement)
				}
				if got := s.DSMetadata(i); !bytes.Equal(got, wiretest.Hex(t, test.ds[i])) {
					t.Errorf("DSMetadata(%d): got %x, want %s", i, got, test.ds[i])
				}
			}
		})
	}
}

// TestMDCutStack cuts a stack of two records at every byte.
func TestMDCutStack(t *testing.T) {
	tests := []struct {
		name   string
		header MD
		so     int
		length int
		hops   func(there int) int
	}{
		{"Plain", MD{HopML: 2, Bitmap: 0x9000}, 0, 16, func(there int) int { return there / 8 }},
		// Without anything behind them, source-only metadata may be missing from a whole record.
		{
			"SourceOnly",
			MD{HopML: 1, Bitmap: 0x8000, DomainID: domain},
			8, 16,
			func(there int) int { return min(2, there/4) },
		},
		// The complement behind them may not: the bottom record is not whole before its last byte.
		{
			"SourceOnlyComplement",
			MD{HopML: 2, Bitmap: 0x8001, DomainID: domain},
			8, 24,
			func(there int) int { return min(1, there/8) },
		},
		{
			"Mixed",
			MD{HopML: 2, Bitmap: 0x8000, DomainID: domain},
			4, 20,
			func(there int) int { return min(1, there/8) },
		},
		{"SourceOnlyWithoutRecord", MD{HopML: 1, Bitmap: 0x8000, DomainID: domain}, 8, 8, func(int) int { return 0 }},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			for there := range test.length {
				body := make([]byte, there)
				s, err := test.header.CutStack(body, test.length, test.so)
				if want := test.hops(there); s.Len() != want || !errors.Is(err, wire.ErrShimLengthOverrun) {
					t.Fatalf("%d bytes: got %d hops, %v; want %d", there, s.Len(), err, want)
				}
				if s.SourceOnly != nil {
					t.Errorf("%d bytes: got source-only metadata %x", there, s.SourceOnly)
				}
				if len(s.Records)+len(s.Partial) > there {
					t.Errorf("%d bytes: got %d in records and %d in the partial one", there, len(s.Records),
						len(s.Partial))
				}
			}
			if s, err := test.header.CutStack(make([]byte, test.length+8), test.length, test.so); err != nil ||
				s.Partial != nil {
				t.Errorf("more bytes than announced: got %+v, %v", s, err)
			}
		})
	}
	t.Run("OtherErrorsFirst", func(t *testing.T) {
		header := MD{HopML: 2, Bitmap: 0x9000}
		if _, err := header.CutStack(make([]byte, 8), 12, 0); !errors.Is(err, wire.ErrStackNotMultiple) {
			t.Errorf("got %v", err)
		}
		if _, err := header.CutStack(nil, -4, 0); !errors.Is(err, wire.ErrINTHeaderTruncated) {
			t.Errorf("negative length: got %v", err)
		}
	})
}

func TestMDStackNoAllocs(t *testing.T) {
	header, body := MD{HopML: 2, Bitmap: 0x9000}, make([]byte, 24)
	layout := NewLayout(Format20, header.Bitmap)
	var m Metadata
	allocs := testing.AllocsPerRun(100, func() {
		s, _ := header.Stack(body, 0)
		for i := range s.Len() {
			layout.Decode(s.Record(i), &m)
		}
		_, _ = header.Stack(body[1:], 0)
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}
