package ring

import (
	"context"
	"os"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/waybill-int/waybill/store"
)

const (
	// numBlocks is how many blocks wait for the disk or are being filled: 8 MiB, a second of 30,000 reports.
	numBlocks = 64
	// writeEvery is how long a datagram waits for others before it is written.
	writeEvery = 200 * time.Millisecond
	// syncEvery is how long what is written may be lost if the machine ends.
	syncEvery = time.Second
	// retryEvery is how long the writer waits after the disk refused.
	retryEvery = 2 * time.Second
)

// A Ring keeps datagrams. One goroutine calls Run; the methods that read may be called by any.
type Ring struct {
	config    Config
	troubles  *store.Troubles
	now       func() time.Time
	appenders []*Appender
	free      chan *block
	full      chan *block
	kept      atomic.Uint64
	dropped   atomic.Uint64

	// What only the writer has.
	file   *os.File  // of the newest segment; nil: a new one is needed
	retry  time.Time // not before, if stopped
	synced time.Time
	dirty  bool

	mu       sync.Mutex
	segments []segment // the oldest first
	next     uint32    // number of the next segment
	bytes    int64
	removed  uint64
	stopped  string // why nothing is written; "" if all is well
}

// Open opens the ring in a directory, which is made if there is none. Nobody else may write there meanwhile. What the
// last process could not finish is cut off; if less room than before is allowed, the oldest segments are removed.
// troubles is told why nothing is written.
func Open(config Config, troubles *store.Troubles) (*Ring, error) {
	if err := config.Check(); err != nil {
		return nil, err
	}
	r := &Ring{
		config: config, troubles: troubles, now: time.Now, free: make(chan *block, numBlocks),
		full: make(chan *block, numBlocks), next: 1,
	}
	for range numBlocks {
		r.free <- new(block) // which gets its memory when it is needed
	}
	if err := os.MkdirAll(config.Dir, 0o700); err != nil {
		return nil, err
	}
	numbers, err := listSegments(config.Dir)
	if err != nil {
		return nil, err
	}
	for i, number := range numbers {
		s, err := openSegment(config.Dir, number, i == len(numbers)-1)
		if err != nil {
			return nil, err
		}
		r.next = number + 1
		if s.size <= segmentHeader {
			if err := os.Remove(s.path(config.Dir)); err != nil {
				return nil, err
			}
			continue
		}
		r.segments = append(r.segments, s)
		r.bytes += s.size
	}
	return r, r.makeRoom(0)
}

// Stats tell what a Ring holds and what became of the datagrams that were handed over.
type Stats struct {
	Kept, Dropped  uint64 // datagrams since the start: on disk, and those that the disk could not take
	Bytes          int64  // on disk
	Segments       int
	Removed        uint64    // segments since the start that gave way to newer ones
	Oldest, Newest time.Time // arrival; zero if there is none
	Stopped        string    // why nothing is written; "" if all is well
}

// Stats returns a copy of the counters.
func (r *Ring) Stats() Stats {
	r.mu.Lock()
	defer r.mu.Unlock()
	s := Stats{
		Kept: r.kept.Load(), Dropped: r.dropped.Load(), Bytes: r.bytes, Segments: len(r.segments),
		Removed: r.removed, Stopped: r.stopped,
	}
	for i := range r.segments {
		first, last := r.segments[i].first, r.segments[i].last
		if first > last {
			continue // nothing is in it yet
		}
		if s.Oldest.IsZero() || first < s.Oldest.UnixNano() {
			s.Oldest = time.Unix(0, first).UTC()
		}
		if s.Newest.IsZero() || last > s.Newest.UnixNano() {
			s.Newest = time.Unix(0, last).UTC()
		}
	}
	return s
}

// Run writes what appenders take until ctx is done, and then the rest.
func (r *Ring) Run(ctx context.Context) {
	ticker := time.NewTicker(writeEvery)
	defer ticker.Stop()
	for {
		select {
		case b := <-r.full:
			r.keep(b)
		case <-ticker.C:
			r.flush()
			if r.now().Sub(r.synced) >= syncEvery {
				if err := r.sync(); err != nil {
					r.note(err)
				}
			}
		case <-ctx.Done():
			r.flush()
			if err := r.sync(); err != nil {
				r.note(err)
			}
			r.close()
			return
		}
	}
}

// flush writes all that was taken.
func (r *Ring) flush() {
	for _, a := range r.appenders {
		a.flush()
	}
	for {
		select {
		case b := <-r.full:
			r.keep(b)
		default:
			return
		}
	}
}

// keep writes a block, or counts what is in it as dropped.
func (r *Ring) keep(b *block) {
	defer func() { r.free <- b }()
	now := r.now()
	if now.Before(r.retry) {
		r.dropped.Add(uint64(b.records))
		return
	}
	err := r.write(b)
	r.note(err)
	if err != nil {
		r.retry = now.Add(retryEvery)
		r.dropped.Add(uint64(b.records))
		return
	}
	r.kept.Add(uint64(b.records))
}

// write puts b behind what is there, in a new segment if the newest is full.
func (r *Ring) write(b *block) error {
	b.seal()
	n := int64(len(b.bytes))
	if err := store.Room(r.config.Dir, r.config.MinFree); err != nil {
		return err
	}
	if err := r.makeRoom(n + segmentHeader); err != nil {
		return err
	}
	if r.file == nil || r.newest().size+n > r.config.segmentBytes() {
		if err := r.begin(); err != nil {
			return err
		}
	}
	at := r.newest().size
	if _, err := r.file.WriteAt(b.bytes, at); err != nil {
		_ = r.file.Truncate(at) // what is left of it has no right checksum, and the next block is written over it
		return err
	}
	r.dirty = true
	r.mu.Lock()
	defer r.mu.Unlock()
	r.segments[len(r.segments)-1].add(int(n), b.first, b.last)
	r.bytes += n
	return nil
}

// newest returns the segment that is written to. Only the writer changes it.
func (r *Ring) newest() *segment { return &r.segments[len(r.segments)-1] }

// begin begins a new segment.
func (r *Ring) begin() error {
	if err := r.sync(); err != nil {
		return err
	}
	r.close()
	f, s, err := createSegment(r.config.Dir, r.next)
	if err != nil {
		return err
	}
	r.file = f
	r.mu.Lock()
	defer r.mu.Unlock()
	r.segments = append(r.segments, s)
	r.bytes += s.size
	r.next++
	return nil
}

func (r *Ring) close() {
	if r.file != nil {
		r.file.Close()
		r.file = nil
	}
}

// sync makes what was written outlive the machine.
func (r *Ring) sync() error {
	r.synced = r.now()
	if !r.dirty {
		return nil
	}
	r.dirty = false
	return r.file.Sync()
}

// makeRoom removes the oldest segments until n more bytes fit. The one that is written to stays.
func (r *Ring) makeRoom(n int64) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	for r.bytes+n > r.config.MaxBytes && len(r.segments) > 1 {
		s := r.segments[0]
		if err := os.Remove(s.path(r.config.Dir)); err != nil && !os.IsNotExist(err) {
			return err
		}
		r.segments = slices.Delete(r.segments, 0, 1)
		r.bytes -= s.size
		r.removed++
	}
	return nil
}

// note takes what write said.
func (r *Ring) note(err error) {
	r.troubles.Note("ring", err, "raw reports are not kept; they are counted as dropped", "raw reports are kept again")
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.stopped = ""; err != nil {
		r.stopped = err.Error()
	}
}
