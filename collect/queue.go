package collect

import (
	"context"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An Owner takes the reports of the flows that it owns.
type Owner interface {
	// Process takes the reports of a batch that arrived at nowNs. The batch is not the owner's to keep.
	Process(b *telemetry.Batch, nowNs int64)
	// Tick tells the time when no reports come: it is never earlier than that of a batch before.
	Tick(nowNs int64)
}

// A Handover is a way for receivers to give reports to the owner of their flows: Direct or a Queue.
type Handover interface {
	// take returns an empty batch to fill.
	take() *telemetry.Batch
	// put gives a batch that take returned to the owner.
	put(b *telemetry.Batch, nowNs int64)
}

// Direct lets a receiver call the owner itself: the reports stay in the cache of its processor. It suits a single
// owner, who must allow calls from several goroutines if there are several receivers. Each receiver needs a Direct of
// its own, and somebody else has to call Tick.
func Direct(owner Owner) Handover { return &direct{owner: owner} }

type direct struct {
	owner Owner
	batch telemetry.Batch
}

func (d *direct) take() *telemetry.Batch {
	d.batch.Reset()
	return &d.batch
}

func (d *direct) put(b *telemetry.Batch, nowNs int64) { d.owner.Process(b, nowNs) }

// queueLength is how many batches may wait for an owner. Beyond that receivers wait too, and the kernel's receive
// buffers, which are much larger, take the burst: what is lost then is lost in one place only, which counts it.
const queueLength = 16

// A Queue hands batches of reports over to the goroutine of the owner of their flows. Batches go round: receivers take
// an empty one, fill it and put it in; the owner gives it back. No batch is allocated after the start.
type Queue struct {
	owner   Owner
	waiting chan delivery
	empty   chan *telemetry.Batch
}

type delivery struct {
	batch *telemetry.Batch
	nowNs int64
}

// NewQueue returns the queue in front of owner. Run must be called for anything to move.
func NewQueue(owner Owner) *Queue {
	q := &Queue{
		owner: owner, waiting: make(chan delivery, queueLength),
		empty: make(chan *telemetry.Batch, queueLength),
	}
	for range queueLength {
		q.empty <- new(telemetry.Batch)
	}
	return q
}

// take returns an empty batch; it waits for one if the owner is behind.
func (q *Queue) take() *telemetry.Batch {
	b := <-q.empty
	b.Reset()
	return b
}

// put hands a batch that take returned to the owner. There is always room: as many wait as there are.
func (q *Queue) put(b *telemetry.Batch, nowNs int64) { q.waiting <- delivery{b, nowNs} }

// Run passes batches on to the owner until ctx is done and everything that waits is passed on.
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
			q.owner.Tick(now)
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
	q.owner.Process(d.batch, d.nowNs)
	q.empty <- d.batch
}
