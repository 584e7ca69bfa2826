package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

// From the second frame of the capture fabric_tna_xd_drop_reports.
const dropHeaderHex = `
	00000002   // switch id
	0003 0000  // ingress port 3, egress port 0
	00 50 0000 // queue id 0, drop reason 80, pad`

func newDropHeader() wiretest.Codec { return new(DropHeader) }

func TestDropHeader(t *testing.T) {
	wiretest.Check(t, newDropHeader, dropHeaderHex, &DropHeader{SwitchID: 2, IngressPort: 3, Reason: 80})
}

func TestDropHeaderTruncated(t *testing.T) {
	h := DropHeader{SwitchID: 9}
	n, err := h.Decode(make([]byte, 11))
	if n != 0 || err != wire.ErrTruncatedDropHeader || h != (DropHeader{}) {
		t.Errorf("got %d, %v, %+v; want 0, %v and the zero value", n, err, h, wire.ErrTruncatedDropHeader)
	}
}

func TestDropHeaderIgnoresThePad(t *testing.T) {
	var h DropHeader
	if _, err := h.Decode(wiretest.Hex(t, "00000002 00030004 0550 ffff")); err != nil {
		t.Fatal(err)
	}
	if want := (DropHeader{SwitchID: 2, IngressPort: 3, EgressPort: 4, QueueID: 5, Reason: 80}); h != want {
		t.Errorf("got %+v, want %+v", h, want)
	}
}
