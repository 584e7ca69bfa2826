package filter

import (
	"errors"
	"strings"
	"time"

	confunit "github.com/waybill-int/waybill/internal/conf/unit"
)

// The times that nanoseconds since 1970 can tell in 64 bits, rounded to years.
var (
	firstTime = time.Date(1678, 1, 1, 0, 0, 0, 0, time.UTC)
	lastTime  = time.Date(2262, 1, 1, 0, 0, 0, 0, time.UTC)
)

// ParseTime reads a time such as 2026-11-22T12:00:00Z, 2026-11-22 12:00 or 2026-11-22; without a zone it is in one.
func ParseTime(text string, zone *time.Location) (time.Time, error) {
	t, err := confunit.ParseTime(text, zone)
	if err != nil {
		return t, errors.New(expected(Time, text))
	}
	return t, nil
}

// readTime reads a time, without a zone of UTC, or one relative to now: now, now-5m, now+1h, or just -5m.
func readTime(word string) (literal, string, string) {
	if rest, ok := cutNow(word); ok || strings.HasPrefix(word, "-") {
		return readFromNow(rest, word)
	}
	t, err := ParseTime(word, time.UTC)
	switch {
	case err != nil:
		return literal{}, expected(Time, word), ""
	case t.Before(firstTime) || !t.Before(lastTime):
		return literal{}, "the year must be from 1678 to 2261", ""
	}
	return literal{value: FromTime(t), text: t.UTC().Format(time.RFC3339Nano)}, "", ""
}

// cutNow takes "now" away from the beginning of a word.
func cutNow(word string) (rest string, ok bool) {
	if len(word) >= 3 && strings.EqualFold(word[:3], "now") {
		return word[3:], true
	}
	return word, false
}

// readFromNow reads what is added to now.
func readFromNow(offset, word string) (literal, string, string) {
	switch {
	case offset == "":
		return literal{text: "now", fromNow: true}, "", ""
	case offset[0] != '-' && offset[0] != '+' || strings.HasPrefix(offset[1:], "-"):
		return literal{}, expected(Time, word), ""
	}
	l, wrong, _ := readDuration(strings.TrimPrefix(offset, "+"))
	switch {
	case wrong != "":
		return literal{}, wrong, ""
	case int64(l.value.lo) > int64(farthest) || int64(l.value.lo) < -int64(farthest):
		return literal{}, shorten(word) + " is more than 100 years away", ""
	case l.value.lo == 0:
		l.text = "now"
	case int64(l.value.lo) > 0:
		l.text = "now+" + l.text
	default:
		l.text = "now" + l.text
	}
	l.fromNow = true
	return l, "", ""
}

// farthest is so that no sum overflows until the year 2162.
const farthest = 100 * 365 * 24 * time.Hour
