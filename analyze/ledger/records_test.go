package ledger

import (
	"encoding/json"
	"net/netip"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// ofRecords returns the header of a datagram with 5 records of an exporter that counts these.
func ofRecords(missing int64) telemetry.Header {
	return telemetry.Header{
		Source: netip.MustParseAddr("192.0.2.1"), Dialect: "ipfix", Version: telemetry.VersionIPFIX, HasNodeID: true,
		NodeID: 7, Counting: telemetry.CountsRecords, RecordsMissing: missing, Reports: 5,
	}
}

// one returns what the ledger says of its exporter, of all time or of intervals.
func one(t *testing.T, r *socketRig, q Query, nowNs int64) telemetry.Loss {
	t.Helper()
	a := r.Loss(q, nowNs)
	if len(a.Exporters) != 1 {
		t.Fatalf("got %d exporters", len(a.Exporters))
	}
	return a.Exporters[0]
}

// Records that are missing are in the account, its intervals and what outlives a restart; the datagrams that were lost
// with them stay unknown. Those that come again are repeated.
func TestRecordsLost(t *testing.T) {
	r := newSocketRig()
	again := ofRecords(0)
	again.Repeated = true
	r.observe(101*second, ofRecords(0), ofRecords(30))
	r.observe(102*second, again)
	r.observe(111*second, ofRecords(-10), ofRecords(4))
	x := one(t, r, Query{Intervals: true}, 112*second)
	if x.RecordsLost == nil || *x.RecordsLost != 24 || x.Lost != nil || x.Repeated != 5 || x.Reports != 25 ||
		x.LossKnown != "no: its sequence numbers count records: see records_lost" {
		t.Fatalf("got %+v", x)
	}
	if i := x.Intervals; len(i) != 2 || *i[0].RecordsLost != 30 || *i[1].RecordsLost != -6 {
		t.Errorf("got %+v", i)
	}
	if x := one(t, r, Query{SinceNs: 110 * second, UntilNs: 120 * second}, 112*second); *x.RecordsLost != -6 {
		t.Errorf("got %+v", x)
	}
	list := r.e.Snapshot(nil)
	if e := list[0]; *e.RecordsLost != 24 || e.Lost != nil {
		t.Errorf("got %+v", e)
	}
	total := r.e.Totals(nil)[0]
	if total.Lost != 24 || !total.LossKnown || total.GapNs != 111*second || total.ReportsOf(8) != 8 {
		t.Errorf("got %+v", total)
	}
	if datagrams := (&Total{Received: 4, Reports: 22}); datagrams.ReportsOf(8) != 48 {
		t.Errorf("8 datagrams had %d reports", datagrams.ReportsOf(8))
	}

	restarted := overRestart(t, r, 113*second, 114*second)
	if x := one(t, restarted, Query{Intervals: true}, 114*second); *x.RecordsLost != 24 || len(x.Intervals) != 2 ||
		*x.Intervals[1].RecordsLost != -6 || x.Repeated != 5 {
		t.Errorf("after a restart: %+v", x)
	}
	unsettled := ofRecords(0)
	unsettled.Counting = telemetry.CountsUnsettled
	restarted.observe(115*second, unsettled)
	if x := one(t, restarted, Query{}, 115*second); x.RecordsLost != nil ||
		x.LossKnown != "no: it is not known yet what its sequence numbers count" {
		t.Errorf("got %+v", x)
	}
	restarted.Tick(121 * second)
	restarted.observe(122*second, ofRecords(1))
	if x := one(t, restarted, Query{}, 123*second); *x.RecordsLost != 25 {
		t.Errorf("got %+v", x)
	}
	if x := one(t, restarted, Query{SinceNs: 114 * second}, 123*second); x.RecordsLost != nil ||
		!strings.Contains(x.LossKnown, "in some of these intervals") {
		t.Errorf("got %+v", x)
	}
}

// What came again is in no table either where its exporter has no account, and what came with it stays in its place.
func TestRecordsUnplaced(t *testing.T) {
	e := NewExporters(1)
	one := ofRecords(0)
	other, again := one, one
	other.Source, again.Source = netip.MustParseAddr("192.0.2.2"), netip.MustParseAddr("192.0.2.2")
	again.Repeated = true
	headers := []telemetry.Header{other, again, one}
	e.Observe([]telemetry.Header{one}, second)
	origin := e.Observe(headers, second)
	b := &telemetry.Batch{Reports: make([]telemetry.Report, 15)}
	for i := range b.Reports {
		b.Reports[i].DropCount = uint32(i / 5)
	}
	b.Attribute(origin, headers)
	if len(b.Reports) != 10 || origin.Repeated != 1 || e.repeated != 5 {
		t.Fatalf("got %d reports, %+v", len(b.Reports), origin)
	}
	for i := range b.Reports {
		if r := &b.Reports[i]; r.DropCount != []uint32{0, 2}[i/5] || r.Account != headers[2*(i/5)].Account {
			t.Errorf("report %d is %d, of account %d", i, r.DropCount, r.Account)
		}
	}
}

// While it is not known any more what numbers count, what is taken back of before counts.
func TestRecordsChanged(t *testing.T) {
	r := newSocketRig()
	changed := ofRecords(-4)
	changed.Counting = telemetry.CountsChanged
	r.observe(101*second, ofRecords(30), changed, changed)
	if x := one(t, r, Query{}, 102*second); x.RecordsLost != nil ||
		x.LossKnown != "no: what its sequence numbers count has changed" {
		t.Errorf("got %+v", x)
	}
	r.observe(103*second, ofRecords(0))
	if x := one(t, r, Query{}, 104*second); *x.RecordsLost != 22 {
		t.Errorf("got %+v", x)
	}
}

// A state that was saved before records were counted is read; what it does not have is 0.
func TestRecordsOldState(t *testing.T) {
	r := newSocketRig()
	r.observe(101*second, header(telemetry.Version20, 7, 5), header(telemetry.Version20, 7, 8))
	text, err := json.Marshal(r.State(102 * second))
	if err != nil {
		t.Fatal(err)
	}
	const with, without = ",0,0,0,0,0,0]", ",0,0,0,0,0]" // the counts of before have 16 numbers
	old := strings.ReplaceAll(string(text), with, without)
	if strings.Count(string(text), with) < 1 || strings.Contains(old, "counting") {
		t.Fatalf("%s", text)
	}
	var s State
	if err := json.Unmarshal([]byte(old), &s); err != nil {
		t.Fatal(err)
	}
	again := newSocketRig()
	again.Restore(&s, 103*second, func(string, netip.Addr) (int, bool) { return 0, true })
	if x := one(t, again, Query{}, 104*second); x.RecordsLost != nil || *x.Lost != 2 || x.Received != 2 {
		t.Errorf("got %+v", x)
	}
}
