package ledger

import (
	"net/netip"
	"testing"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An exporter that numbers its reports for each of two collectors has two accounts, in which nothing came again, also
// after a restart of whoever accounts for it.
func TestCollectors(t *testing.T) {
	source := netip.MustParseAddr("192.0.2.1")
	e := NewExporters(16)
	l := New([]*Exporters{e}, []Socket{{Listen: "bus"}}, func() map[uint32]string { return nil }, noTables{})
	now := time.Now().UnixNano()
	observe := func(e *Exporters, from, to uint32) {
		for n := from; n < to; n++ {
			for _, collector := range []string{"dc1", "dc2"} {
				h := []telemetry.Header{{
					Collector: collector, Source: source, Version: telemetry.Version20, HasNodeID: true, NodeID: 7,
					HasSequence: true, Sequence: n, Reports: 1, Dialect: "int",
				}}
				e.Observe(h, now)
				if h[0].Repeated {
					t.Fatalf("number %d by %s came again", n, collector)
				}
			}
		}
	}
	check := func(e *Exporters, want uint64) {
		t.Helper()
		list := e.Snapshot(nil)
		if len(list) != 2 || list[0].Collector != "dc1" || list[1].Collector != "dc2" {
			t.Fatalf("the accounts are %+v", list)
		}
		for _, x := range list {
			if x.Received != want || x.Lost == nil || *x.Lost != 0 || x.Duplicate != 0 || x.Restarted != 0 {
				t.Errorf("%d datagrams came: %+v", want, x)
			}
		}
	}
	observe(e, 100, 600)
	check(e, 500)
	state := l.State(now)
	again := NewExporters(16)
	next := New([]*Exporters{again}, []Socket{{Listen: "bus"}}, func() map[uint32]string { return nil }, noTables{})
	next.Restore(&state, now, func(string, netip.Addr) (int, bool) { return 0, true })
	observe(again, 600, 900)
	check(again, 800)
}
