package telemetry_test

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

func TestDeviceText(t *testing.T) {
	for id, want := range map[uint64]string{
		0xa61af6b164010000: "a6:1a:f6:b1:64:01", 0x0a: "00:00:00:00:00:00:00:0a", 0: "00:00:00:00:00:00",
	} {
		if got := telemetry.DeviceText(id); got != want {
			t.Errorf("%x: got %s, want %s", id, got, want)
		}
	}
}
