package filter

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// TestEventChoices holds the choices to the kinds and severities of telemetry: each once, in the order of their numbers.
func TestEventChoices(t *testing.T) {
	if len(eventKinds) != telemetry.NumEventKinds-1 || len(severities) != int(telemetry.Critical)+1 {
		t.Fatalf("%d kinds and %d severities", len(eventKinds), len(severities))
	}
	for i, c := range eventKinds {
		k := telemetry.EventKind(i + 1)
		var read telemetry.EventKind
		if err := read.UnmarshalText([]byte(c.Name)); err != nil || read != k || c.Number != uint64(k) || c.Name != k.String() {
			t.Errorf("kind %d is %+v", k, c)
		}
	}
	for i, c := range severities {
		if s := telemetry.Severity(i); c.Number != uint64(s) || c.Name != s.String() {
			t.Errorf("severity %d is %+v", s, c)
		}
	}
}
