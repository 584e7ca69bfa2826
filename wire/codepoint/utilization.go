package codepoint

import (
	"fmt"
	"strconv"
	"strings"
)

// A UtilizationUnit is what a device tells of a port that is in full use, so that what it tells of others is a share of
// that. Reports do not tell; a dialect whose devices are known does, or the configuration. 0: nobody knows.
type UtilizationUnit uint32

// HundredthsOfPercent is the unit of which a port in full use has 10,000.
const HundredthsOfPercent UtilizationUnit = 10_000

const shareOf = "share:"

// Share returns which share of full use a value is; false if nobody knows.
func (u UtilizationUnit) Share(value float64) (float64, bool) {
	return value / float64(max(u, 1)), u > 0
}

func (u UtilizationUnit) String() string {
	if u == 0 {
		return "unknown"
	}
	return shareOf + strconv.Itoa(int(u))
}

// MarshalText writes a unit as UnmarshalText reads it.
func (u UtilizationUnit) MarshalText() ([]byte, error) { return []byte(u.String()), nil }

// UnmarshalText reads share:N, where N is full use, or unknown.
func (u *UtilizationUnit) UnmarshalText(text []byte) error {
	if string(text) == "unknown" {
		*u = 0
		return nil
	}
	if full, ok := strings.CutPrefix(string(text), shareOf); ok {
		if n, err := strconv.ParseUint(full, 10, 32); err == nil && n > 0 {
			*u = UtilizationUnit(n)
			return nil
		}
	}
	return fmt.Errorf("got %q, want share:N where N is a port in full use (10000: hundredths of a percent), or unknown", text)
}
