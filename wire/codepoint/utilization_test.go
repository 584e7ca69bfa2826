package codepoint

import "testing"

func TestUtilizationUnit(t *testing.T) {
	for text, full := range map[string]UtilizationUnit{"unknown": 0, "share:100": 100, "share:4294967295": 1<<32 - 1} {
		var got UtilizationUnit
		if err := got.UnmarshalText([]byte(text)); err != nil || got != full || got.String() != text {
			t.Errorf("%s: got %d (%v), %v", text, got, got, err)
		}
	}
	for _, text := range []string{"", "share", "share:0", "share:-1", "share:4294967296", "percent"} {
		var got UtilizationUnit
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q is %v", text, got)
		}
	}
	// A report has room for one unit besides an unknown one.
	for _, d := range Dialects {
		if d.UtilizationUnit != 0 && d.UtilizationUnit != HundredthsOfPercent {
			t.Errorf("%s: %v", d.Name, d.UtilizationUnit)
		}
	}
}
