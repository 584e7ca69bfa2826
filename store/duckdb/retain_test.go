package duckdb

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/waybill-int/waybill/internal/datadir"
	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

func files(t *testing.T, s *Store, prefix string) (n int, size int64) {
	t.Helper()
	entries, err := os.ReadDir(s.config.Dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if strings.HasPrefix(e.Name(), prefix) {
			info, err := e.Info()
			if err != nil {
				t.Fatal(err)
			}
			if strings.HasSuffix(e.Name(), ".duckdb") {
				n++
			}
			size += info.Size()
		}
	}
	return n, size
}

// TestRetentionByTime: files whose records are all too old are gone from the disk, and the queries over the others go
// on.
func TestRetentionByTime(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, func(c *Config) { c.Keep[0] = 2 * time.Hour })
	g := rand.New(rand.NewPCG(1, 2))
	begin := epoch.Truncate(time.Hour)
	for hour := range 5 {
		write(t, s, flowRecords(g, begin.Add(time.Duration(hour)*time.Hour), 10, 10))
	}
	roll(t, s, begin.Add(5*time.Hour)) // the hours 3 and 4 have records of the last two hours
	if n, _ := files(t, s, "seconds-"); n != 2 {
		t.Errorf("%d files, want 2", n)
	}
	if got := fmt.Sprint(sqlOf(t, s, "SELECT min(start), count(*) FROM flows_10s")); got !=
		fmt.Sprint([][]any{{begin.Add(3 * time.Hour), 200}}) {
		t.Errorf("got %s", got)
	}
	// What was rolled up stays.
	a := ask(t, s, store.Query{
		Table: store.Flows, From: begin, To: begin.Add(5 * time.Hour),
		Values: []string{"packets"},
	})
	var want uint64
	g = rand.New(rand.NewPCG(1, 2))
	for hour := range 5 {
		for _, f := range flowRecords(g, begin.Add(time.Duration(hour)*time.Hour), 10, 10).Flows {
			want += f.Packets
		}
	}
	if a.Rows[0][0] != want {
		t.Errorf("got %v packets, want %d", a.Rows[0][0], want)
	}
}

// TestRetentionWhileQueriesRun: a file that a query reads is removed after it.
func TestRetentionWhileQueriesRun(t *testing.T) {
	s := open(t, func(c *Config) { c.Keep[0] = time.Hour })
	g := rand.New(rand.NewPCG(1, 2))
	write(t, s, flowRecords(g, epoch, 1, 10))
	write(t, s, flowRecords(g, epoch.Add(3*time.Hour), 1, 10))
	s.reading.RLock() // a query
	roll(t, s, epoch.Add(4*time.Hour))
	if n, _ := files(t, s, "seconds-"); n != 2 {
		t.Errorf("%d files while a query runs, want 2", n)
	}
	if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*) FROM flows_10s")); got != "[[10]]" {
		t.Errorf("a new query sees %s rows, want 10", got)
	}
	s.reading.RUnlock()
	roll(t, s, epoch.Add(4*time.Hour+time.Minute))
	if n, _ := files(t, s, "seconds-"); n != 1 {
		t.Errorf("%d files after it, want 1", n)
	}
}

// TestRetentionByBytes: the files stay below the size, by giving up the oldest.
func TestRetentionByBytes(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, func(c *Config) { c.MaxBytes = 64 << 20 })
	g := rand.New(rand.NewPCG(1, 2))
	now := epoch
	highest := int64(0)
	for range 60 {
		write(t, s, flowRecords(g, now, 6, 32_000/6))
		now = now.Add(time.Minute)
		roll(t, s, now)
		stats, err := s.Stats()
		if err != nil {
			t.Fatal(err)
		}
		highest = max(highest, stats.Bytes)
		if stats.Dropped > 2 {
			break
		}
	}
	stats, _ := s.Stats()
	if stats.Dropped < 1 {
		t.Fatalf("nothing was dropped at %d bytes", stats.Bytes)
	}
	if limit := s.config.MaxBytes * 5 / 4; highest > limit {
		t.Errorf("grew to %d bytes, want at most %d", highest, limit)
	}
	if _, size := files(t, s, ""); size > s.config.MaxBytes*5/4 {
		t.Errorf("%d bytes are on disk", size)
	}
}

// TestFullDisk: on a disk that is full nothing is written, and nothing breaks; with room again it goes on by itself.
func TestFullDisk(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	dir := t.TempDir()
	if err := unix.Mount("tmpfs", dir, "tmpfs", 0, "size=96m"); err != nil {
		t.Skipf("cannot mount a small disk: %v", err)
	}
	defer unix.Unmount(dir, unix.MNT_DETACH)       //nolint:errcheck // the test is over
	for _, minFree := range []int64{16 << 20, 0} { // with 0, DuckDB itself finds out
		t.Run(fmt.Sprint(minFree), func(t *testing.T) {
			c := DefaultConfig(filepath.Join(dir, fmt.Sprint(minFree)))
			c.MinFree = minFree
			s, err := Open(c)
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			g := rand.New(rand.NewPCG(1, 2))
			v := flowRecords(g, epoch, 10, 500)
			write(t, s, v)
			ballast := filepath.Join(dir, "ballast")
			fill(t, ballast)
			before := fmt.Sprint(sqlOf(t, s, "SELECT count(*) FROM flows_10s"))
			more := flowRecords(g, epoch.Add(time.Minute), 100, 500)
			failed := 0
			for range 5 {
				if err := s.Write([]*telemetry.Intervals{more}); err != nil {
					failed++
					if strings.Contains(err.Error(), "\n") {
						t.Errorf("the error has several lines: %v", err)
					}
				}
			}
			if failed != 5 {
				t.Fatalf("%d of 5 writes to a full disk failed", failed)
			}
			if err := os.Remove(ballast); err != nil {
				t.Fatal(err)
			}
			write(t, s, more)
			if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*) FROM flows_10s")); before != "[[5000]]" ||
				got != "[[55000]]" {
				t.Errorf("%s records before, %s after, want 5000 and 55000", before, got)
			}
		})
	}
}

// fill writes a file until the disk is full.
func fill(t *testing.T, name string) {
	t.Helper()
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	block := make([]byte, 1<<16)
	for err == nil {
		_, err = f.Write(block)
	}
	if !errors.Is(err, unix.ENOSPC) {
		t.Fatal(err)
	}
}

// TestOpenTwice: a store has one owner.
func TestOpenTwice(t *testing.T) {
	s := open(t, nil)
	if _, err := Open(s.config); !errors.Is(err, datadir.ErrInUse) {
		t.Errorf("got %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if _, err := again.SQL(context.Background(), "SELECT 1", 1); err != nil {
		t.Error(err)
	}
}

// TestRetryWritesOnce: what failed half way is not written twice.
func TestRetryWritesOnce(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(1, 2))
	v := flowRecords(g, epoch.Add(19*time.Minute+30*time.Second), 6, 10) // of two hours: two files
	calls := 0
	s.beforeWrite = func() error {
		if calls++; calls == 2 {
			return errors.New("disk on fire")
		}
		return nil
	}
	err := s.Write([]*telemetry.Intervals{v})
	if err == nil || !strings.Contains(err.Error(), "disk on fire") {
		t.Fatalf("got %v", err)
	}
	write(t, s, v)
	if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*), count(DISTINCT (flow, start)) FROM flows_10s")); got !=
		"[[60 60]]" {
		t.Errorf("got %s", got)
	}
}
