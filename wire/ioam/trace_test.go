package ioam_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ioam"
)

// From vector ioam_ipv6_incremental_overflow.
const traceHex = `
	8001    // Namespace-ID
	1c01    // NodeLen 3, O 1, L 0, A 0, RemainingLen 1
	e00000  // IOAM-Trace-Type: bits 0, 1, 2
	00      // reserved
`

func TestTrace(t *testing.T) {
	fresh := func() wiretest.Codec { return new(ioam.Trace) }
	t.Run("overflow", func(t *testing.T) {
		wiretest.Check(t, fresh, traceHex,
			&ioam.Trace{NamespaceID: 0x8001, NodeLen: 3, Overflow: true, RemainingLen: 1, Type: 0xe00000})
	})
	t.Run("all fields", func(t *testing.T) {
		wiretest.Check(t, fresh, `
			0102    // Namespace-ID
			fb7f    // NodeLen 31, O 0, L 1, A 1, RemainingLen 127
			123456  // IOAM-Trace-Type
			00      // reserved
		`, &ioam.Trace{NamespaceID: 0x0102, NodeLen: 31, Loopback: true, Active: true, RemainingLen: 127, Type: 0x123456})
	})
}

func TestTraceSendsReservedBitsAsZero(t *testing.T) {
	received := []byte{0, 0, 0x08, 0x80, 0x80, 0, 0, 0xff} // undefined flag and reserved byte set
	var trace ioam.Trace
	if _, err := trace.Decode(received); err != nil {
		t.Fatal(err)
	}
	if got, want := trace.Append(nil), []byte{0, 0, 0x08, 0, 0x80, 0, 0, 0}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestTraceAppendMasksWidths(t *testing.T) {
	trace := ioam.Trace{NodeLen: 0xff, RemainingLen: 0xff, Type: 0xffffffff}
	if got, want := trace.Append(nil), []byte{0, 0, 0xf8, 0x7f, 0xff, 0xff, 0xff, 0}; !bytes.Equal(got, want) {
		t.Errorf("got %x, want %x", got, want)
	}
}

func TestTraceCheck(t *testing.T) {
	tests := []struct {
		name    string
		nodeLen uint8
		bits    uint32
		want    error
	}{
		{"agrees", 3, 0xe00000, nil},
		{"snapshot not counted", 3, 0xe00002, nil},
		{"reserved bit 23 not counted", 3, 0xe00001, nil},
		{"zero", 0, 0xe00000, wire.ErrIOAMNodeLenZero},
		{"zero with a snapshot only", 0, ioam.BitSnapshot, wire.ErrIOAMNodeLenZero},
		{"too small", 2, 0xe00000, wire.ErrIOAMNodeLenMismatch},
		{"too large", 4, 0xe00000, wire.ErrIOAMNodeLenMismatch},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			trace := ioam.Trace{NodeLen: tt.nodeLen, Type: tt.bits}
			if got := trace.Check(); got != tt.want {
				t.Errorf("got %v, want %v", got, tt.want)
			}
		})
	}
}

func TestNodeLen(t *testing.T) {
	tests := []struct {
		bits uint32
		want int
	}{
		{0, 0},
		{ioam.BitHopLimitNodeID, 1},
		{0xff0000, 8},
		{ioam.BitHopLimitNodeIDWide, 2},
		{ioam.BitInterfacesWide, 2},
		{ioam.BitNSDataWide, 2},
		{ioam.BitBufferOccupancy, 1},
		{0x000800, 1},
		{0x000004, 1},
		{ioam.BitsUndefined, 10},
		{ioam.BitSnapshot, 0},
		{0x000001, 0},
		{0xffffff, 25},
		{0xff000000, 0}, // outside of the 24 bits
	}
	for _, tt := range tests {
		if got := ioam.NodeLen(tt.bits); got != tt.want {
			t.Errorf("NodeLen(%#06x): got %d, want %d", tt.bits, got, tt.want)
		}
	}
}

func BenchmarkTraceDecode(b *testing.B) {
	data := wiretest.Hex(b, traceHex)
	var trace ioam.Trace
	b.ReportAllocs()
	b.SetBytes(int64(len(data)))
	for b.Loop() {
		if _, err := trace.Decode(data); err != nil || trace.NodeLen != 3 {
			b.Fatal(trace, err)
		}
	}
}
