package incident

import (
	"fmt"
	"net/netip"
	"strings"
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

// TestActionNames: what to do names the ports of a link, the queue and the flows that filled it, the latest first.
func TestActionNames(t *testing.T) {
	flow := func(src string, port uint16) *telemetry.Endpoints {
		return &telemetry.Endpoints{
			Src: netip.MustParseAddr(src), Dst: netip.MustParseAddr("10.0.4.2"), SrcPort: port, DstPort: port,
			Protocol: "udp",
		}
	}
	var texts []string
	for at := range 6 {
		texts = append(texts, fmt.Sprintf("microburst %d %d node=1 port=3 queue=0", 2*at+1, 2*at+2))
	}
	bursts := eventsOf(t, texts...)
	for i, src := range []string{"10.0.1.2", "10.0.1.3", "10.0.1.4", "fd00::5", "10.0.1.2", ""} {
		if src != "" {
			bursts[i].Flow = flow(src, 9000)
		}
	}
	storm := eventOf(t, "s", "drop_storm 2 3 node=1 port=2 cause=no_such_cause")
	storm.Flow = flow("10.0.1.2", 0)
	link := eventOf(t, "l", lostLink)
	link.ToPortName = "Ethernet1"
	for _, c := range []struct {
		events []telemetry.Event
		want   string
	}{
		{
			bursts, actions[telemetry.EventMicroburst] + ". Here: sw1 port 3; most in the queue was of " +
				"10.0.1.2:9000 → 10.0.4.2:9000 udp, [fd00::5]:9000 → 10.0.4.2:9000 udp, " +
				"10.0.1.4:9000 → 10.0.4.2:9000 udp and 1 more",
		},
		{[]telemetry.Event{link}, actions[telemetry.EventLinkLost] + ". Here: sw1 port 2 and sw5 Ethernet1"},
		{[]telemetry.Event{storm}, ""},
		{eventsOf(t, "clock_jump 2 3 node=1"), actions[telemetry.EventClockJump]},
	} {
		list := Of(c.events, nil)
		if len(list) != 1 || list[0].Action != c.want {
			t.Errorf("got %d: %s\nwant %s", len(list), list[0].Action, c.want)
		}
	}
	storm.Cause = "no_route"
	want := actionOf(&event{Event: &storm}, nil)
	if list := Of([]telemetry.Event{storm}, nil); list[0].Action != want || strings.Contains(want, "..") ||
		want == "" || want[len(want)-len("10.0.1.2 → 10.0.4.2 udp"):] != "10.0.1.2 → 10.0.4.2 udp" {
		t.Errorf("got %s, want %s", list[0].Action, want)
	}
}
