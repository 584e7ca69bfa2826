package telemetry_test

import (
	"slices"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/telemetry"
)

// The times of nodes in packets of the Linux kernel are those of the truth: seconds and microseconds.
func TestIOAMTimes(t *testing.T) {
	c := test.Dialect(t, "linux-ioam")
	times := 0
	for _, frame := range test.Packets(t, "ioam_basic_recv.pcap") {
		// Report 2.0 about a frame of a tracked flow, without anything of its sender.
		words := (len(frame) + 3) / 4
		payload := slices.Concat([]byte{0x20, 0, 0, 1, 0, 0, 0, 9, 0x03, byte(words), 0, 0x20}, frame,
			make([]byte, 4*words-len(frame)))
		_, reports := decode(t, c, payload)
		if len(reports) != 1 {
			t.Fatalf("%d reports", len(reports))
		}
		last := uint64(0)
		for _, h := range reports[0].Hops {
			if h.Has&telemetry.HasIngressTime == 0 {
				continue
			}
			times++
			// The capture is of November 2026, and routers on one machine have one clock.
			if h.IngressNs < 1763e15 || h.IngressNs > 1800e15 || h.IngressNs < last || last > 0 &&
				h.IngressNs-last > 100e6 {
				t.Errorf("got %d ns after %d", h.IngressNs, last)
			}
			last = h.IngressNs
		}
	}
	if times == 0 {
		t.Error("no times")
	}
}
