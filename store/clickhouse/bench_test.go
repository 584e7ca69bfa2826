package clickhouse

import (
	"math/rand/v2"
	"syscall"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/internal/test/chdb"
	"github.com/waybill-int/waybill/store/schema"
	"github.com/waybill-int/waybill/telemetry"
)

// BenchmarkWrite writes records of all tables. The engine has a process of its own on the same processors:
// own-ns/record is what they cost the process that writes them.
func BenchmarkWrite(b *testing.B) {
	n := 20_000
	if test.Once() {
		n = 200
	}
	g := maker{rand.New(rand.NewPCG(7, 0))}
	batches := []*telemetry.Intervals{g.intervals(n, 0)}
	records := 0
	for _, r := range schema.RecordsOf(batches) {
		records += r.Len
	}
	s := open(b, chdb.Start(b))
	before := processors(b)
	for b.Loop() {
		if err := s.Write(batches); err != nil {
			b.Fatal(err)
		}
	}
	written := float64(records) * float64(b.N)
	b.ReportMetric(written/b.Elapsed().Seconds(), "records/s")
	b.ReportMetric(float64(processors(b)-before)/written, "own-ns/record")
}

// processors is the time of processors that this process has taken.
func processors(b *testing.B) time.Duration {
	b.Helper()
	var u syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &u); err != nil {
		b.Fatal(err)
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
