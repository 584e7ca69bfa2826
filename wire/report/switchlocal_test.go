package report

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/wiretest"
	"github.com/waybill-int/waybill/wire"
)

// From the first frame of the capture fabric_tna_xd_udp_reports, with numbers in the queue.
const switchLocalHex = `
	00000001  // switch id
	0001 0002 // ingress port 1, egress port 2
	07 fffffe // queue id 7, queue occupancy
	006b7337  // egress timestamp`

func newSwitchLocal() wiretest.Codec { return new(SwitchLocal) }

func TestSwitchLocal(t *testing.T) {
	wiretest.Check(t, newSwitchLocal, switchLocalHex, &SwitchLocal{
		SwitchID: 1, IngressPort: 1, EgressPort: 2, QueueID: 7, QueueOccupancy: 0xFFFFFE, EgressTS: 0x6B7337,
	})
}

func TestSwitchLocalTruncated(t *testing.T) {
	h := SwitchLocal{SwitchID: 9}
	n, err := h.Decode(make([]byte, 15))
	if n != 0 || err != wire.ErrTruncatedLocalHeader || h != (SwitchLocal{}) {
		t.Errorf("got %d, %v, %+v; want 0, %v and the zero value", n, err, h, wire.ErrTruncatedLocalHeader)
	}
}

func TestSwitchLocalCutsTheOccupancyTo24Bits(t *testing.T) {
	h := SwitchLocal{QueueID: 1, QueueOccupancy: 0xFF000002}
	if b := h.Append(nil); b[8] != 1 || b[11] != 2 {
		t.Errorf("queue word: got %x, want 01000002", b[8:12])
	}
}
