package analyze

import "testing"

func TestNumbersInTexts(t *testing.T) {
	for _, test := range []struct {
		got, want string
	}{
		{siText(0, "B"), "0 B"},
		{siText(999, "B"), "999 B"},
		{siText(999.7, "B"), "1.00 kB"},
		{siText(501_592, "B"), "502 kB"},
		{siText(5.06305, "s"), "5.06 s"},
		{siText(81.26e-6, "s"), "81.3 µs"},
		{siText(7e-9, "s"), "7.00 ns"},
		{siText(1e-12, "s"), "0.00 ns"},
		{countText(999), "999"},
		{countText(5043), "5,043"},
		{countText(1_000_007), "1,000,007"},
	} {
		if test.got != test.want {
			t.Errorf("got %q, want %q", test.got, test.want)
		}
	}
}
