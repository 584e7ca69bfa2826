package analyze

import (
	"encoding/json"
	"fmt"
	"net/netip"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire"
)

// overRestart returns what a ledger and a log say after their state was written and read.
func overRestart(t *testing.T, r *ledgerRig, log *EventLog, savedNs, nowNs int64) (*ledgerRig, *EventLog) {
	t.Helper()
	text, err := json.Marshal(r.State(log, savedNs))
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again, events := newLedgerRig(), NewEventLog(log.max)
	left := again.Restore(&s, events, nowNs, func(listen string, _ netip.Addr) (int, bool) { return 0, listen == "udp://:8555" })
	if left != 0 {
		t.Errorf("%d accounts were left out", left)
	}
	return again, events
}

// Accounts, intervals and reasons come back as they were; the numbers that went by in between are lost.
func TestStateLedger(t *testing.T) {
	for _, version := range []telemetry.Version{telemetry.Version05, telemetry.Version10, telemetry.Version20} {
		r := newLedgerRig()
		mask := ^uint32(0) >> (32 - version.SequenceBits())
		first := mask - 10 // it wraps while nobody receives
		for i := range uint32(8) {
			h := header(version, 7, first+i)
			if i == 3 {
				h.Outcome, h.Reason, h.Reports = telemetry.Malformed, wire.ErrTruncatedFixedHeader, 0
			}
			if i != 5 {
				r.observe((100+int64(i))*second, h)
			}
			r.drops = 1
		}
		r.observe(108*second, header(version, 7, first+6)) // a duplicate
		r.Tick(108 * second)
		before := r.check(t, 109*second)
		again, _ := overRestart(t, r, NewEventLog(10), 109*second, 200*second)
		if got := again.check(t, 200*second); fmt.Sprint(lossText(&got.LossCount), got.Malformed) != fmt.Sprint(lossText(&before.LossCount), before.Malformed) {
			t.Errorf("got %+v, want %+v", got, before)
		}
		again.observe(201*second, header(version, 7, (first+5)&mask)) // late, lost before
		again.observe(201*second, header(version, 7, (first+100)&mask), header(version, 7, (first+101)&mask))
		x := again.check(t, 202*second)
		if got, want := lossText(&x.LossCount), "sent 102 arrived 10 lost 92 late 1 duplicate 1 reordered 1 received 11"; got != want || *x.Away != 92 {
			t.Errorf("version %v: got %s, %d away, want %s", version, got, *x.Away, want)
		}
		if f := x.Fate; f.Reports != 3 || f.Waiting != 3 || x.Intervals[0].Fate != nil || x.Intervals[1].Fate.Reports != 3 {
			t.Errorf("tables began anew: %+v", f)
		}
		before.Intervals[0].Fate = nil
		if len(x.Intervals) != 2 || !reflect.DeepEqual(x.Intervals[0].LossCount, before.Intervals[0].LossCount) || x.Intervals[0].Open {
			t.Errorf("intervals: %+v", x.Intervals)
		}
		a := again.Loss(LossQuery{Intervals: true}, 202*second)
		if len(a.Gaps) != 1 || a.Gaps[0].From.UnixNano() != 109*second || a.Gaps[0].To.UnixNano() != 200*second {
			t.Errorf("gaps: %+v", a.Gaps)
		}
		if s := a.Sockets[0]; *s.KernelDrops != 1 || *s.Intervals[0].KernelDrops != 1 || a.Tables.Reports != 3 {
			t.Errorf("socket: %+v, tables: %+v", s, a.Tables)
		}
		if c := again.collector.Completeness(); c.Sent != 2 || c.Lost != 0 {
			t.Errorf("completeness is about the tables, which began anew, without what went by before: %+v", c)
		}
	}
}

// An exporter that begins anew while nobody receives has a restart, and no loss.
func TestStateExporterRestarted(t *testing.T) {
	r := newLedgerRig()
	for n := range uint32(5000) {
		r.observe(100*second, header(telemetry.Version20, 7, n))
	}
	again, _ := overRestart(t, r, NewEventLog(10), 101*second, 200*second)
	for n := uint32(0); n < 10; n++ {
		again.observe(201*second, header(telemetry.Version20, 7, n))
	}
	if x := again.check(t, 202*second); *x.Sent != 5010 || *x.Lost != 0 || x.Restarted != 1 || *x.Away != 0 {
		t.Errorf("got %s, restarted %d, away %d", lossText(&x.LossCount), x.Restarted, *x.Away)
	}
}

// Events come back with their ids. Those that go on end when they end, or were over when they were noted last.
func TestStateEvents(t *testing.T) {
	log := NewEventLog(4)
	node := uint32(0) // a node with the id 0 is not no node
	fill := func(e *telemetry.Event) { e.Node, e.Text = &node, "text" }
	lost := eventKey{kind: telemetry.EventLinkLost, node: 1, toNode: 2}
	log.note(storm(1), 100*second, 105*second, 5, fill)
	log.note(storm(2), 100*second, 105*second, 5, fill)
	log.note(lost, 100*second, 105*second, 0, fill)
	for i := range int64(6) { // the ring is full, and turned
		log.note(storm(9), (10+i)*second, (10+i)*second, 1, fill)
		log.end(storm(9), (10+i)*second)
	}
	before, _ := log.Events(nil, 100)
	_, again := overRestart(t, newLedgerRig(), log, 106*second, 200*second)
	if got, _ := again.Events(nil, 100); !reflect.DeepEqual(got, before) || again.Counters() != log.Counters() {
		t.Fatalf("got %+v, want %+v", got, before)
	}
	again.endQuiet(telemetry.EventDropStorm, 190*second) // the tables have not seen anything yet
	again.endForgotten(201 * second)
	again.note(storm(1), 200*second, 202*second, 2, fill)
	again.endForgotten(211 * second)
	open := map[string]uint64{}
	list, _ := again.Events(nil, 100)
	for _, e := range list {
		if e.End == nil {
			open[e.ID] = e.Count
		} else if e.Start.UnixNano() == 100*second && e.End.UnixNano() != 105*second {
			t.Errorf("ended at %v", e.End)
		}
	}
	one, link := storm(1), lost
	if want := map[string]uint64{one.id(100 * second): 7, link.id(100 * second): 0}; !reflect.DeepEqual(open, want) {
		t.Errorf("got %v, want %v", open, want)
	}
	again.note(storm(5), 212*second, 212*second, 1, fill) // the ring goes on
	again.end(storm(5), 213*second)
	if list, total := again.Events(nil, 1); total != 6 || list[0].Start.UnixNano() != 212*second {
		t.Errorf("got %d: %+v", total, list)
	}
	again.end(lost, 214*second)
	if n := again.Counters(); n.Open != 1 {
		t.Errorf("counters: %+v", n)
	}
}

// Each field of a key is in its state.
func TestStateEventKey(t *testing.T) {
	key := eventKey{
		kind: 1, node: 2, port: 3, queue: 4, reason: 5, toNode: 6, toPort: 7, rule: 10, unnamed: true,
		exporter: exporterKey{source: netip.MustParseAddr("192.0.2.1"), node: 8, hwID: 9, version: 2, hasNode: true, header: true},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(key), reflect.ValueOf(key.exporter)} {
		for i := range v.NumField() {
			if v.Field(i).IsZero() {
				t.Errorf("%s is not tried", v.Type().Field(i).Name)
			}
		}
	}
	s := key.state()
	if got := s.key(); got != key {
		t.Errorf("got %+v, want %+v", got, key)
	}
}

// What was lost before a restart is no news.
func TestStateLossIsNoNews(t *testing.T) {
	r := newLedgerRig()
	r.observe(100*second, header(telemetry.Version20, 7, 1), header(telemetry.Version20, 7, 9))
	again, events := overRestart(t, r, NewEventLog(10), 101*second, 200*second)
	s := NewScanner(again.collector, events)
	again.observe(200*second, header(telemetry.Version20, 7, 10))
	for i := range int64(3) {
		s.Scan((201 + i) * second)
	}
	if list, _ := events.Events(nil, 10); len(list) != 0 {
		t.Errorf("got %+v", list)
	}
	again.observe(204*second, header(telemetry.Version20, 7, 12))
	s.Scan(205 * second)
	s.Scan(206 * second) // by now it is not only late
	if list, _ := events.Events(nil, 10); len(list) != 1 || list[0].Count != 1 {
		t.Errorf("got %+v", list)
	}
}
