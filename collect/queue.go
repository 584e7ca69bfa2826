package collect

import (
	"context"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Shard takes the reports of the flows that it owns.
type Shard interface {
	// Process takes the reports of a batch that arrived at nowNs. The batch is not the shard's to keep.
	Process(b *telemetry.Batch, nowNs int64)
	// Tick tells the time when no reports come: it is never earlier than that of a batch before.
	Tick(nowNs int64)
}

// A Dispatcher is a way for receivers to give reports to the shard of their flows: Inline or a Queue.
type Dispatcher interface {
	// take returns an empty batch to fill.
	take() *telemetry.Batch
	// put gives a batch that take returned to the shard.
	put(b *telemetry.Batch, nowNs int64)
}

// Inline lets a receiver call the shard itself: the reports stay in the cache of its processor. It suits a single
// shard, which must allow calls from several goroutines if there are several receivers. Each receiver needs an Inline
// of its own, and somebody else has to call Tick.
func Inline(shard Shard) Dispatcher { return &inline{shard: shard} }

type inline struct {
	shard Shard
	batch telemetry.Batch
}

func (d *inline) take() *telemetry.Batch {
	d.batch.Reset()
	return &d.batch
}

func (d *inline) put(b *telemetry.Batch, nowNs int64) { d.shard.Process(b, nowNs) }

// queueLength is how many batches may wait for a shard. Beyond that receivers wait too, and the kernel's receive
// buffers, which are much larger, take the burst: what is lost then is lost in one place only, which counts it.
const queueLength = 16

// A Queue hands batches of reports over to the goroutine of the shard of their flows. Batches go round: receivers take
// an empty one, fill it and put it in; the shard gives it back. No batch is allocated after the start.
type Queue struct {
	shard   Shard
	waiting chan delivery
	empty   chan *telemetry.Batch
}

type delivery struct {
	batch *telemetry.Batch
	nowNs int64
}

// NewQueue returns the queue in front of a shard. Run must be called for anything to move.
func NewQueue(shard Shard) *Queue {
	q := &Queue{
		shard: shard, waiting: make(chan delivery, queueLength),
		empty: make(chan *telemetry.Batch, queueLength),
	}
	for range queueLength {
		q.empty <- new(telemetry.Batch)
	}
	return q
}

// take returns an empty batch; it waits for one if the shard is behind.
func (q *Queue) take() *telemetry.Batch {
	b := <-q.empty
	b.Reset()
	return b
}

// put hands a batch that take returned to the shard. There is always room: as many wait as there are.
func (q *Queue) put(b *telemetry.Batch, nowNs int64) { q.waiting <- delivery{b, nowNs} }

// Drain waits until everything that was put in is passed on. Nobody may put in anything meanwhile.
func (q *Queue) Drain() {
	var all [queueLength]*telemetry.Batch
	for i := range all {
		all[i] = <-q.empty
	}
	for _, b := range all {
		q.empty <- b
	}
}

// Run passes batches on to the shard until ctx is done and everything that waits is passed on.
func (q *Queue) Run(ctx context.Context) {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		select {
		case d := <-q.waiting:
			q.pass(d)
		case <-tick.C: // maybe a while ago
			now := time.Now().UnixNano()
			for range len(q.waiting) { // it arrived before now
				q.pass(<-q.waiting)
			}
			q.shard.Tick(now)
		case <-ctx.Done():
			for {
				select {
				case d := <-q.waiting:
					q.pass(d)
				default:
					return
				}
			}
		}
	}
}

func (q *Queue) pass(d delivery) {
	q.shard.Process(d.batch, d.nowNs)
	q.empty <- d.batch
}
