package analyze

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// logOverRestart returns a log with the state of another, after it was written and read.
func logOverRestart(t *testing.T, log *EventLog, nowNs int64) *EventLog {
	t.Helper()
	text, err := json.Marshal(log.State())
	if err != nil {
		t.Fatal(err)
	}
	var s EventState
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again := NewEventLog(log.max)
	again.Restore(&s, nowNs)
	return again
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
	again := logOverRestart(t, log, 200*second)
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
		exporter: telemetry.ExporterKey{Source: netip.MustParseAddr("192.0.2.1"), Node: 8, HWID: 9, Version: 2, HasNode: true, Header: true},
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
