package duckdb

import (
	"io"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store"
)

// copyFiles copies the files of a store that a process has open, as a kill would leave them.
func copyFiles(t *testing.T, from string) string {
	t.Helper()
	to := t.TempDir()
	list, err := filepath.Glob(filepath.Join(from, "*.duckdb*"))
	if err != nil || len(list) == 0 {
		t.Fatal(list, err)
	}
	for _, name := range list {
		in, err := os.Open(name)
		if err != nil {
			t.Fatal(err)
		}
		out, err := os.Create(filepath.Join(to, filepath.Base(name)))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(out, in); err != nil {
			t.Fatal(err)
		}
		in.Close()
		out.Close()
	}
	return to
}

// TestLostLog: what a log had that was cut, or that is gone, is told by number and file; what is whole is not.
func TestLostLog(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(3, 3))
	from := epoch.Add(-time.Minute)
	const batches, flows = 5, 100
	for i := range batches {
		write(t, s, flowRecords(g, from.Add(time.Duration(i)*10*time.Second), 1, flows))
	}
	for name, damage := range map[string]func(wal string) error{
		"whole": func(string) error { return nil },
		"cut":   func(wal string) error { info, _ := os.Stat(wal); return os.Truncate(wal, info.Size()/2) },
		"gone":  os.Remove,
	} {
		t.Run(name, func(t *testing.T) {
			dir := copyFiles(t, s.config.Dir)
			logs, err := filepath.Glob(filepath.Join(dir, "seconds-*.wal"))
			if err != nil || len(logs) != 1 {
				t.Fatal(logs, err)
			}
			if err := damage(logs[0]); err != nil {
				t.Fatal(err)
			}
			for again := range 2 {
				config := s.config
				config.Dir = dir
				x, err := Open(config)
				if err != nil {
					t.Fatal(err)
				}
				left := sqlOf(t, x, "SELECT count(*) FROM flows_10s")[0][0].(int64)
				stats, err := x.Stats()
				if err != nil {
					t.Fatal(err)
				}
				want := uint64(batches*flows - left)
				if again > 0 {
					want = 0 // it was said
				}
				var lost store.Counts
				for _, l := range stats.Lost {
					lost = l.Records
					if l.File != strings.TrimSuffix(logs[0], ".wal") {
						t.Errorf("lost of %s", l.File)
					}
				}
				if lost[store.Flows] != want || (name == "whole") != (left == batches*flows) {
					t.Errorf("of %d records %d are left, and %d told as lost", batches*flows, left, lost[store.Flows])
				}
				if err := x.Close(); err != nil {
					t.Fatal(err)
				}
			}
		})
	}
}
