package docs_test

import (
	"regexp"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// TestEventsPage holds the sections of events.md to the kinds of events, each once.
func TestEventsPage(t *testing.T) {
	seen := map[telemetry.EventKind]bool{}
	for _, m := range regexp.MustCompile(`(?m)^## (.*)$`).FindAllStringSubmatch(read(t, "reference/events.md"), -1) {
		var k telemetry.EventKind
		if err := k.UnmarshalText([]byte(m[1])); err != nil || k == 0 || seen[k] {
			t.Errorf("events.md: %s is no kind of event, or twice on the page", m[1])
		}
		seen[k] = true
	}
	if len(seen) < 8 {
		t.Errorf("events.md: %d kinds", len(seen))
	}
}
