package store

import (
	"context"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	// DefaultMaxQueued is how many records may wait for the disk: about 60 MB.
	DefaultMaxQueued = 1 << 18
	// commitEvery is how long records wait for others before they are written.
	commitEvery = 500 * time.Millisecond
	// maintainEvery is how often the backend is asked to maintain what it has.
	maintainEvery = 5 * time.Second
	// retryEvery is how long a Writer waits after the disk refused.
	retryEvery = 2 * time.Second
)

// A Writer takes records from whoever has some and writes them in a goroutine of its own; another one maintains what
// was written. Append never waits: what does not fit into the queue is dropped and counted by table.
type Writer struct {
	backend  Backend
	max      int
	troubles *Troubles
	now      func() time.Time

	mu      sync.Mutex
	queue   []*telemetry.Intervals
	since   time.Time     // when the first of queue was appended
	writing time.Time     // when the first of the batches being written was; zero: none are
	queued  int           // records in queue and in the batches being written
	wake    chan struct{} // has an element when there is something in queue
	room    chan struct{} // closed and replaced when records leave
	written Counts
	dropped Counts
	held    bool   // nothing may be written yet
	stopped string // why nothing is written at the moment; "" if it is
	neglect string // why nothing is maintained at the moment; "" if it is
}

// NewWriter returns a Writer to backend with a queue of maxQueued records. The backend stays the caller's. troubles is
// told why something fails.
func NewWriter(backend Backend, maxQueued int, troubles *Troubles) *Writer {
	return &Writer{
		backend: backend, max: maxQueued, troubles: troubles, now: time.Now, wake: make(chan struct{}, 1),
		room: make(chan struct{}),
	}
}

// Append hands v over, which is the Writer's from then on. A batch that does not fit as a whole is dropped as a whole.
func (w *Writer) Append(v *telemetry.Intervals) {
	n := v.Len()
	if n == 0 {
		return
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.queued+n > w.max {
		w.dropped.add(v)
		v.Settle(false)
		return
	}
	if len(w.queue) == 0 {
		w.since = w.now()
	}
	w.queue = append(w.queue, v)
	w.queued += n
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// Hold says whether records have to wait in the queue. Those that still do when Run ends are dropped.
func (w *Writer) Hold(hold bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.held = hold
}

// WaitForRoom returns when the queue is less than half full, or nothing can be written, or ctx is done. It is for those
// who have time and much to append.
func (w *Writer) WaitForRoom(ctx context.Context) {
	for {
		w.mu.Lock()
		free, room := w.queued <= w.max/2 || w.held || w.stopped != "", w.room
		w.mu.Unlock()
		if free {
			return
		}
		select {
		case <-room:
		case <-ctx.Done():
			return
		}
	}
}

// WriterStats tell what became of the records of a Writer. Appended = Written + Dropped + Queued at any time.
type WriterStats struct {
	Written, Dropped Counts
	Queued           int
	Stopped          string // why nothing is written at the moment; "" if all is well
	Neglected        string // why nothing is rolled up and removed at the moment
}

// Stats returns a copy of the counters.
func (w *Writer) Stats() WriterStats {
	w.mu.Lock()
	defer w.mu.Unlock()
	return WriterStats{w.written, w.dropped, w.queued, w.stopped, w.neglect}
}

// Run writes until ctx is done, and then what is in the queue. It tries again what fails; what still fails at the end
// is dropped and counted.
func (w *Writer) Run(ctx context.Context) {
	var upkeep sync.WaitGroup
	upkeep.Go(func() { w.maintain(ctx) })
	defer upkeep.Wait()
	ticker := time.NewTicker(commitEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			w.flush(ctx)
			return
		case <-ticker.C:
			w.flush(ctx)
		case <-w.wake:
			// Records that come one after the other are written together, unless they are many.
			w.mu.Lock()
			many := w.queued > w.max/8
			w.mu.Unlock()
			if many {
				w.flush(ctx)
			}
		}
	}
}

// maintain maintains the backend until ctx is done.
func (w *Writer) maintain(ctx context.Context) {
	ticker := time.NewTicker(maintainEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			if err := w.backend.Maintain(ctx, w.writtenUntil()); ctx.Err() == nil {
				w.note(&w.neglect, err,
					"the store is not maintained; minutes and hours are behind, and nothing is removed",
					"the store is maintained again")
			}
		}
	}
}

// writtenUntil is a time of before which nothing waits to be written.
func (w *Writer) writtenUntil() time.Time {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case !w.writing.IsZero():
		return w.writing
	case len(w.queue) > 0:
		return w.since
	}
	return w.now()
}

// flush writes what is in the queue.
func (w *Writer) flush(ctx context.Context) {
	w.mu.Lock()
	held := w.held
	if held && ctx.Err() == nil {
		w.mu.Unlock()
		return
	}
	batches := w.queue
	w.queue = nil
	if len(batches) > 0 {
		w.writing = w.since
	}
	w.mu.Unlock()
	if len(batches) == 0 {
		return
	}
	var counts Counts
	n := 0
	for _, v := range batches {
		counts.add(v)
		n += v.Len()
	}
	written := !held && w.write(ctx, batches)
	w.mu.Lock()
	defer w.mu.Unlock()
	w.writing = time.Time{}
	total := &w.written
	if !written {
		total = &w.dropped
	}
	for t := range counts {
		total[t] += counts[t]
	}
	for _, v := range batches {
		v.Settle(written)
	}
	w.queued -= n
	w.wakeWaiting()
}

// write writes batches, again and again if it must, and once more when ctx is done. It reports whether it did.
func (w *Writer) write(ctx context.Context, batches []*telemetry.Intervals) bool {
	err := w.backend.Write(batches)
	for last := false; err != nil && !last; err = w.backend.Write(batches) {
		w.noteWrite(err)
		select {
		case <-time.After(retryEvery):
		case <-ctx.Done():
			last = true
		}
	}
	w.noteWrite(err)
	return err == nil
}

// wakeWaiting lets who waits for room look again. w.mu is held.
func (w *Writer) wakeWaiting() {
	close(w.room)
	w.room = make(chan struct{})
}

// noteWrite takes what Write said.
func (w *Writer) noteWrite(err error) {
	w.note(&w.stopped, err,
		"the store is not written; records wait, and are counted as dropped when their queue is full",
		"the store is written again")
	if err != nil {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.wakeWaiting()
	}
}

// note puts down in state why something fails, and tells. While nothing is written, that is told and nothing else: it
// has one reason.
func (w *Writer) note(state *string, err error, fails, works string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if state == &w.stopped || err == nil || w.stopped == "" {
		w.troubles.Note(fails, err, fails, works)
	}
	if *state = ""; err != nil {
		*state = err.Error()
	}
}
