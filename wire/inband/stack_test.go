package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/wire"
)

func TestNewStack(t *testing.T) {
	tests := []struct {
		name            string
		body, recordLen int
		hops            int
		err             error
	}{
		{"Good", 24, 12, 2, nil},
		{"Empty", 0, 12, 0, nil},
		{"NotMultiple", 16, 12, 0, wire.ErrStackNotMultiple},
		{"NoRecord", 4, 0, 0, wire.ErrStackNotMultiple},
		{"NegativeRecord", 4, -4, 0, wire.ErrStackNotMultiple},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s, err := NewStack(make([]byte, test.body), test.recordLen)
			if s.Len() != test.hops || !errors.Is(err, test.err) {
				t.Errorf("got %d hops, %v; want %d, %v", s.Len(), err, test.hops, test.err)
			}
		})
	}
}

func TestStackRecord(t *testing.T) {
	s, err := NewStack([]byte{0, 1, 2, 3, 4, 5, 6, 7}, 4)
	if err != nil {
		t.Fatal(err)
	}
	for i := range s.Len() {
		record := s.Record(i)
		if len(record) != 4 || cap(record) != 4 || record[0] != byte(4*i) {
			t.Errorf("Record(%d): got %v with capacity %d", i, record, cap(record))
		}
	}
	for _, i := range []int{-1, 2} {
		if got := s.Record(i); got != nil {
			t.Errorf("Record(%d): got %v, want nil", i, got)
		}
		if got := s.DSMetadata(i); got != nil {
			t.Errorf("DSMetadata(%d): got %v, want nil", i, got)
		}
	}
}
