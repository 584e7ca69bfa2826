package serve

import (
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/store"
)

// maxOnTheWay is how many looks are remembered while the disk is slow, or full.
const maxOnTheWay = 1024

// reached knows until when all records are on disk, as it was when the tables were looked at last. One goroutine calls
// gave.
type reached struct {
	onTheWay []givenUntil // the oldest first
	latestNs int64        // second of the latest of them
	seconds  atomic.Int64
	tens     atomic.Int64
}

// givenUntil is until when records were given to the store by one look at the tables, and what of it is on its way.
type givenUntil struct {
	over              *overInterval
	secondsNs, tensNs int64
}

// gave notes what a look has given, which over follows, and moves on over all that is on disk. Looks that give nothing
// need no note, nor do those that are too many: the store writes in order, so the next one that is noted is on disk
// after them.
func (r *reached) gave(over *overInterval, v *analyze.Intervals) {
	if v.OpenSecond() != r.latestNs && len(r.onTheWay) < maxOnTheWay {
		r.latestNs = v.OpenSecond()
		r.onTheWay = append(r.onTheWay, givenUntil{over, r.latestNs, v.Open()})
	}
	for len(r.onTheWay) > 0 && r.onTheWay[0].over.left.Load() == 0 {
		r.seconds.Store(r.onTheWay[0].secondsNs)
		r.tens.Store(r.onTheWay[0].tensNs)
		r.onTheWay = r.onTheWay[1:]
	}
}

// written returns what says until when all records of a table are on disk.
func (k *keeper) written() func(store.Table) time.Time {
	if k == nil {
		return nil
	}
	return func(t store.Table) time.Time {
		if t == store.Hops || t == store.Queues {
			return time.Unix(0, k.reached.seconds.Load())
		}
		return time.Unix(0, k.reached.tens.Load())
	}
}
