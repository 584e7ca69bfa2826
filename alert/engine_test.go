package alert

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A script is a list of events whose beginnings and ends a test says.
type script struct {
	mu   sync.Mutex
	open []telemetry.Event
	over []telemetry.Event
	from int // the first that is not forgotten
}

func (s *script) Since(ended uint64) (open, over []telemetry.Event, now uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return slices.Clone(s.open), slices.Clone(s.over[min(max(int(ended), s.from), len(s.over)):]), uint64(len(s.over))
}

func lost(node uint32) telemetry.Event {
	return telemetry.Event{
		ID: fmt.Sprint(node, "@", time.Now().UnixNano()), Kind: telemetry.EventLinkLost, Severity: telemetry.Warning,
		Start: time.Now(), Node: &node, Text: "link lost",
		Evidence: []telemetry.Evidence{},
	}
}

func (s *script) begin(e telemetry.Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.open = append(s.open, e)
}

// end ends the events at a node.
func (s *script) end(node uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	now := time.Now()
	for _, e := range s.open {
		if *e.Node == node {
			e.End = &now
			s.over = append(s.over, e)
		}
	}
	s.forgetLocked(node)
}

// forget lets events at a node disappear, as a restart does.
func (s *script) forget(node uint32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.forgetLocked(node)
}

func (s *script) forgetLocked(node uint32) {
	s.open = slices.DeleteFunc(s.open, func(e telemetry.Event) bool { return *e.Node == node })
}

// A mailbox is a sender that keeps what it gets, with the seconds since its beginning.
type mailbox struct {
	mu    sync.Mutex
	begin time.Time
	got   []string
	ids   []string
	tries int
	fail  func(try int) error
}

func (m *mailbox) send(_ context.Context, n *Notification) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.tries++
	if m.fail != nil {
		if err := m.fail(m.tries); err != nil {
			return err
		}
	}
	m.got = append(m.got,
		fmt.Sprintf("%g %s %s", time.Since(m.begin).Seconds(), strings.TrimPrefix(n.Type, "alert."),
			number(n.Data.Event.Node)))
	m.ids = append(m.ids, n.ID)
	return nil
}

// failWith lets attempts fail as f says, from now on.
func (m *mailbox) failWith(f func(try int) error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.fail = f
}

// sorted returns what came, for messages of the same moment in no order.
func (m *mailbox) sorted() []string {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Sorted(slices.Values(m.got))
}

func (m *mailbox) want(t *testing.T, want ...string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !slices.Equal(m.got, want) && len(m.got)+len(want) > 0 {
		t.Errorf("got %q, want %q", m.got, want)
	}
	ids := slices.Clone(m.ids)
	slices.Sort(ids)
	if len(slices.Compact(ids)) != len(m.ids) {
		t.Errorf("ids are not distinct: %q", m.ids)
	}
}

const oneRule = `
rules:
  - {name: lost, filter: kind = link_lost, for: 5s, clear_after: 10s, repeat: 1h, outputs: [box]}
outputs:
  box: {webhook: {url: "http://192.0.2.1/"}}
  other: {webhook: {url: "http://192.0.2.2/"}}
`

// A bench is an engine under test, in a bubble of synctest.
type bench struct {
	*script
	*Engine
	box, other *mailbox
	stop       func()
}

func configOf(t *testing.T, text string) *Config {
	t.Helper()
	c, err := parseText([]byte(text), leaves)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// newBench runs an engine half a second past the full second, so that what a test does then is seen half a second
// later.
func newBench(t *testing.T, rules, dir string, events *script) *bench {
	t.Helper()
	e, err := New(configOf(t, rules), Deps{Events: events, Dir: dir, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	b := &bench{script: events, Engine: e, box: &mailbox{begin: time.Now()}, other: &mailbox{begin: time.Now()}}
	b.backoff = backoffBound // without chance
	b.wire()
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- e.Run(ctx) }()
	b.stop = sync.OnceFunc(func() {
		cancel()
		if err := <-done; err != nil {
			t.Error(err)
		}
	})
	t.Cleanup(b.stop)
	time.Sleep(500 * time.Millisecond)
	return b
}

// wire puts the mailboxes into the place of servers.
func (b *bench) wire() {
	b.Engine.mu.Lock()
	defer b.Engine.mu.Unlock()
	for name, m := range map[string]*mailbox{"box": b.box, "other": b.other} {
		if q := b.queues[name]; q != nil {
			q.sender = m
		}
	}
}

// TestRunAlert is the life of an alert: it waits for its time, fires once, is repeated, outlasts a short pause, and is
// resolved once.
func TestRunAlert(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, "", &script{})
		b.begin(lost(1)) // seen at 1 s
		time.Sleep(5 * time.Second)
		b.box.want(t)
		if a := b.Alerts(); len(a) != 1 || a[0].State != telemetry.AlertPending || a[0].Fired != nil {
			t.Errorf("got %+v", a)
		}
		time.Sleep(time.Second)
		b.box.want(t, "6 firing 1")
		id := b.Alerts()[0].ID
		time.Sleep(time.Hour)
		b.box.want(t, "6 firing 1", "3606 firing 1")
		b.end(1)
		time.Sleep(5 * time.Second)
		b.begin(lost(1)) // again, in time: the same alert
		time.Sleep(20 * time.Second)
		b.end(1) // at 3631.5 s
		time.Sleep(12 * time.Second)
		b.box.want(t, "6 firing 1", "3606 firing 1", "3642 resolved 1")
		a := b.Alerts()
		if len(a) != 1 || a[0].State != telemetry.AlertResolved || a[0].Resolution != telemetry.AlertEnded ||
			a[0].ID != id || a[0].Event.End == nil {
			t.Errorf("got %+v", a)
		}
		b.begin(lost(1)) // and once more
		time.Sleep(10 * time.Second)
		if a := b.Alerts(); len(a) != 2 || a[0].ID != id || a[0].State != telemetry.AlertFiring {
			t.Errorf("got %+v", a)
		}
	})
}

// What does not last is not told of, and what begins and ends between two looks is, if it lasted.
func TestRunShort(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, "", &script{})
		b.begin(lost(1))
		time.Sleep(4 * time.Second)
		b.end(1)
		time.Sleep(time.Minute)
		b.box.want(t)
		if a := b.Alerts(); len(a) != 0 {
			t.Errorf("got %+v", a)
		}
		e := lost(2) // as bursts are: in the list when they are over
		e.Start = time.Now().Add(-6 * time.Second)
		b.begin(e)
		b.end(2)
		b.end(2)
		time.Sleep(time.Second)
		b.box.want(t, "65 firing 2")
		time.Sleep(10 * time.Second)
		b.box.want(t, "65 firing 2", "75 resolved 2")
		b.begin(lost(3)) // 5.2 s, but the last look at it is too early
		time.Sleep(5200 * time.Millisecond)
		b.end(3)
		time.Sleep(time.Second)
		b.box.want(t, "65 firing 2", "75 resolved 2", "81 firing 3")
	})
}

// An alert at once that is over at once is told of both, in that order.
func TestRunMoment(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t,
			"rules: [{name: a, filter: kind = link_lost, clear_after: 0s, outputs: [box]}]\noutputs: {box: {webhook: {url: 'http://192.0.2.1'}}}", "", &script{})
		b.begin(lost(1))
		b.end(1)
		time.Sleep(time.Second)
		b.box.want(t, "1 firing 1", "1 resolved 1")
	})
}

// An alert ends too when the filter no longer selects its event, and says so; one whose event is gone says that.
func TestRunResolutions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t,
			"rules:\n  - {name: a, filter: count < 10, clear_after: 2s}\n  - {name: b, filter: node = leaf2, clear_after: 2s}", "", &script{})
		b.begin(lost(1))
		b.begin(lost(2))
		time.Sleep(2 * time.Second)
		b.script.mu.Lock()
		b.open[0].Count = 10
		b.script.mu.Unlock()
		b.forget(2)
		time.Sleep(3 * time.Second)
		var got []string
		for _, a := range b.Alerts() {
			got = append(got, fmt.Sprint(a.Rule, number(a.Event.Node), a.State, a.Resolution))
		}
		slices.Sort(got)
		if want := []string{"a1resolvedunmatched", "a2resolvedforgotten", "b2resolvedforgotten"}; !slices.Equal(got,
			want) {
			t.Errorf("got %q, want %q", got, want)
		}
	})
}

// A silenced alert is kept and not delivered; when the silence ends it is. What was told before is told to be over.
func TestSilence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, "", &script{})
		silence, err := b.AddSilence(Silence{
			Filter: "node = leaf1", Until: time.Now().Add(time.Minute),
			Reason: "maintenance",
		}, time.Now())
		if err != nil {
			t.Fatal(err)
		}
		b.begin(lost(1))
		b.begin(lost(2))
		time.Sleep(10 * time.Second)
		b.box.want(t, "6 firing 2")
		if c := b.Counters(); c.Firing != 2 || c.Silenced != 1 || c.Outputs[0].Outcomes[Delivered] != 1 {
			t.Errorf("got %+v", c)
		}
		for _, a := range b.Alerts() {
			if (a.SilencedBy == silence.ID) != (*a.Event.Node == 1) {
				t.Errorf("got %+v", a)
			}
		}
		time.Sleep(52 * time.Second) // it is over
		b.box.want(t, "6 firing 2", "61 firing 1")
		if len(b.Silences()) != 0 {
			t.Error("a silence that is over is still there")
		}
		if _, err = b.AddSilence(Silence{Filter: "severity >= info", Until: time.Now().Add(time.Hour)},
			time.Now()); err != nil {
			t.Fatal(err)
		}
		b.begin(lost(3))
		b.end(1)
		time.Sleep(20 * time.Second)
		b.box.want(t, "6 firing 2", "61 firing 1", "73 resolved 1")
		b.end(3) // nobody knew of it
		time.Sleep(20 * time.Second)
		b.box.want(t, "6 firing 2", "61 firing 1", "73 resolved 1")
	})
}

func TestSilenceErrors(t *testing.T) {
	now := time.Now()
	e, err := New(configOf(t, "silences: [{filter: kind = loop, until: 2999-01-01T00:00:00Z}]"),
		Deps{Events: &script{}, Logger: slog.New(slog.DiscardHandler)})
	if err != nil {
		t.Fatal(err)
	}
	for want, s := range map[string]Silence{
		"filter: want a filter of events, for example: kind = link_lost": {Until: now.Add(1)},
		"filter: column 1: events have no field a":                       {Filter: "a = 1", Until: now.Add(1)},
		"until: want the time when it ends, or for: how long it lasts":   {Filter: "kind = loop"},
		"until: want a time that is not over": {
			Filter: "kind = loop", From: now.Add(-2),
			Until: now.Add(-1),
		},
		"reason: want at most 1024 bytes": {
			Filter: "kind = loop", Until: now.Add(1),
			Reason: strings.Repeat("x", 1025),
		},
	} {
		var wrong *SilenceError
		if _, err := e.AddSilence(s, now); !errors.As(err, &wrong) || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := e.RemoveSilence("x"); !errors.Is(err, ErrNoSilence) {
		t.Error(err)
	}
	if err := e.RemoveSilence(e.Silences()[0].ID); !errors.Is(err, ErrSilenceInFile) {
		t.Error(err)
	}
	for i := range maxSilences + 1 {
		s, err := e.AddSilence(Silence{Filter: "kind = loop", Until: now.Add(time.Hour)}, now)
		if errors.Is(err, ErrManySilences) != (i == maxSilences) {
			t.Fatalf("silence %d: %v", i, err)
		}
		if i == 0 {
			defer func() {
				if err := e.RemoveSilence(s.ID); err != nil || len(e.Silences()) != maxSilences {
					t.Errorf("got %v, %d silences", err, len(e.Silences()))
				}
			}()
		}
	}
}

// A receiver that fails gets everything in order when it is back, once each, and keeps no other waiting.
func TestRetry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Replace(oneRule, "[box]", "[box, other]", 1), "", &script{})
		b.box.failWith(func(try int) error {
			if try <= 4 {
				return errors.New("connection refused")
			}
			return nil
		})
		b.begin(lost(1))
		time.Sleep(7 * time.Second)
		b.end(1)
		time.Sleep(11 * time.Second)
		b.other.want(t, "6 firing 1", "18 resolved 1")
		b.box.want(t)
		if c := b.Counters().Outputs[0]; c.Name != "box" || c.Waiting != 2 || c.Outcomes[Retried] != 4 {
			t.Errorf("got %+v", c)
		}
		time.Sleep(10 * time.Second)
		b.box.want(t, "21 firing 1", "21 resolved 1") // 6 + 1 + 2 + 4 + 8
	})
}

// Only what an output took is told; what waits, or was refused, is not.
func TestTold(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		begin := time.Now()
		events := &script{}
		b := newBench(t,
			strings.NewReplacer("[box]", "[box, other]", "for: 5s", "for: 0s", "repeat: 1h",
				"repeat: 0s").Replace(oneRule), dir, events)
		b.box.failWith(func(try int) error {
			if try <= 3 {
				return errors.New("connection refused") // until 8 s: 1 + 1 + 2 + 4
			}
			return nil
		})
		b.other.failWith(func(int) error { return permanent{errors.New("400")} })
		want := func(firings ...string) {
			t.Helper()
			var got []string
			for _, a := range b.Alerts() {
				text := string(a.State)
				for _, told := range a.Told {
					text += " " + told.Output
					if told.Delivered != nil {
						text += fmt.Sprintf(" %g", told.Delivered.Sub(begin).Seconds())
					}
					if told.Waiting {
						text += " waits"
					}
				}
				got = append(got, text)
			}
			if !slices.Equal(got, firings) {
				t.Errorf("after %v: got %q, want %q", time.Since(begin), got, firings)
			}
		}
		b.begin(lost(1))
		time.Sleep(5 * time.Second)
		want("firing box waits other")
		time.Sleep(5 * time.Second)
		want("firing box 8 other")
		b.box.failWith(func(int) error { return errors.New("connection refused") })
		b.end(1)
		time.Sleep(15 * time.Second)
		want("resolved box 8 waits other") // of its end nobody knows
		b.stop()
		b = newBench(t, oneRule, dir, events) // what waits goes at once
		want("resolved box 25.5 other")
		b.stop()
		b = newBench(t, oneRule, dir, events)
		time.Sleep(5 * time.Second)
		want("resolved box 25.5 other")
		b.begin(lost(1)) // again: what was delivered was about another time
		b.box.failWith(func(int) error { return errors.New("connection refused") })
		time.Sleep(7 * time.Second)
		want("firing box waits", "resolved box 25.5 other")
		b.stop()
	})
}

// A receiver may say when it wants to be asked again, and that it never will take a message.
func TestAnswers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, "", &script{})
		b.box.failWith(func(try int) error {
			switch try {
			case 1:
				return answered{errors.New("429"), 30 * time.Second}
			case 3:
				return permanent{errors.New("400")}
			}
			return nil
		})
		b.begin(lost(1))
		time.Sleep(40 * time.Second)
		b.box.want(t, "36 firing 1")
		b.end(1)
		time.Sleep(20 * time.Second)
		b.box.want(t, "36 firing 1")
		if c := b.Counters().Outputs[0]; c.Waiting != 0 ||
			c.Outcomes != [NumOutcomes]uint64{Delivered: 1, Retried: 1, Rejected: 1} {
			t.Errorf("got %+v", c)
		}
	})
}

// A message that a receiver cannot take does not keep it from others, and after a day it is given up.
func TestPoison(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Replace(oneRule, "1h", "0s", 1), "", &script{})
		poisoned := &poison{mailbox: b.box}
		b.queues["box"].sender = poisoned
		b.begin(lost(1)) // fires at 6 s, fails then and at 7, 9 and 13 s
		time.Sleep(2 * time.Second)
		b.begin(lost(2)) // fires at 8 s
		time.Sleep(time.Minute)
		b.box.want(t, "13 firing 2")
		time.Sleep(24 * time.Hour)
		b.end(2)
		time.Sleep(time.Minute)
		if c := b.Counters().Outputs[0]; c.Waiting != 0 || c.Outcomes[Expired] != 1 || c.Outcomes[Delivered] != 2 {
			t.Errorf("got %+v", c)
		}
	})
}

// poison cannot take messages about node 1.
type poison struct{ *mailbox }

func (p *poison) send(ctx context.Context, n *Notification) error {
	if *n.Data.Event.Node == 1 {
		return answered{errors.New("500"), 0}
	}
	return p.mailbox.send(ctx, n)
}

// Tables are bounded, and what does not fit is counted.
func TestBounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t,
			"rules: [{name: a, filter: kind = link_lost, outputs: [box]}]\noutputs: {box: {webhook: {url: 'http://192.0.2.1'}}}", "", &script{})
		b.box.failWith(func(int) error { return errors.New("down") })
		for i := range uint32(maxAlerts + 10) {
			b.begin(lost(i))
		}
		time.Sleep(time.Second)
		c := b.Counters()
		if c.Firing != maxAlerts || c.Unplaced != 10 || c.Outputs[0].Waiting != maxQueue ||
			c.Outputs[0].Outcomes[CrowdedOut] != maxAlerts-maxQueue {
			t.Errorf("got %+v", c)
		}
		b.script.mu.Lock() // 50 ended, of which 20 are still known
		b.over = make([]telemetry.Event, 50)
		for i := range b.over {
			b.over[i] = lost(1 << 20)
			b.over[i].End = &b.over[i].Start
		}
		b.from = 30
		b.script.mu.Unlock()
		time.Sleep(time.Second)
		if c := b.Counters(); c.Missed != 30 {
			t.Errorf("missed %d", c.Missed)
		}
	})
}

// Alerts, silences and what waits outlast a restart, and nobody is told twice.
func TestRestart(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		events := &script{}
		b := newBench(t, oneRule, dir, events)
		if _, err := b.AddSilence(Silence{Filter: "node = 7", Until: time.Now().Add(time.Hour)},
			time.Now()); err != nil {
			t.Fatal(err)
		}
		b.begin(lost(1))
		b.begin(lost(2))
		b.begin(lost(3))
		time.Sleep(3 * time.Second)
		b.begin(lost(4))
		time.Sleep(4 * time.Second)
		b.box.failWith(func(int) error { return errors.New("down") })
		b.end(1)
		time.Sleep(12 * time.Second)
		b.begin(lost(5)) // pending when it stops
		time.Sleep(time.Second)
		b.stop()
		sent := b.box.sorted()
		if want := []string{"6 firing 1", "6 firing 2", "6 firing 3"}; !slices.Equal(sent, want) {
			t.Errorf("got %q, want %q", sent, want)
		}
		time.Sleep(time.Minute)
		events.end(2)    // as a checkpoint of events tells
		events.forget(3) // without one
		b = newBench(t, oneRule, dir, events)
		time.Sleep(20 * time.Second)
		got := b.box.sorted()
		if want := []string{
			"0 firing 4", "0 resolved 1", "1 firing 5", "11 resolved 2",
			"11 resolved 3",
		}; !slices.Equal(got, want) {
			t.Errorf("got %q, want %q", got, want)
		}
		why := map[uint32]telemetry.AlertResolution{}
		for _, a := range b.Alerts() {
			why[*a.Event.Node] = a.Resolution
		}
		if want := map[uint32]telemetry.AlertResolution{
			1: telemetry.AlertEnded, 2: telemetry.AlertEnded,
			3: telemetry.AlertForgotten, 4: "", 5: "",
		}; !reflect.DeepEqual(why, want) {
			t.Errorf("got %v, want %v", why, want)
		}
		if len(b.Silences()) != 1 {
			t.Error("the silence is gone")
		}
		b.stop()
	})
}

// Other rules take over while alerts go on.
func TestReload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, oneRule, "", &script{})
		b.begin(lost(1))
		time.Sleep(7 * time.Second)
		b.box.failWith(func(int) error { return errors.New("down") })
		rules := strings.NewReplacer("name: lost", "name: gone", "[box]", "[other]").Replace(oneRule)
		if err := b.Reload(t.Context(), configOf(t, rules)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		b.wire() // nothing is sent before the next look
		b.box.failWith(nil)
		time.Sleep(10 * time.Second)
		b.box.want(t, "6 firing 1", "8 resolved 1")
		b.other.want(t, "13 firing 1")
		for _, a := range b.Alerts() {
			if a.Rule == "lost" && a.Resolution != telemetry.AlertRuleRemoved {
				t.Errorf("got %+v", a)
			}
		}
	})
}

// A test goes to the outputs of a rule at once, and says that it is one.
func TestTest(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Replace(oneRule, "[box]", "[box, other]", 1), "", &script{})
		b.other.failWith(func(int) error { return errors.New("down") })
		got, err := b.Test(t.Context(), "lost", "")
		if err != nil || len(got) != 2 || got[0].Output != "box" || got[0].Error != "" || got[1].Error != "down" {
			t.Errorf("got %+v, %v", got, err)
		}
		b.box.want(t, "0.5 test ")
		if got, err := b.Test(t.Context(), "", "box"); err != nil || len(got) != 1 {
			t.Errorf("got %+v, %v", got, err)
		}
		for _, c := range [][2]string{{"nothing", ""}, {"", "nothing"}, {"", ""}} {
			if _, err := b.Test(t.Context(), c[0], c[1]); !errors.Is(err, ErrUnknown) {
				t.Errorf("%v: %v", c, err)
			}
		}
	})
}

// A receiver that is away for long hears of an alert once when it is back, however often it would have been repeated.
func TestRepeatWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t, strings.Replace(oneRule, "1h", "1m", 1), "", &script{})
		b.box.failWith(func(int) error { return errors.New("down") })
		b.begin(lost(1))
		time.Sleep(time.Hour)
		if n := b.Counters().Outputs[0].Waiting; n != 1 {
			t.Errorf("%d messages wait", n)
		}
		b.box.failWith(nil)
		time.Sleep(61 * time.Second)
		if got := b.box.sorted(); len(got) != 1 {
			t.Errorf("got %q", got)
		}
	})
}

// An Alertmanager takes what it does not hear of for resolved. So it hears of an alert every minute, also of a silenced
// one, unless it does not know it.
func TestRefresh(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newBench(t,
			strings.Replace(oneRule, `webhook: {url: "http://192.0.2.1/"}`, "alertmanager: {url: 'http://192.0.2.1'}",
				1), "", &script{})
		b.begin(lost(1))
		time.Sleep(6 * time.Second)
		if _, err := b.AddSilence(Silence{Filter: "severity >= info", Until: time.Now().Add(time.Hour)},
			time.Now()); err != nil {
			t.Fatal(err)
		}
		b.begin(lost(2))
		time.Sleep(3 * time.Minute)
		b.box.want(t, "6 firing 1", "66 firing 1", "126 firing 1", "186 firing 1")
	})
}

// After a restart events take a moment to be found again, also if the rule has no patience.
func TestRestartGrace(t *testing.T) {
	dir, rules := t.TempDir(), strings.Replace(oneRule, "clear_after: 10s", "clear_after: 0s", 1)
	synctest.Test(t, func(t *testing.T) {
		events := &script{}
		b := newBench(t, rules, dir, events)
		b.begin(lost(1))
		b.begin(lost(2))
		time.Sleep(10 * time.Second)
		b.stop()
		events.forget(1)
		events.forget(2)
		b = newBench(t, rules, dir, events)
		time.Sleep(5 * time.Second)
		b.begin(lost(1)) // found again: the same alert, nobody is told
		time.Sleep(10 * time.Second)
		b.box.want(t, "11 resolved 2")
		b.end(1)
		time.Sleep(time.Second)
		b.box.want(t, "11 resolved 2", "16 resolved 1")
		b.stop()
	})
}
