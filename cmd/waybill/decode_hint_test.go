package main

import (
	"encoding/hex"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// The command that is shown below an event decodes its report.
func TestDecodeHint(t *testing.T) {
	report := hex.EncodeToString(test.Report(test.Form20MD, 1, 7, 3))
	s := test.CannedServer(t, map[string]string{"events": `{"events": [{"id": "1-1", "bytes": "` + report + `"}]}`})
	_, hint, _ := runWaybill(t, "events", "--server", s.URL)
	_, command, ok := strings.Cut(hint, "\nwaybill ")
	if !ok {
		t.Fatalf("got %q", hint)
	}
	stdout, stderr, code := runWaybill(t, strings.Fields(command)...)
	if code != 0 || !strings.Contains(stdout, "telemetry report v2.0 of node 3") {
		t.Errorf("%s: code %d\n%s%s", command, code, stdout, stderr)
	}
}
