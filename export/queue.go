package export

import (
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	// DefaultQueue is how many records wait for an output at most, unless the configuration says otherwise.
	DefaultQueue = 1 << 17
	// DefaultReports is that of an output that gets reports, which are larger.
	DefaultReports = 1 << 14
	// batchRecords is how many records are sent at a time.
	batchRecords = 1000
	// sendTimeout is how long that may take. Then it is tried again, after a wait that grows from minWait to maxWait.
	sendTimeout      = 30 * time.Second
	minWait, maxWait = 100 * time.Millisecond, 30 * time.Second
	// stopTimeout is how long what waits has when the server stops.
	stopTimeout = 5 * time.Second
)

// A Queue keeps records until its output has them. What does not fit is dropped and counted, so that nobody who has
// records waits for who takes them.
type Queue struct {
	name   string
	kind   string // of the output
	output Output
	max    int
	wanted [NumKinds]bool
	log    *slog.Logger
	wait   func(failures int) time.Duration

	mu       sync.Mutex
	waiting  []Record
	wake     chan struct{} // has an element when there is something in waiting
	counts   [NumKinds]Counts
	failures int // attempts in a row
	retried  uint64
	lastErr  string
	full     bool // the latest record did not fit
}

// Counts tell what became of records: Offered = Sent + QueueFull + Refused + Stopped + those that wait.
type Counts struct {
	Offered   uint64
	Sent      uint64 // the other side has confirmed them
	QueueFull uint64 // dropped, as too many waited
	Refused   uint64 // dropped, as the other side will never take them
	Stopped   uint64 // dropped, as the server stopped and the other side did not take them in time
}

// NewQueue returns a queue of at most size records of some kinds to an output, of a kind that people know.
func NewQueue(name, kind string, output Output, wanted []Kind, size int, log *slog.Logger) *Queue {
	q := &Queue{
		name: name, kind: kind, output: output, max: size, log: log.With("output", name), wake: make(chan struct{}, 1),
		wait: wait,
	}
	for _, k := range wanted {
		q.wanted[k] = true
	}
	return q
}

// wait is how long to wait after attempts that failed, give or take a quarter.
func wait(failures int) time.Duration {
	d := min(minWait<<min(failures-1, 16), maxWait)
	return d + time.Duration((rand.Float64()-0.5)*float64(d)/2)
}

// Wants reports whether records of a kind are sent.
func (q *Queue) Wants(k Kind) bool { return q.wanted[k] }

// Take puts the records of v that are wanted into the queue. It does not wait, and keeps v until they are sent.
func (q *Queue) Take(v *telemetry.Intervals) {
	q.mu.Lock()
	defer q.mu.Unlock()
	OfIntervals(v, &q.wanted, q.add)
	q.notify()
}

// Offer puts a record into the queue, if it is wanted. It does not wait.
func (q *Queue) Offer(r Record) {
	if !q.wanted[r.Kind] {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	q.add(r)
	q.notify()
}

// add is Offer with q.mu held.
func (q *Queue) add(r Record) {
	n := &q.counts[r.Kind]
	n.Offered++
	if len(q.waiting) >= q.max {
		n.QueueFull++
		if !q.full {
			q.full = true
			q.log.Warn("the queue of an output is full; further records for it are dropped and counted",
				"records", q.max)
		}
		return
	}
	q.waiting = append(q.waiting, r)
}

func (q *Queue) notify() {
	if len(q.waiting) == 0 {
		return
	}
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// Run sends what is in the queue until ctx is done, then what still waits if that is quick, and closes the output.
func (q *Queue) Run(ctx context.Context) {
	defer q.output.Close()
	for ctx.Err() == nil {
		if q.sendNext(ctx) {
			continue
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
		}
	}
	last, cancel := context.WithTimeout(context.WithoutCancel(ctx), stopTimeout)
	defer cancel()
	for last.Err() == nil && q.sendNext(last) {
	}
	q.giveUp()
}

// sendNext sends the next records, as often as that takes; false: there are none.
func (q *Queue) sendNext(ctx context.Context) bool {
	q.mu.Lock()
	batch := q.waiting[:min(len(q.waiting), batchRecords)]
	q.mu.Unlock()
	if len(batch) == 0 {
		return false
	}
	for {
		sending, cancel := context.WithTimeout(ctx, sendTimeout)
		refused, err := q.output.Send(sending, batch)
		cancel()
		if err == nil {
			q.sent(batch, refused)
			return true
		}
		if ctx.Err() != nil {
			return true
		}
		select {
		case <-time.After(q.failed(err)):
		case <-ctx.Done():
			return true
		}
	}
}

// sent notes that the other side has a batch, which is the front of what waits, but for what it refused.
func (q *Queue) sent(batch []Record, refused []int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range batch {
		q.counts[batch[i].Kind].Sent++
	}
	for _, i := range refused {
		n := &q.counts[batch[i].Kind]
		n.Sent, n.Refused = n.Sent-1, n.Refused+1
	}
	clear(batch) // what it points to may go
	q.waiting = q.waiting[len(batch):]
	if len(q.waiting) == 0 {
		q.waiting = nil
	}
	q.full = q.full && len(q.waiting) > q.max/2
	if q.failures > 0 {
		q.log.Info("an output works again", "attempts", q.failures)
	}
	q.failures, q.lastErr = 0, ""
}

// failed notes that an attempt failed, and returns how long to wait.
func (q *Queue) failed(err error) time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.failures == 0 {
		q.log.Warn("an output does not take records; they wait, and are counted as dropped when their queue is full",
			"error", err)
	}
	q.failures, q.lastErr = q.failures+1, err.Error()
	q.retried++
	return q.wait(q.failures)
}

// giveUp counts what still waits at the end.
func (q *Queue) giveUp() {
	q.mu.Lock()
	defer q.mu.Unlock()
	for i := range q.waiting {
		q.counts[q.waiting[i].Kind].Stopped++
	}
	if len(q.waiting) > 0 {
		q.log.Warn("records were not sent before the stop", "records", len(q.waiting), "error", q.lastErr)
	}
	q.waiting = nil
}

// Stats returns what became of the records, by kind.
func (q *Queue) Stats() Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	return Stats{
		Name: q.name, Kind: q.kind, Wanted: q.wanted, Counts: q.counts, Waiting: len(q.waiting), Retried: q.retried,
		Failures: q.failures, LastError: q.lastErr,
	}
}

// Stats are the counters of a Queue.
type Stats struct {
	Name, Kind string
	Wanted     [NumKinds]bool
	Counts     [NumKinds]Counts
	Waiting    int    // records
	Retried    uint64 // attempts that failed and were made again
	Failures   int    // attempts in a row that failed; 0: it works, or was not tried
	LastError  string // of those in a row
}
