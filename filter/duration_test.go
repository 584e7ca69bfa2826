package filter

import (
	"strings"
	"testing"
	"time"
)

func TestParseDuration(t *testing.T) {
	const day = 24 * time.Hour
	for text, want := range map[string]time.Duration{
		"10m": 10 * time.Minute, "1h30m": 90 * time.Minute, "1.5h": 90 * time.Minute, "500us": 500 * time.Microsecond,
		"0": 0, "0s": 0,
		"1d": day, "7d": 7 * day, "2w": 14 * day, "1w2d": 9 * day, "90d": 90 * day, "1.5d": 36 * time.Hour,
	} {
		if got, err := ParseDuration(text); err != nil || got != want {
			t.Errorf("%s: got %v, %v, want %v", text, got, err, want)
		}
		// What Go reads means the same here.
		if of, err := time.ParseDuration(text); err == nil && of != want {
			t.Errorf("%s: Go says %v, want %v", text, of, want)
		}
	}
	for text, want := range map[string]string{
		"": "expected a duration", "-5m": "expected a duration", "7": "has no unit", "7 d": "no unit", "1y": "no unit",
		"d":     "expected a duration",
		"0.5ns": "not a whole number", "300y": "no unit", "20000w": "too large", "99999999999999999999d": "too large",
	} {
		if got, err := ParseDuration(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, %v, want an error with %q", text, got, err, want)
		}
	}
}
