package ioam_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

func TestSnapshot(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ioam.Snapshot) }
	t.Run("two words", func(t *testing.T) { // from vector ioam_ipv6_all_fields_oss
		wiretest.Check(t, fresh, `
			02                // Length: words of data
			00cafe            // Schema ID
			deadbeef00000001  // data
		`, &ioam.Snapshot{SchemaID: 0xcafe, Data: []byte{0xde, 0xad, 0xbe, 0xef, 0, 0, 0, 1}})
	})
	t.Run("none", func(t *testing.T) {
		wiretest.Check(t, fresh, `
			00      // Length
			ffffff  // Schema ID: no snapshot
		`, &ioam.Snapshot{SchemaID: 0xffffff})
	})
}

func TestSnapshotOverrun(t *testing.T) {
	b := []byte{2, 0, 0xca, 0xfe, 1, 2, 3, 4, 5, 6, 7}
	var s ioam.Snapshot
	if n, err := s.Decode(b); n != 0 || err != wire.ErrIOAMSnapshotOverrun {
		t.Errorf("got %d, %v; want 0, %v", n, err, wire.ErrIOAMSnapshotOverrun)
	}
	if s.SchemaID != 0xcafe {
		t.Errorf("SchemaID: got %#x, want 0xcafe: it was read before the overrun", s.SchemaID)
	}
	if _, err := s.Decode(b[:3]); err != wire.ErrTruncatedIOAM {
		t.Errorf("first word cut: got %v, want %v", err, wire.ErrTruncatedIOAM)
	}
}

func TestSnapshotAppendFitsDataToWords(t *testing.T) {
	odd := ioam.Snapshot{SchemaID: 0xff000001, Data: []byte{1, 2, 3, 4, 5}}
	want := []byte{2, 0, 0, 1, 1, 2, 3, 4, 5, 0, 0, 0}
	if got := odd.Append(nil); !bytes.Equal(got, want) || odd.Len() != len(want) {
		t.Errorf("five bytes: got %x (Len %d), want %x", got, odd.Len(), want)
	}
	long := ioam.Snapshot{Data: make([]byte, 2000)}
	if got := long.Append(nil); len(got) != 1024 || long.Len() != 1024 || got[0] != 255 {
		t.Errorf("2000 bytes: got %d bytes, Len %d, Length %d; want 1024, 1024, 255", len(got), long.Len(), got[0])
	}
}
