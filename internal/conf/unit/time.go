package unit

import (
	"strings"
	"time"
)

// layouts are how times are written: that of RFC 3339, which names its zone, and what people write.
var layouts = []string{
	time.RFC3339Nano, time.DateTime, "2006-01-02 15:04", "2006-01-02T15:04:05", "2006-01-02T15:04", time.DateOnly,
}

// ParseTime reads a time such as 2026-11-22T12:00:00Z, 2026-11-22 12:00 or 2026-11-22; without a zone it is in one.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	for _, layout := range layouts {
		if t, err := time.ParseInLocation(layout, strings.ToUpper(text), zone); err == nil {
			return t, nil
		}
	}
	return time.Time{}, Want("a time such as 2026-12-24T18:00:00Z, or 2026-12-24 18:00 in UTC")
}
