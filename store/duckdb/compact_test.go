package duckdb

import (
	"fmt"
	"math/rand/v2"
	"os"
	"testing"
	"time"
)

// TestCompact: a file that is over is written anew, smaller, with the same rows; what a crash left of an attempt does no harm,
// and records that come later still go into it.
func TestCompact(t *testing.T) {
	s := open(t, nil)
	g := rand.New(rand.NewPCG(9, 9))
	for minute := range 15 {
		write(t, s, flowRecords(g, epoch.Add(time.Duration(minute)*time.Minute), 6, 250))
	}
	p := s.partitions[0]
	before, sizeBefore := sqlOf(t, s, "SELECT count(*), sum(packets), sum(hash(flow, start, bytes)) FROM flows_10s"), p.size()
	if err := os.WriteFile(p.file+".new", []byte("rubbish"), 0o600); err != nil {
		t.Fatal(err)
	}
	roll(t, s, epoch.Add(30*time.Minute))
	if !p.compacted {
		t.Fatal("the file was not compacted")
	}
	if after := sqlOf(t, s, "SELECT count(*), sum(packets), sum(hash(flow, start, bytes)) FROM flows_10s"); fmt.Sprint(after) != fmt.Sprint(before) {
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
	if got := fmt.Sprint(sqlOf(t, again, "SELECT count(*) FROM flows_10s")); got != "[[22510]]" || !again.findPartition(tierSeconds, epoch).compacted {
		t.Errorf("got %s", got)
	}
}
