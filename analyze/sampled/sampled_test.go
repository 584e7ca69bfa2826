package sampled

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// Counts that come before their rate is told, as after a start, are multiplied by it when it comes; and later ones that
// lack it by the latest.
func TestRateIsToldLater(t *testing.T) {
	table := New(10)
	var r telemetry.Report
	for _, step := range []struct {
		rate           uint32
		packets, bytes uint64
	}{{0, 5, 500}, {0, 10, 1000}, {20, 300, 30000}, {20, 400, 40000}, {0, 500, 50000}, {10, 550, 55000}} {
		r.Observed = telemetry.Observed{Packets: 5, Bytes: 500, Rate: step.rate, BeganMs: 2000, EndedMs: 1000}
		table.Add(&r, 10e9)
		if p := table.Of(&r.Flow).Best(); p.Packets != step.packets || p.Bytes != step.bytes {
			t.Errorf("got %d packets, %d bytes, want %+v", p.Packets, p.Bytes, step)
		}
	}
	if _, first, last := table.Of(&r.Flow).Route(); first != 8e9 || last != 9e9 {
		t.Errorf("from %d to %d, want 8 s to 9 s", first, last)
	}
}
