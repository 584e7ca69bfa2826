package eventlog

import (
	"encoding/json"
	"net/netip"
	"reflect"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// logOverRestart returns a log with the state of another, after it was written and read.
func logOverRestart(t *testing.T, log *Log, nowNs int64) *Log {
	t.Helper()
	text, err := json.Marshal(log.State())
	if err != nil {
		t.Fatal(err)
	}
	var s State
	if err := json.Unmarshal(text, &s); err != nil {
		t.Fatal(err)
	}
	again := New(log.max)
	again.Restore(&s, nowNs)
	return again
}

// Events come back with their ids. Those that go on end when they end, or were over when they were noted last.
func TestStateEvents(t *testing.T) {
	log := New(4)
	node := uint32(0) // a node with the id 0 is not no node
	fill := func(e *telemetry.Event) { e.Node, e.Text = &node, "text" }
	lost := Key{Kind: telemetry.EventLinkLost, Node: 1, ToNode: 2}
	log.Note(storm(1), 100*second, 105*second, 5, fill)
	log.Note(storm(2), 100*second, 105*second, 5, fill)
	log.Note(lost, 100*second, 105*second, 0, fill)
	for i := range int64(6) { // the ring is full, and turned
		log.Note(storm(9), (10+i)*second, (10+i)*second, 1, fill)
		log.End(storm(9), (10+i)*second)
	}
	before, _ := log.Events(nil, 100)
	again := logOverRestart(t, log, 200*second)
	if got, _ := again.Events(nil, 100); !reflect.DeepEqual(got, before) || again.Counters() != log.Counters() {
		t.Fatalf("got %+v, want %+v", got, before)
	}
	again.EndQuiet(telemetry.EventDropStorm, 190*second) // the tables have not seen anything yet
	again.EndRestored(201 * second)
	again.Note(storm(1), 200*second, 202*second, 2, fill)
	again.EndRestored(211 * second)
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
	if want := map[string]uint64{one.ID(100 * second): 7, link.ID(100 * second): 0}; !reflect.DeepEqual(open, want) {
		t.Errorf("got %v, want %v", open, want)
	}
	again.Note(storm(5), 212*second, 212*second, 1, fill) // the ring goes on
	again.End(storm(5), 213*second)
	if list, total := again.Events(nil, 1); total != 6 || list[0].Start.UnixNano() != 212*second {
		t.Errorf("got %d: %+v", total, list)
	}
	again.End(lost, 214*second)
	if n := again.Counters(); n.Open != 1 {
		t.Errorf("counters: %+v", n)
	}
}

// Each field of a key is in its state.
func TestStateEventKey(t *testing.T) {
	key := Key{
		Kind: 1, Node: 2, Port: 3, Queue: 4, Reason: 5, ToNode: 6, ToPort: 7, Rule: 10, Unnamed: true,
		Exporter: telemetry.ExporterKey{
			Collector: "dc1", Source: netip.MustParseAddr("192.0.2.1"), Node: 8, HWID: 9, Domain: 11, Version: 2,
			HasNode: true, Header: true,
		},
	}
	for _, v := range []reflect.Value{reflect.ValueOf(key), reflect.ValueOf(key.Exporter)} {
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
