package analyze

import (
	"encoding/json"
	"net/netip"
	"testing"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// What was lost before a restart is no news.
func TestStateLossIsNoNews(t *testing.T) {
	r := newLedgerRig(100)
	r.observe(100*second, headerOf(telemetry.Version20, 7, 1), headerOf(telemetry.Version20, 7, 9))
	text, err := json.Marshal(StateOf(r.Ledger, eventlog.New(10), 101*second))
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
