package duckdb

import (
	"math/rand/v2"
	"reflect"
	"testing"
	"time"

	"github.com/waybill-int/waybill/internal/test"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// TestManyHistograms: the histograms of many groups in many pieces of time are merged, as in Go, within the least
// memory that a store may have.
func TestManyHistograms(t *testing.T) {
	if test.RaceDetector {
		t.Skip("nothing here runs side by side")
	}
	const paths, pieces, perPiece = 200, 50, 3
	const step = perPiece * 10 * time.Second
	s := open(t, func(c *Config) { c.Memory, c.Threads = 64<<20, 2 })
	g := rand.New(rand.NewPCG(7, 8))
	type group struct {
		start time.Time
		path  uint64
	}
	want := map[group]*telemetry.Histogram{}
	for piece := range pieces {
		v := &telemetry.Intervals{}
		start := epoch.Add(time.Duration(piece) * step)
		for path := range uint64(paths) {
			merged := &telemetry.Histogram{}
			for i := range perPiece {
				h := telemetry.Histogram{
					Count: 100, Sum: g.Uint64N(1e6), Min: 100 + g.Uint64N(100), Max: 1e5,
					Scale: int8(3 + g.IntN(2)), Start: int16(g.IntN(30)),
				}
				for range 30 { // most groups have more than 16, from where on a sorted aggregate of DuckDB takes much
					h.Counts = append(h.Counts, 1+g.Uint64N(9))
				}
				merged.Merge(&h)
				v.Paths = append(v.Paths,
					telemetry.PathInterval{
						StartNs: start.UnixNano() + int64(i)*telemetry.FlowIntervalNs,
						Path:    path + 1, Packets: 1, Residence: h,
					})
			}
			want[group{start, path + 1}] = merged
		}
		write(t, s, v)
	}
	a := ask(t, s, store.Query{
		Table: store.Paths, From: epoch, To: epoch.Add(pieces * step), Step: step,
		Group: []string{"path_id"}, Values: []string{"residence"}, Limit: 2 * paths * pieces,
	})
	if len(a.Rows) != len(want) {
		t.Errorf("got %d rows, want %d", len(a.Rows), len(want))
	}
	for _, row := range a.Rows {
		if got, want := row[2], want[group{row[0].(time.Time), row[1].(uint64)}]; !reflect.DeepEqual(got, want) {
			t.Fatalf("%v of %v: got %+v, want %+v", row[1], row[0], got, want)
		}
	}
}
