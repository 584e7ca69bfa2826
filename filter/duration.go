package filter

import (
	"errors"
	"math"
	"time"
)

// ParseDuration reads a time as filters have it: 500us, 1h30m, 7d, 2w. It is not negative. The error says what is
// wrong, and which units there are.
func ParseDuration(text string) (time.Duration, error) {
	if text == "" {
		return 0, errors.New(expected(Duration, text))
	}
	n, wrong, _ := parseQuantity(Duration, text)
	switch {
	case wrong != "":
		return 0, errors.New(wrong)
	case n > math.MaxInt64:
		return 0, errors.New(shorten(text) + " is too large")
	}
	return time.Duration(n), nil
}
