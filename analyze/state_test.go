package analyze

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// What was lost before a restart is no news.
func TestStateLossIsNoNews(t *testing.T) {
	r := newLedgerRig(100)
	r.observe(100*second, headerOf(telemetry.Version20, 7, 1), headerOf(telemetry.Version20, 7, 9))
	text, err := json.Marshal(StateOf(r.Ledger, eventlog.New(10), nil, nil, 101*second))
	if err != nil {
		t.Fatal(err)
	}
	var state State
	if err := json.Unmarshal(text, &state); err != nil {
		t.Fatal(err)
	}
	again, events := newLedgerRig(100), eventlog.New(10)
	if left := state.Restore(again.Ledger, events, 200*second,
		func(string, netip.Addr) (int, bool) { return 0, true }); left != 0 {
		t.Errorf("%d accounts were left out", left)
	}
	s := NewScanner(again.collector, events)
	again.observe(200*second, headerOf(telemetry.Version20, 7, 10))
	for i := range int64(3) {
		s.Scan((201 + i) * second)
	}
	if list, _ := events.Events(nil, 10); len(list) != 0 {
		t.Errorf("got %+v", list)
	}
	again.observe(204*second, headerOf(telemetry.Version20, 7, 12))
	s.Scan(205 * second)
	s.Scan(206 * second) // by now it is not only late
	if list, _ := events.Events(nil, 10); len(list) != 1 || list[0].Count != 1 {
		t.Errorf("got %+v", list)
	}
}

// What is usual at targets is in the file of the next process, which goes on with it; files of before have none.
func TestStateHasUsual(t *testing.T) {
	var state State
	if err := json.Unmarshal([]byte(`{"usual": {"learned": true, "targets": [
		{"target": "192.0.2.0/24", "rates": {"udp": {"pps": 5000, "bps": 4e7}, "of a later version": {"pps": 1, "bps": 1}}}
	]}}`), &state); err != nil {
		t.Fatal(err)
	}
	r := newLedgerRig(100)
	s := NewScanner(r.collector, eventlog.New(10))
	s.FindAttacks(attackLimits(), state.Usual, time.Minute)
	for i := range int64(60) { // until it was noted anew
		s.Scan((201 + i) * second)
	}
	got, err := json.Marshal(StateOf(r.Ledger, eventlog.New(10), s.Usual(), nil, 261*second).Usual)
	want := `{"learned":true,"targets":[{"target":"192.0.2.0/24","rates":{"udp":{"pps":4930,"bps":39400000}}}]}`
	if err != nil || string(got) != want {
		t.Errorf("got %s, want %s (%v)", got, want, err)
	}
}

// Counters of rules that go on from report to report are in the file of the next process, whichever shard heard of
// them.
func TestStateHasDropCounters(t *testing.T) {
	collector := func() *Collector {
		return &Collector{Owners: []Owner{NewShard(DefaultConfig()), NewShard(DefaultConfig())}}
	}
	rule := telemetry.Report{Flags: telemetry.Dropped | telemetry.DropSummary | telemetry.DropTotal, DropKey: 7}
	before, after := collector(), collector()
	rule.DropCount = 1000
	before.Owners[1].(*Shard).drops.Summary(&rule, second)
	r := newLedgerRig(100)
	text, err := json.Marshal(StateOf(r.Ledger, eventlog.New(10), nil, before.DropCounters(), 2*second))
	var state State
	if err == nil {
		err = json.Unmarshal(text, &state)
	}
	if err != nil {
		t.Fatal(err)
	}
	after.RestoreDropCounters(state.DropCounters)
	rule.DropCount = 1030
	if got := after.Owners[0].(*Shard).drops.Summary(&rule, 3*second); got != 30 {
		t.Errorf("%d were dropped since, want 30", got)
	}
}
