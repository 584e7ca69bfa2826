package burst

import (
	"testing"

	"github.com/waybill-int/waybill/wire/codepoint"
)

func TestText(t *testing.T) {
	for _, c := range []struct {
		of   Burst
		want string
	}{
		{Burst{EndNs: 2e6}, "queue of s1 peaked at 50.0 kB for 2.00 ms"},
		{
			Burst{EndNs: 2e6, Incast: true, Sources: 6, MainSources: 6},
			"queue of s1 peaked at 50.0 kB for 2.00 ms, an incast of 6 senders",
		},
		{
			Burst{EndNs: 2e6, Incast: true, Sources: 15, MainSources: 6},
			"queue of s1 peaked at 50.0 kB for 2.00 ms, an incast: 6 of 15 senders brought 80 % of it",
		},
		{Burst{EndNs: 2e9}, "queue of s1 peaked at 50.0 kB for 2.00 s (longer than a second: congestion, not a microburst)"},
		{Burst{StartSlackNs: 1000}, "queue of s1 was at 50.0 kB in a single report; it was long for less than 1.00 µs"},
	} {
		c.of.Peak, c.of.Unit = 50_000, codepoint.UnitBytes
		if got := c.of.Text("s1"); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
