package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
)

func TestMDWords(t *testing.T) {
	for _, tc := range []struct {
		bits uint16
		want int
	}{
		{0, 0},
		{MDInterfaces, 1},
		{MDHopLatency, 1},
		{MDQueue, 1},
		{MDIngressTS, 2},
		{MDEgressTS, 2},
		{MDL2Interfaces, 2},
		{MDTxUtil, 1},
		{MDBuffer, 1},
		{MDDrop, 1},
		{0x8000, 1}, // reserved
		{0x0040, 1}, // reserved
		{0x7F81, 12},
		{0xFFFF, 19},
	} {
		if got := MDWords(tc.bits); got != tc.want {
			t.Errorf("bits %#04x: got %d words, want %d", tc.bits, got, tc.want)
		}
	}
}

func TestMetadataAllOnesIsInvalid(t *testing.T) {
	h := V20{RepType: RepINT, RepMdBits: 0xFFFF, Metadata: Metadata{Bits: 0xFFFF}, MDLength: 19, ReportLength: 21}
	b := h.Append(nil)
	for i := 12; i < len(b); i++ {
		b[i] = 0xFF
	}
	var got V20
	if _, err := got.Decode(b); err != nil {
		t.Fatal(err)
	}
	if got.Metadata.Invalid != 0xFFFF {
		t.Errorf("got invalid %#04x, want all bits", got.Metadata.Invalid)
	}
	if again := got.Append(nil); string(again) != string(b) {
		t.Errorf("Append:\ngot  %x\nwant %x", again, b)
	}
}

// A value is invalid only if all of its bytes are ones: half of a split word is a number.
func TestMetadataHalfOfOnesIsValid(t *testing.T) {
	var h V20
	if _, err := h.Decode(wiretest.Hex(t, `
		10080600 7201 0000 0000 0000
		ffff 0001          // interfaces
		fffffffe           // hop latency
		ff ffff00          // queue
		ffffffff 00000001  // level 2 interfaces
		ff ff 0000         // drop reason, pad`)); err != nil {
		t.Fatal(err)
	}
	want := Metadata{
		Bits:        0x7201,
		IngressPort: 0xFFFF, EgressPort: 1, HopLatency: 0xFFFFFFFE, QueueID: 0xFF, QueueOccupancy: 0xFFFF00,
		L2Ingress: 0xFFFFFFFF, L2Egress: 1, DropQueueID: 0xFF, DropReason: 0xFF,
	}
	if h.Metadata != want {
		t.Errorf("got %+v, want %+v", h.Metadata, want)
	}
}

func TestMetadataReservedWords(t *testing.T) {
	var h V20
	if _, err := h.Decode(wiretest.Hex(t, `
		10090700 807e 0000 0000 0000
		00000010 00000019 0000001a 0000001b 0000001c 0000001d 0000001e // bit 0, bits 9 to 14`)); err != nil {
		t.Fatal(err)
	}
	want := Metadata{Bits: mdReserved, Reserved: [8]uint32{0x10, 0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E}}
	if h.Metadata != want {
		t.Errorf("got %+v, want %+v", h.Metadata, want)
	}
}
