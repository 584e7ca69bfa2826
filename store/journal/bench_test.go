package journal

import (
	"path/filepath"
	"strconv"
	"testing"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/telemetry"
)

// BenchmarkNote notes 100,000 flows of which all, or one in ten, have new reports since the last note.
func BenchmarkNote(b *testing.B) {
	const flows = 100_000
	for _, share := range []int{1, 10, 1000} {
		b.Run("1 in "+strconv.Itoa(share), func(b *testing.B) {
			x := newTested()
			x.collector = &analyze.Collector{Owners: []analyze.Owner{analyze.NewShard(analyze.DefaultConfig())}}
			x.intervals = analyze.NewIntervals(x.collector, nil, x.now)
			process := func(i int) {
				r := report(x.g, 1)
				r.Flow.Src.Lo += uint64(i) << 16
				batch := telemetry.Batch{}
				batch.Add(r)
				x.collector.Owners[0].(*analyze.Shard).Process(&batch, x.now)
			}
			for i := range flows {
				process(i)
			}
			j, err := Open(filepath.Join(b.TempDir(), "journal"), 0)
			if err != nil {
				b.Fatal(err)
			}
			defer j.Close()
			bytes := 0
			for b.Loop() {
				b.StopTimer()
				for i := 0; i < flows; i += share {
					process(i)
				}
				b.StartTimer()
				if err := j.Note(x.intervals.SoFar(x.now)); err != nil {
					b.Fatal(err)
				}
				bytes += j.current.buffer.Len()
				b.StopTimer()
				j.writing.Wait()
				j.current.size = len(head) // not full
				b.StartTimer()
			}
			b.ReportMetric(float64(bytes)/float64(b.N)/flows*float64(share), "B/flow")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/flows*float64(share), "ns/flow")
		})
	}
}
