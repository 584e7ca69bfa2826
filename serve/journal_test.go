package serve

import (
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/store/journal"
	"github.com/waybill-int/waybill/telemetry"
)

// TestJournalFails: a journal that cannot be written is one line in the log, however many intervals are over meanwhile,
// and another one when it can be written again.
func TestJournalFails(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "journal")
	j, err := journal.Open(dir, 0)
	if err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	var text strings.Builder
	now := time.Date(2026, 11, 21, 9, 0, 0, 0, time.UTC)
	n := &noter{journal: j, troubles: store.NewTroubles(slog.New(slog.NewTextHandler(&text, nil))), last: now}
	v := analyze.NewIntervals(&analyze.Collector{}, nil, now.UnixNano())
	pass := func(times int) {
		for range times {
			over := &overInterval{startNs: v.Open()}
			n.note(v, now, now.UnixNano())
			test.Eventually(t, "the disk", func() bool { return !j.Busy() })
			now = now.Add(6 * time.Second)
			n.next = now
			v.Look(now.UnixNano(), func(*telemetry.Intervals) {})
			if v.Open() != over.startNs {
				n.over = append(n.over, over)
			}
			n.settle()
		}
	}
	pass(8)
	if lines := strings.Count(text.String(), "\n"); lines != 1 || n.failures.Load() < 5 || len(n.over) > 0 {
		t.Errorf("%d lines, %d failures, %d intervals are not settled:\n%s", lines, n.failures.Load(), len(n.over),
			&text)
	}
	if err := os.MkdirAll(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	pass(4)
	if lines := strings.Count(text.String(), "\n"); lines != 2 {
		t.Errorf("%d lines:\n%s", lines, &text)
	}
	n.stop()
}
