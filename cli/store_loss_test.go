package cli

import (
	"context"
	"log/slog"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/analyze/ledger"
	"github.com/waybill-int/waybill/analyze/timing"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/duckdb"
	"github.com/waybill-int/waybill/telemetry"
	"github.com/waybill-int/waybill/wire/codepoint"
)

// A full disk is told of by the name of each exporter whose reports are not stored.
func TestLossOfFullStore(t *testing.T) {
	for _, full := range []bool{false, true} {
		config := duckdb.DefaultConfig(t.TempDir())
		if full {
			config.MinFree = 1 << 60
		}
		disk, err := duckdb.Open(config)
		if err != nil {
			t.Fatal(err)
		}
		defer disk.Close()
		now := time.Now()
		collector := &analyze.Collector{
			Owners:    []analyze.Owner{analyze.NewShard(analyze.DefaultConfig())},
			Exporters: []*ledger.Exporters{ledger.NewExporters(10)}, Timing: timing.New(),
		}
		accounts := ledger.New(collector.Exporters, []ledger.Socket{{}}, nil, collector)
		intervals := analyze.NewIntervals(collector, nil, now.UnixNano())
		points := codepoint.New()
		points.Compile()
		decoder := telemetry.NewDecoder(points)
		sent := map[string]uint64{}
		for i := range uint32(100) {
			source := netip.AddrPortFrom(netip.AddrFrom4([4]byte{10, 0, 0, byte(i % 3)}), 5000)
			var batch telemetry.Batch
			headers := make([]telemetry.Header, 1)
			decoder.Decode(test.Report(test.Form20XD, i/3, i/3, 1), source, 8555, &batch, &headers[0])
			batch.Attribute(collector.Exporters[0].Observe(headers, now.UnixNano()), headers)
			collector.Owners[0].(*analyze.Shard).Process(&batch, now.UnixNano())
			sent[source.Addr().String()]++
		}
		writer := store.NewWriter(disk, store.DefaultMaxQueued, store.NewTroubles(slog.New(slog.DiscardHandler)))
		intervals.Finish(now.UnixNano(), writer.Append)
		check := func(queued bool) {
			t.Helper()
			list := accounts.Loss(ledger.Query{}, now.UnixNano()).Exporters
			if len(list) != len(sent) {
				t.Fatalf("%d exporters, want %d", len(list), len(sent))
			}
			for _, x := range list {
				n := sent[x.Source.String()]
				got := [3]uint64{*x.Fate.Queued, *x.Fate.Stored, *x.Fate.StoreDropped}
				want := [3]uint64{1: n}
				switch {
				case queued:
					want = [3]uint64{0: n}
				case full:
					want = [3]uint64{2: n}
				}
				if got != want {
					t.Errorf("disk full %v: %v has queued, stored, dropped %d, want %d", full, x.Source, got, want)
				}
				row := lossRow{Loss: x}
				if strings.Contains(row.note(), "reports not stored: disk full or too slow") != (full && !queued) {
					t.Errorf("disk full %v: %v: note %q", full, x.Source, row.note())
				}
			}
		}
		check(true)
		stopped, cancel := context.WithCancel(t.Context())
		cancel()
		writer.Run(stopped) // it tries what waits, twice
		check(false)
	}
}
