package telemetry

import "testing"

func TestNumbersInTexts(t *testing.T) {
	for _, test := range []struct {
		got, want string
	}{
		{SIText(0, "B"), "0 B"},
		{SIText(999, "B"), "999 B"},
		{SIText(999.7, "B"), "1.00 kB"},
		{SIText(501_592, "B"), "502 kB"},
		{SIText(5.06305, "s"), "5.06 s"},
		{SIText(81.26e-6, "s"), "81.3 µs"},
		{SIText(7e-9, "s"), "7.00 ns"},
		{SIText(1e-12, "s"), "0.00 ns"},
		{CountText(999), "999"},
		{CountText(5043), "5,043"},
		{CountText(1_000_007), "1,000,007"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
