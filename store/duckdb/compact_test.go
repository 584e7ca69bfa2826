package duckdb

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/waybill-int/waybill/store/schema"

	"github.com/waybill-int/waybill/internal/test"
)

// TestCompact: a file that is over is written anew, smaller, with the same rows; what a crash left of an attempt does
// no harm, and records that come later still go into it.
func TestCompact(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	s := open(t, nil)
	g := rand.New(rand.NewPCG(9, 9))
	for minute := range 15 {
		write(t, s, flowRecords(g, epoch.Add(time.Duration(minute)*time.Minute), 6, 250))
	}
	p := s.partitions[0]
	before, sizeBefore := sqlOf(t, s, "SELECT count(*), sum(packets), sum(hash(flow, start, bytes)) FROM flows_10s"),
		p.size()
	if err := os.WriteFile(p.file+".new", []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	roll(t, s, epoch.Add(30*time.Minute))
	if !p.compacted {
		t.Fatal("the file was not compacted")
	}
	if after := sqlOf(t, s, "SELECT count(*), sum(packets), sum(hash(flow, start, bytes)) FROM flows_10s"); fmt.Sprint(
		after) != fmt.Sprint(before) {
		t.Errorf("got %v, want %v", after, before)
	}
	if p.size() >= sizeBefore {
		t.Errorf("%d bytes, %d before", p.size(), sizeBefore)
	}
	write(t, s, flowRecords(g, epoch.Add(15*time.Minute), 1, 10))
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	again, err := Open(s.config)
	if err != nil {
		t.Fatal(err)
	}
	defer again.Close()
	if got := fmt.Sprint(sqlOf(t, again, "SELECT count(*) FROM flows_10s")); got != "[[22510]]" ||
		!again.findPartition(schema.Seconds, epoch).compacted {
		t.Errorf("got %s", got)
	}
}

// TestCompactOrder: the records of a flow stand together where flows last; where each has one, they stay in the order
// of time within those of the same hosts.
func TestCompactOrder(t *testing.T) {
	for name, test := range map[string]struct {
		perFlow int
		order   string
	}{
		"lasting": {6, "src_lo, dst_lo, flow, start"},
		"single":  {1, "src_lo, dst_lo, start"},
	} {
		t.Run(name, func(t *testing.T) {
			s := open(t, nil)
			g := rand.New(rand.NewPCG(9, 9))
			for minute := range 10 {
				v := flowRecords(g, epoch.Add(time.Duration(minute)*time.Minute), test.perFlow, 20)
				for i := range v.Flows {
					v.Flows[i].Key.SrcPort += uint16(minute * 100) // new flows between the same hosts
				}
				write(t, s, v)
			}
			roll(t, s, epoch.Add(30*time.Minute))
			p := s.findPartition(schema.Seconds, epoch)
			query := "SELECT list(rowid ORDER BY " + test.order + ") = list(rowid ORDER BY rowid), count(*) FROM " +
				p.catalog + ".flows_10s"
			var sorted bool
			var n int
			if err := s.write.QueryRowContext(t.Context(), query).Scan(&sorted, &n); err != nil {
				t.Fatal(err)
			}
			if !p.compacted || !sorted || n != 200*test.perFlow {
				t.Errorf("compacted %v, in order %v, %d records", p.compacted, sorted, n)
			}
		})
	}
}

// TestWriteWhileCompacting: records are taken while a file is compacted. Those of other files wait for nothing; if one
// comes late into the same file, it is there, and the file is compacted another time.
func TestWriteWhileCompacting(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(9, 9))
	write(t, s, flowRecords(g, epoch, 6, 100))
	p := s.list()[0]
	late := epoch.Add(time.Minute)
	s.beforeSwap = func() {
		write(t, s, flowRecords(g, late, 6, 10))
	}
	roll(t, s, epoch.Add(30*time.Minute))
	if p.compacted {
		t.Error("the file lost a record, or was copied after it")
	}
	late = epoch.Add(30 * time.Minute) // of the next hour
	roll(t, s, epoch.Add(30*time.Minute))
	if !p.compacted {
		t.Error("the file was not compacted")
	}
	s.beforeSwap = nil
	if got := fmt.Sprint(sqlOf(t, s, "SELECT count(*) FROM flows_10s")); got != "[[720]]" {
		t.Errorf("got %s records, want 720", got)
	}
	if left, _ := filepath.Glob(filepath.Join(s.config.Dir, "*.new*")); len(left) > 0 {
		t.Errorf("left over: %v", left)
	}
}

// TestWriteWhileMaintaining: writes, queries and maintenance at the same time, with files that come and go, lose
// nothing, and what is rolled up has the sums of what it is of. Maintenance that is ended early goes on next time.
func TestWriteWhileMaintaining(t *testing.T) {
	s := open(t, nil)
	var written atomic.Int64 // minutes
	var wg sync.WaitGroup
	wg.Go(func() {
		g := rand.New(rand.NewPCG(9, 9))
		for i := range int64(150) {
			write(t, s, flowRecords(g, epoch.Add(time.Duration(i)*time.Minute), 6, 20))
			written.Store(i + 1)
		}
	})
	wg.Go(func() {
		for i := 0; written.Load() < 150; i++ {
			ctx, cancel := context.WithCancel(t.Context())
			if i%3 == 0 {
				time.AfterFunc(5*time.Millisecond, cancel)
			}
			if err := s.Maintain(ctx, epoch.Add(time.Duration(written.Load())*time.Minute)); err != nil &&
				ctx.Err() == nil {
				t.Error(err)
			}
			cancel()
		}
	})
	wg.Go(func() {
		for written.Load() < 150 {
			if _, err := s.SQL(t.Context(), "SELECT count(*) FROM flows_10s, range(2)", 1); err != nil {
				t.Error(err)
			}
		}
	})
	wg.Wait()
	for range 5 {
		roll(t, s, epoch.Add(6*time.Hour))
	}
	want := "[[18000 true true]]"
	if got := fmt.Sprint(
		sqlOf(t, s,
			`SELECT count(*), sum(packets) = (SELECT sum(packets) FROM flows_1m), sum(packets) = (SELECT sum(packets) FROM flows_1h) FROM flows_10s`)); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	for _, p := range s.list() {
		if p.tier == schema.Seconds && !p.compacted {
			t.Errorf("%s is not compacted", p.file)
		}
	}
}
