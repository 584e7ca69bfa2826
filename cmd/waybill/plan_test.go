package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/waybill-int/waybill/internal/test"
)

// TestPlan: what the page about scale shows is what the command says, and its figures are those that were worked out by
// hand from what was measured.
func TestPlan(t *testing.T) {
	page, err := os.ReadFile(filepath.Join(test.Root(), "docs/explanation/scale.md"))
	if err != nil {
		t.Fatal(err)
	}
	const line = "$ waybill plan --reports 10M --flows 50M\n"
	_, shown, found := strings.Cut(string(page), line)
	shown, _, _ = strings.Cut(shown, "```")
	got, _, code := runWaybill(t, "plan", "--reports", "10M", "--flows", "50M")
	if code != 0 || !found || got != shown {
		t.Errorf("%d: got\n%s\nthe page has\n%s", code, got, shown)
	}
	l := load{reports: 10e6, flows: 50e6, size: 266, port: 10e9, disk: 500e6, replicas: 3, memory: 64e9}
	p := planOf(&l)
	for part, want := range map[string]float64{
		"network in": 21.28e9, "processors": 2.6, "memory of flows": 37e9, "records, written by DuckDB": 5e6,
		"or records, sent to ClickHouse": 5e6, "shards of ClickHouse": 5e6,
		"records on disk, a day": 25.056e12, "collectors: network in": 21.28e9, "servers of NATS: disk": 6.75e9,
		"processors of all": 50, "analyzer: reading": 10e6,
	} {
		for _, n := range append(p.OneProcess, p.ByTheBus...) {
			if n.Part == part && (n.Needs < want*0.9999 || n.Needs > want*1.0001) {
				t.Errorf("%s: got %g, want %g", part, n.Needs, want)
			}
		}
	}
	for part, want := range map[string]float64{
		"tables: processors": 9.3, "tables: memory of flows": 37e9,
		"analyzer: network": 2.8e9,
	} {
		at := slices.IndexFunc(p.TablesApart, func(n need) bool { return n.Part == part })
		if n := p.TablesApart[max(at, 0)]; at < 0 || n.Needs < want*0.9999 || n.Needs > want*1.0001 {
			t.Errorf("tables apart: %s: got %+v, want %g", part, n, want)
		}
	}
	// 3.33 M/s fit into no file of DuckDB: 5e6 records of 19.8 us take 99 processors, beside 2.6, 50 and 59.3; the
	// memory that comes with these is enough. 5.44 days of 25.056 TB each are kept.
	l.prices = prices{processor: 100, memory: 10, disk: 1}
	p = planOf(&l)
	for i, processors := range []float64{102, 149, 159} {
		list := [][]need{p.OneProcess, p.ByTheBus, p.TablesApart}[i]
		want := processors*100 + 25056*(2+14/6.0+400/360.0)
		if n := list[len(list)-1]; n.Unit != "$" || n.Needs < want*0.9999 || n.Needs > want*1.0001 {
			t.Errorf("price: got %+v, want %g", n, want)
		}
	}
	if n := breaks(p.OneProcess); n == nil || n.Part != "records, written by DuckDB" {
		t.Errorf("breaks first: %+v", n)
	}
	// What fits has nothing that breaks, and flows that are rarely seen have few records.
	l = load{reports: 500e3, flows: 50e6, active: 1e6, size: 266, port: 10e9, disk: 500e6, replicas: 3, memory: 64e9}
	if n := breaks(planOf(&l).ByTheBus); n != nil {
		t.Errorf("breaks first: %+v", n)
	}
	for _, args := range [][]string{{}, {"--reports", "1"}, {"--reports", "x", "--flows", "1"}} {
		if _, said, code := runWaybill(t, append([]string{"plan"}, args...)...); code != 2 || said == "" {
			t.Errorf("%q: %d %s", args, code, said)
		}
	}
}
