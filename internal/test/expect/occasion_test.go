package expect

import (
	"slices"
	"testing"
	"time"

	"github.com/waybill-int/waybill/fabric/truth"
	"github.com/waybill-int/waybill/telemetry"
)

// TestEventDifferences: right events differ in nothing from what happened, and each wrong one does.
func TestEventDifferences(t *testing.T) {
	const second = int64(1e9)
	c := NewChronicle(options(MD), 100*time.Millisecond)
	c.epochNs = 1e18
	storm := subject{kind: telemetry.EventDropStorm, node: 1, reason: 29}
	for _, ms := range []int64{500, 3100, 3900, 4200, 7100, 14000} { // one drop, then a storm until the seventh second
		c.happened(storm, c.epochNs+ms*1e6, map[int64]uint64{3100: 15, 3900: 5}[ms]+1)
	}
	change := subject{kind: telemetry.EventPathChange, node: 3, port: 1, toNode: 5, newPort: 2}
	c.happened(change, c.epochNs+5*second, 1)
	c.happened(change, c.epochNs+6*second, 2)
	c.happened(change, c.epochNs+12*second, 1)
	for i, to := range []uint32{3, 5, 3} { // a node in two loops
		c.happened(subject{kind: telemetry.EventLoop, node: 1, toNode: to}, c.epochNs+15*second+int64(i)*1e6, 1)
	}
	c.truth.Switches[3], c.truth.Switches[5] = &truth.Switch{Name: "c"}, &truth.Switch{Name: "e"}
	c.truth.End.TimeNs = 20 * second
	c.truth.Links = []*truth.Link{{Name: "a-b", NodeA: 3, PortA: 1, NodeB: 5, PortB: 7}}
	for _, f := range []truth.Fault{
		{TimeNs: 2 * second, Kind: "link_down", Link: "a-b", Phase: "start"},
		{TimeNs: 2 * second, Kind: "link_down", Phase: "converged"},
		{TimeNs: 9 * second, Kind: "link_down", Phase: "end"},
		{TimeNs: 10 * second, Kind: "link_down", Phase: "converged"},
		{Fault: 1, TimeNs: 3 * second, Kind: "blackhole", Nodes: []uint32{1}, Phase: "start"},
		{Fault: 1, TimeNs: 8 * second, Kind: "blackhole", Phase: "end"},
		{Fault: 2, TimeNs: 11 * second, Kind: "clock", Nodes: []uint32{4}, Phase: "start"},
	} {
		c.truth.Faults = append(c.truth.Faults, &f)
	}
	event := func(kind telemetry.EventKind, from, to time.Duration, count uint64, node, port, toNode uint32,
		reason uint8,
	) telemetry.Event {
		end := time.Unix(0, c.epochNs).Add(to)
		return telemetry.Event{
			Kind: kind, Start: time.Unix(0, c.epochNs).Add(from), End: &end, Count: count,
			Node: &node, Port: &port, ToNode: &toNode, Reason: &reason,
		}
	}
	right := []telemetry.Event{
		event(telemetry.EventDropStorm, 3100*time.Millisecond, 7100*time.Millisecond, 24, 1, 0, 0, 29),
		event(telemetry.EventPathChange, 5*time.Second, 6*time.Second, 3, 3, 1, 5, 0),
		event(telemetry.EventPathChange, 12*time.Second, 12*time.Second, 1, 3, 1, 5, 0),
		event(telemetry.EventLinkLost, 2*time.Second, 9500*time.Millisecond, 0, 3, 1, 5, 0),
		event(telemetry.EventLinkLost, 3*time.Second, 11*time.Second, 0, 5, 7, 3, 0),
		event(telemetry.EventBlackhole, 3*time.Second, 8*time.Second, 24, 1, 0, 0, 29),
		event(telemetry.EventClockJump, 10500*time.Millisecond, 11500*time.Millisecond, 1, 4, 0, 0, 0),
		event(telemetry.EventMicroburst, time.Second, time.Second, 9, 1, 1, 0, 0),
		event(telemetry.EventLoop, 15*time.Second, 15*time.Second+2*time.Millisecond, 2, 1, 1, 0, 0),
		event(telemetry.EventLoop, 15*time.Second+time.Millisecond, 15*time.Second+time.Millisecond, 1, 1, 1, 0, 0),
	}
	right[8].PathNodes, right[9].PathNodes = []string{"a", "c"}, []string{"a", "e"}
	for i := 1; i <= 2; i++ {
		right[i].Evidence = []telemetry.Evidence{{Name: "new_port", Value: 2}}
	}
	if list := c.EventDifferences(right); len(list) > 0 {
		t.Fatalf("got %q", list)
	}
	for name, spoil := range map[string]func([]telemetry.Event) []telemetry.Event{
		"a storm is missing":    func(l []telemetry.Event) []telemetry.Event { return l[1:] },
		"a link is missing":     func(l []telemetry.Event) []telemetry.Event { return slices.Delete(l, 3, 4) },
		"a jump is there twice": func(l []telemetry.Event) []telemetry.Event { return append(l, l[6]) },
		"a loop is made up": func(l []telemetry.Event) []telemetry.Event {
			return append(l, event(telemetry.EventLoop, 0, 1, 1, 1, 0, 0, 0))
		},
		"two loops are one": func(l []telemetry.Event) []telemetry.Event {
			l[8].Count++
			return l[:9]
		},
		"the other loop": func(l []telemetry.Event) []telemetry.Event { l[9].PathNodes = l[8].PathNodes; return l },
		"a kind that is not known": func(l []telemetry.Event) []telemetry.Event {
			l[6].Kind = telemetry.EventNodeRestart
			return append(l, right[6])
		},
		"two are one": func(l []telemetry.Event) []telemetry.Event {
			l[1].End, l[1].Count = l[2].End, 4
			return slices.Delete(l, 2, 3)
		},
		"one is two": func(l []telemetry.Event) []telemetry.Event {
			end := l[0].Start.Add(800 * time.Millisecond)
			more := l[0]
			more.Start, more.Count = l[0].Start.Add(1100*time.Millisecond), 2
			l[0].End, l[0].Count = &end, 22
			return append(l, more)
		},
		"a count":          func(l []telemetry.Event) []telemetry.Event { l[0].Count++; return l },
		"a port":           func(l []telemetry.Event) []telemetry.Event { l[3].Port = l[4].Port; return l },
		"a new port":       func(l []telemetry.Event) []telemetry.Event { l[1].Evidence = nil; return l },
		"a start, by 1 ns": func(l []telemetry.Event) []telemetry.Event { l[1].Start = l[1].Start.Add(-1); return l },
		"a start, by 2 s": func(l []telemetry.Event) []telemetry.Event {
			l[0].Start = l[0].Start.Add(-2 * time.Second)
			return l
		},
		"an end, by 1 ns": func(l []telemetry.Event) []telemetry.Event {
			end := l[0].End.Add(1)
			l[0].End = &end
			return l
		},
		"a storm goes on": func(l []telemetry.Event) []telemetry.Event { l[0].End = nil; return l },
		"a fault goes on": func(l []telemetry.Event) []telemetry.Event { l[3].End = nil; return l },
		"an end, by 2 s": func(l []telemetry.Event) []telemetry.Event {
			end := l[3].End.Add(-2 * time.Second)
			l[3].End = &end
			return l
		},
		"packets of a blackhole": func(l []telemetry.Event) []telemetry.Event { l[5].Count++; return l },
	} {
		if list := c.EventDifferences(spoil(slices.Clone(right))); len(list) == 0 {
			t.Errorf("%s: nobody notices", name)
		}
	}
}
