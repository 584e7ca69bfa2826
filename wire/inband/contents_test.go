package inband

import (
	"errors"
	"testing"

	"github.com/waybill-int/waybill/wire"
)

func TestContents(t *testing.T) {
	b := []byte{1, 0, 3, 0, 10, 11, 12, 13, 14, 15, 16, 17, 18}
	tests := []struct {
		name string
		b    []byte
		end  int
		want int
		err  error
	}{
		{"Whole", b, 12, 8, nil},
		{"Nothing", b, 4, 0, nil},
		{"Overrun", b, 16, 9, wire.ErrShimLengthOverrun},
		{"EndInsideShim", b, 0, 0, wire.ErrINTHeaderTruncated},
		{"NoShim", b[:3], 12, 0, wire.ErrTruncatedShim},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := Contents(test.b, test.end)
			if len(got) != test.want || cap(got) != test.want || !errors.Is(err, test.err) {
				t.Fatalf("got %d bytes (capacity %d), %v; want %d, %v", len(got), cap(got), err, test.want, test.err)
			}
			if len(got) > 0 && got[0] != 10 {
				t.Errorf("starts with %d, want 10", got[0])
			}
		})
	}
}
