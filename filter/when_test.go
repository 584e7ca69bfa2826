package filter

import (
	"testing"
	"time"
)

// TestParseTime: a time is that of RFC 3339, or of a zone as people write it.
func TestParseTime(t *testing.T) {
	zone := time.FixedZone("", 3600)
	for text, want := range map[string]string{
		"2026-11-22T12:00:00Z": "2026-11-22T12:00:00Z", "2026-11-22t12:00:00.5+02:00": "2026-11-22T10:00:00.5Z",
		"2026-11-22 12:00": "2026-11-22T11:00:00Z", "2026-11-22 12:00:01.25": "2026-11-22T11:00:01.25Z",
		"2026-11-22T12:00": "2026-11-22T11:00:00Z", "2026-11-22": "2026-11-21T23:00:00Z",
		"10m": "", "2026-11-22 noon": "", "": "",
	} {
		got, err := ParseTime(text, zone)
		if (err != nil) != (want == "") || err == nil && got.UTC().Format(time.RFC3339Nano) != want {
			t.Errorf("%s: got %v, %v", text, got, err)
		}
	}
}
