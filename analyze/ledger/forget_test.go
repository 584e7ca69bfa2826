package ledger

import (
	"testing"

	"github.com/waybill-int/waybill/telemetry"
)

// What was forgotten is in no answer, record or state any more, whatever arrives late of it; who reports again is new,
// and those beside it are as they were.
func TestForget(t *testing.T) {
	r := newSocketRig()
	var cursor Cursor
	for n := range uint32(10) {
		r.observe(100*second, header(telemetry.Version20, 7, n), header(telemetry.Version20, 8, 2*n))
	}
	r.e.AppendSince(nil, &cursor, 100*second, true)
	r.observe(111*second, header(telemetry.Version20, 7, 10)) // another interval
	late := r.e.accounts[0].number

	of := func(node uint32) func(*telemetry.Exporter) bool {
		return func(x *telemetry.Exporter) bool { return *x.Node == node }
	}
	if list := r.e.Forget(of(9)); len(list) != 0 {
		t.Errorf("nobody: %+v", list)
	}
	if list := r.e.Forget(of(7)); len(list) != 1 || *list[0].Node != 7 || list[0].Received != 11 {
		t.Fatalf("got %+v", list)
	}
	r.e.settle(&AccountDisposition{account: late, turn: r.e.ledger.turn, Disposition: Disposition{Admitted: 3}})
	r.observe(122*second, header(telemetry.Version20, 8, 20))

	check := func(l *socketRig, nowNs int64) {
		t.Helper()
		list := l.e.Snapshot(nil)
		a := l.Loss(Query{Intervals: true}, nowNs)
		if len(list) != 1 || *list[0].Node != 8 || list[0].Received != 11 || *list[0].Lost != 10 {
			t.Errorf("got %+v", list)
		}
		if s := a.Sockets[0]; len(a.Exporters) != 1 || *a.Exporters[0].Sent != 21 || s.Exporters != 1 ||
			s.Received != 22 || s.Forgotten != 11 || len(a.Exporters[0].Intervals) != 2 {
			t.Errorf("got %+v, %+v", a.Exporters, s)
		}
	}
	check(r, 123*second)
	check(overRestart(t, r, 123*second, 124*second), 125*second)

	records := r.e.AppendSince(nil, &cursor, 110*second, true)
	if len(records) != 1 || records[0].Node != 8 || records[0].Received != 1 {
		t.Errorf("records: %+v", records)
	}
	r.observe(130*second, header(telemetry.Version20, 7, 500), header(telemetry.Version20, 7, 501))
	if list := r.e.Snapshot(nil); len(list) != 2 || list[1].Received != 2 || *list[1].Lost != 0 ||
		list[1].First.UnixNano() != 130*second {
		t.Errorf("it is not new: %+v", list)
	}
	records = r.e.AppendSince(nil, &cursor, 120*second, true)
	if len(records) != 1 || records[0].Node != 7 || records[0].Received != 2 {
		t.Errorf("records: %+v", records)
	}
}

// Forgetting makes room in a full table.
func TestForgetMakesRoom(t *testing.T) {
	e := NewExporters(8)
	fill := func(from uint32) {
		for node := from; node < from+8; node++ {
			e.Observe([]telemetry.Header{header(telemetry.Version20, node, 0)}, second)
		}
	}
	fill(0)
	before := e.overflow
	if before == 0 && e.full(7) == false {
		t.Fatal("the table is not full")
	}
	e.Forget(func(*telemetry.Exporter) bool { return true })
	fill(100)
	named := 0
	for _, x := range e.Snapshot(nil) {
		if x.Node != nil && *x.Node >= 100 {
			named++
		}
	}
	if named != 7 {
		t.Errorf("%d of 7 have an account", named)
	}
}
