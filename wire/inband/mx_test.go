package inband

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestMX(t *testing.T) {
	wiretest.Check(t, func() wiretest.Codec { return new(MX) }, `
		28     // Ver 2, D
		000000 // reserved
		9000   // node id, queue
		abcd   // domain
		c000   // DS Instruction: bits 0 and 1
		0000   // DS Flags
	`, &MX{Version: 2, D: true, Bitmap: 0x9000, DomainID: 0xABCD, DSInstruction: 0xC000}) // vector int21_mx_source_inserted
}

func TestMXReserved(t *testing.T) {
	var h MX
	want := MX{Version: 2, Bitmap: 0x9000, DSFlags: 1}
	if _, err := h.Decode(wiretest.Hex(t, "27 ffffff 9000 0000 0000 0001")); err != nil || h != want {
		t.Errorf("Decode: got %+v, %v; want %+v", h, err, want)
	}
}

func TestMXSourceInserted(t *testing.T) {
	var h MX
	body := make([]byte, 8, 64)
	if got := h.SourceInserted(body); len(got) != 8 || cap(got) != 8 || &got[0] != &body[0] {
		t.Errorf("got %d bytes with capacity %d", len(got), cap(got))
	}
	if got := h.SourceInserted(body[:0]); got != nil {
		t.Errorf("empty body: got %v, want nil", got)
	}
}
