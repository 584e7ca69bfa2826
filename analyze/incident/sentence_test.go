package incident

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// TestQueueSentence: how long a queue was stands with its unit, and nothing is made up where it is not known.
func TestQueueSentence(t *testing.T) {
	start := time.Unix(1000, 0)
	end, port := start.Add(5300*time.Millisecond), uint32(6)
	burst := func(peak float64, unit string) *event {
		e := &event{Event: &telemetry.Event{}}
		e.Kind, e.Name, e.Port, e.Start, e.End = telemetry.EventMicroburst, "leaf1", &port, start, &end
		if peak > 0 {
			e.Evidence = []telemetry.Evidence{{Name: "peak", Value: peak, Unit: unit}}
		}
		return e
	}
	for _, c := range []struct {
		chain []*event
		want  string
	}{
		{[]*event{burst(501_580, "B")}, "queue of leaf1 port 6 peaked at 502 kB for 5.3 s"},
		{[]*event{burst(64, "packets")}, "queue of leaf1 port 6 peaked at 64 packets for 5.3 s"},
		{[]*event{burst(0, "")}, "queue of leaf1 port 6 was congested for 5.3 s"},
		{
			[]*event{burst(999, "B"), burst(1_500_000, "B")},
			"queue of leaf1 port 6 peaked 2 times, at up to 1.5 MB",
		},
	} {
		if got := queueSentence(c.chain[0], c.chain); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
}
