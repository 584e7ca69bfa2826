package eventlog

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

const second = int64(1e9)

func storm(node uint32) Key { return Key{Kind: telemetry.EventDropStorm, Node: node} }

func TestEventLog(t *testing.T) {
	l := New(2)
	fill := func(e *telemetry.Event) { e.Text = "text" }
	l.Note(storm(1), second, second, 5, fill)
	l.Note(storm(1), 2*second, 2*second, 7, fill) // the same one
	l.Note(storm(2), 2*second, 2*second, 1, fill)
	l.Note(storm(3), 2*second, 2*second, 1, fill) // no place
	list, total := l.Events(nil, 10)
	if total != 2 || list[1].Count != 12 || list[1].End != nil || list[1].Text != "text" ||
		list[1].Start.UnixNano() != second {
		t.Errorf("got %+v", list)
	}
	if n := l.Counters(); n != (Counters{Open: 2, Overflow: 1}) {
		t.Errorf("counters: %+v", n)
	}
	first := list[1].ID
	l.EndQuiet(telemetry.EventLoop, 9*second) // another kind
	l.EndQuiet(telemetry.EventDropStorm, 2*second)
	if l.Counters().Open != 2 {
		t.Error("an event ended that was noted at that time")
	}
	l.EndQuiet(telemetry.EventDropStorm, 2*second+1)
	list, _ = l.Events(nil, 10)
	if len(list) != 2 || list[1].End == nil || list[1].End.UnixNano() != 2*second || list[1].ID != first {
		t.Errorf("got %+v", list)
	}
	for i := range int64(5) { // the latest two that are over are kept
		l.Note(storm(1), (10+i)*second, (10+i)*second, 1, fill)
		l.End(storm(1), (10+i)*second+1)
	}
	list, total = l.Events(nil, 1)
	if total != 2 || len(list) != 1 || list[0].Start.UnixNano() != 14*second {
		t.Errorf("got %d: %+v", total, list)
	}
	if again := storm(1); again.ID(second) != first || again.ID(second+1) == first {
		t.Error("ids are not stable or not distinct")
	}
	if n := l.Counters(); n.Open != 0 || n.Ended != 7 {
		t.Errorf("counters: %+v", n)
	}
}

// Who follows a log sees each event end once, in order, or can tell that some are forgotten.
func TestEventLogSince(t *testing.T) {
	l := New(3)
	fill := func(*telemetry.Event) {}
	ends := func(node uint32, at int64) {
		l.Note(storm(node), at, at, 1, fill)
		l.End(storm(node), at)
	}
	check := func(cursor uint64, wantOpen int, wantOver []int64, wantNow uint64) {
		t.Helper()
		open, over, now := l.Since(cursor)
		got := []int64{}
		for _, e := range over {
			got = append(got, e.End.UnixNano()/second)
		}
		if len(open) != wantOpen || !slices.Equal(got, wantOver) || now != wantNow {
			t.Errorf("since %d: got %d open, over %v, %d; want %d, %v, %d", cursor, len(open), got, now, wantOpen,
				wantOver, wantNow)
		}
	}
	check(0, 0, []int64{}, 0)
	check(7, 0, []int64{}, 0) // a cursor of another log
	l.Note(storm(9), second, second, 1, fill)
	ends(1, 2*second)
	ends(2, 3*second)
	check(0, 1, []int64{2, 3}, 2)
	check(1, 1, []int64{3}, 2)
	check(2, 1, []int64{}, 2)
	for i := range int64(4) { // the ring goes round
		ends(3, (4+i)*second)
	}
	check(5, 1, []int64{7}, 6)
	check(3, 1, []int64{5, 6, 7}, 6)
	check(0, 1, []int64{5, 6, 7}, 6) // three are forgotten
	l.End(storm(9), 8*second)
	check(6, 0, []int64{8}, 7)
}

// Whatever makes Events return something else makes Changes return another number.
func TestChanges(t *testing.T) {
	l := New(3)
	state := func() string {
		list, _ := l.Events(nil, 10)
		return fmt.Sprintf("%+v", list)
	}
	key := func(i int) Key { return Key{Kind: telemetry.EventLoop, Node: uint32(i)} }
	g := rand.New(rand.NewPCG(1, 2))
	for range 1000 {
		before, changes := state(), l.Changes()
		i := g.IntN(5)
		switch g.IntN(7) {
		case 0:
			l.Note(key(i), 1e9, int64(2e9+i), 1, func(e *telemetry.Event) { e.Text = "new" })
		case 1:
			l.Amend(key(i), func(e *telemetry.Event) { e.Text = fmt.Sprint(g.IntN(9)) })
		case 2:
			l.FillBytes(key(i), func(e *telemetry.Event) { e.Bytes = []byte{1} })
		case 3:
			l.End(key(i), 3e9)
		case 4:
			l.EndQuiet(telemetry.EventLoop, int64(2e9+i))
		case 5:
			k := key(i)
			l.Acknowledge(k.ID(1e9), telemetry.Acknowledgement{By: fmt.Sprint(i)})
		case 6:
			s := l.State()
			l = New(3)
			l.Restore(&s, 0)
			if l.Changes() == 0 {
				t.Fatal("a log that was restored says that nothing changed")
			}
			continue
		}
		if after := state(); after != before && l.Changes() == changes {
			t.Fatalf("%s became %s without a change", before, after)
		}
	}
}
