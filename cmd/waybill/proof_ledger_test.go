package main

import (
	"testing"

	"github.com/waybill-int/waybill/internal/test/expect"
	"github.com/waybill-int/waybill/telemetry"
)

// checkLedger holds the ledger against the truth: as many reports were lost as the network threw away, and everything
// that was sent is somewhere.
func checkLedger(t *testing.T, r *running, want *expect.Answers) {
	t.Helper()
	var ledger []telemetry.Loss
	r.get("/api/v1/loss?limit=10000&intervals=true", "loss", &ledger)
	type account struct{ sent, lost, arrived, received, reports uint64 }
	accounts := map[uint32]account{}
	for _, x := range ledger {
		if x.Node == nil || x.Sent == nil {
			t.Errorf("%v: %s", x.Source, x.LossKnown)
			continue
		}
		var a, all account
		for _, i := range x.Intervals {
			a.sent, a.lost, a.arrived = a.sent+*i.Sent, a.lost+*i.Lost-*i.Late, a.arrived+*i.Arrived+*i.Late
			a.received, a.reports = a.received+i.Received, a.reports+i.Reports
		}
		all = account{*x.Sent, *x.Lost, *x.Arrived, x.Received, x.Reports}
		if a != all {
			t.Errorf("node %d: the intervals have %+v, all time has %+v", *x.Node, a, all)
		}
		accounts[*x.Node] = all
	}
	for _, x := range want.Exporters {
		wanted := account{x.Received + *x.Lost, *x.Lost, x.Received, x.Received, x.Reports}
		if got := accounts[*x.Node]; got != wanted {
			t.Errorf("ledger of node %d: got %+v, want %+v", *x.Node, got, wanted)
		}
		delete(accounts, *x.Node)
	}
	if len(accounts) > 0 {
		t.Errorf("more ledgers than exporters: %+v", accounts)
	}
	var tables telemetry.TableLoss
	r.get("/api/v1/loss", "tables", &tables)
	if tables.Waiting != 0 || tables.Stored != tables.Reports {
		t.Errorf("tables: %+v", tables)
	}
}
