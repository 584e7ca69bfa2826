package ifa_test

import (
	"bytes"
	"testing"

	"github.com/waybill-int/waybill/wire"
	"github.com/waybill-int/waybill/wire/ifa"
)

func TestStack(t *testing.T) {
	older := hop
	older.DeviceID = 0xa11
	records := older.Append(hop.Append(nil))
	tests := []struct {
		name          string
		currentLength uint8
		hops          int
		raw           int // bytes
	}{
		{"two hops", 16, 2, 0},
		{"one hop, the rest is payload", 8, 1, 0},
		{"empty", 0, 0, 0},
		{"a remainder", 9, 1, 4},
		{"smaller than a hop", 5, 0, 20},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			metadata := ifa.Metadata{CurrentLength: tt.currentLength}
			stack, err := metadata.Stack(&ifa.Header{MaxLength: 255}, records)
			if err != nil {
				t.Fatal(err)
			}
			if !bytes.Equal(stack.Words, records[:4*tt.currentLength]) || cap(stack.Words) != len(stack.Words) {
				t.Errorf("Words: got %x, capacity %d", stack.Words, cap(stack.Words))
			}
			if !bytes.Equal(stack.Raw, records[32*tt.hops:][:tt.raw]) {
				t.Errorf("Raw: got %x, want %d bytes", stack.Raw, tt.raw)
			}
			want := []ifa.Hop{hop, older}[:tt.hops]
			var h ifa.Hop
			for i := range want {
				if !stack.Next(&h) || h != want[i] {
					t.Errorf("hop %d: got %+v, want %+v", i, h, want[i])
				}
			}
			if stack.Next(&h) {
				t.Error("Next after the end reports a record")
			}
		})
	}
}

func TestStackErrors(t *testing.T) {
	tests := []struct {
		name          string
		currentLength uint8
		maxLength     uint8
		available     int
		want          error
	}{
		{"as long as allowed", 16, 16, 64, nil},
		{"longer than allowed", 17, 16, 100, wire.ErrIFALengthExceedsMax},
		{"one byte missing", 16, 255, 63, wire.ErrIFAStackTruncated},
		{"nothing there", 255, 255, 0, wire.ErrIFAStackTruncated},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			metadata := ifa.Metadata{CurrentLength: tt.currentLength}
			stack, err := metadata.Stack(&ifa.Header{MaxLength: tt.maxLength}, make([]byte, tt.available))
			if err != tt.want {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			if err != nil && (stack.Words != nil || stack.Next(new(ifa.Hop))) {
				t.Errorf("got a stack of %d bytes with the error", len(stack.Words))
			}
		})
	}
}

func TestStackNoAllocs(t *testing.T) {
	b := hop.Append(hop.Append(nil))
	header, metadata := ifa.Header{MaxLength: 255}, ifa.Metadata{CurrentLength: 16}
	allocs := testing.AllocsPerRun(100, func() {
		stack, err := metadata.Stack(&header, b)
		if err != nil {
			t.Fatal(err)
		}
		var h ifa.Hop
		for stack.Next(&h) {
		}
	})
	if allocs != 0 {
		t.Errorf("got %v allocations, want 0", allocs)
	}
}
