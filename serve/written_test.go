package serve

import (
	"testing"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/store"
	"github.com/waybill-int/waybill/telemetry"
)

// Records are written until where the oldest piece begins that is not on disk, whatever came behind it.
func TestReached(t *testing.T) {
	const begin = int64(1_000_003e9) // 3 s into ten seconds
	k := &keeper{intervals: analyze.NewIntervals(&analyze.Collector{}, nil, begin)}
	k.reached.gave(&overInterval{}, k.intervals)
	written := k.written()
	want := func(when string, seconds, tens int64) {
		t.Helper()
		for table, want := range map[store.Table]int64{
			store.Hops: seconds, store.Queues: seconds, store.Flows: tens,
			store.Events: tens,
		} {
			if got := written(table); !got.Equal(time.Unix(0, begin).Add(time.Duration(want) * time.Second)) {
				t.Errorf("%s: %v are written until %v, want %d s after the start", when, table, got.UTC(), want)
			}
		}
	}
	// look looks at the tables, which give a piece if there is something.
	look := func(after int64, something bool) *telemetry.Intervals {
		over, piece := &overInterval{}, &telemetry.Intervals{}
		if something {
			piece.Hops = make([]telemetry.HopInterval, 1)
		}
		k.intervals.Look(begin+after*1e9, func(*telemetry.Intervals) {})
		over.follow(piece)
		k.reached.gave(over, k.intervals)
		return piece
	}
	want("at the start", 0, 0)
	look(1, false)
	want("after a second without packets", 1, 0)
	second := look(2, true)
	want("with a piece on its way", 1, 0)
	ten := look(8, true)
	ten.Settle(true)
	want("with an older piece on its way", 1, 0)
	second.Settle(true)
	want("before the next look", 1, 0)
	look(8, false)
	want("with all on disk", 8, 7)
	for i := range int64(3 * maxOnTheWay) {
		look(9+i, true)
	}
	if len(k.reached.onTheWay) > maxOnTheWay {
		t.Errorf("%d looks are remembered", len(k.reached.onTheWay))
	}
	want("while nothing is written", 8, 7)
}
