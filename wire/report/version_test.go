package report

import (
	"testing"

	"github.com/waybill-int/waybill/wire"
)

func TestVersion(t *testing.T) {
	for nibble := range uint8(16) {
		var want error
		if nibble > 2 {
			want = wire.ErrUnknownVersion
		}
		if v, err := Version([]byte{nibble<<4 | 0x0F}); v != nibble || err != want {
			t.Errorf("nibble %d: got %d, %v; want %d, %v", nibble, v, err, nibble, want)
		}
	}
	if v, err := Version(nil); v != 0 || err != wire.ErrTruncatedFixedHeader {
		t.Errorf("no bytes: got %d, %v; want 0, %v", v, err, wire.ErrTruncatedFixedHeader)
	}
}
