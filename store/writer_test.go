package store

import (
	"context"
	"errors"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A fakeBackend keeps numbers, and fails while it has an error.
type fakeBackend struct {
	Backend
	mu      sync.Mutex
	err     error
	records int
	calls   int
	hold    chan struct{} // Write waits for it, if it is not nil
}

func (b *fakeBackend) Write(batches []*telemetry.Intervals) error {
	b.mu.Lock()
	hold := b.hold
	b.mu.Unlock()
	if hold != nil {
		<-hold
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	b.calls++
	if b.err != nil {
		return b.err
	}
	for _, v := range batches {
		b.records += v.Len()
	}
	return nil
}

func (b *fakeBackend) Maintain(context.Context, time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.err
}

func (b *fakeBackend) set(err error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.err = err
}

func flows(n int) *telemetry.Intervals {
	return &telemetry.Intervals{Flows: make([]telemetry.FlowInterval, n)}
}

// run starts a Writer; what it logs is in the text.
func run(b *fakeBackend, limit int) (w *Writer, text *strings.Builder, stop func()) {
	text = &strings.Builder{}
	w = NewWriter(b, limit, NewTroubles(slog.New(slog.NewTextHandler(text, nil))))
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { w.Run(ctx) })
	return w, text, func() { cancel(); running.Wait() }
}

func (s WriterStats) check(t *testing.T, written, dropped uint64, queued int) {
	t.Helper()
	if s.Written[Flows] != written || s.Dropped[Flows] != dropped || s.Queued != queued {
		t.Errorf("written %d, dropped %d, queued %d; want %d, %d, %d", s.Written[Flows], s.Dropped[Flows], s.Queued,
			written, dropped, queued)
	}
}

// TestWriter: records are written together, at the latest after half a second, and what is left when it stops.
func TestWriter(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{}
		w, _, stop := run(b, 1000)
		w.Append(flows(3))
		w.Append(flows(4))
		w.Append(flows(0))
		synctest.Wait()
		w.Stats().check(t, 0, 0, 7)
		time.Sleep(commitEvery)
		synctest.Wait()
		w.Stats().check(t, 7, 0, 0)
		if b.calls != 1 {
			t.Errorf("%d writes, want 1", b.calls)
		}
		w.Append(flows(500)) // many: at once
		synctest.Wait()
		w.Stats().check(t, 507, 0, 0)
		w.Append(flows(1))
		stop()
		w.Stats().check(t, 508, 0, 0)
		if b.records != 508 {
			t.Errorf("%d records arrived", b.records)
		}
	})
}

// TestWriterSlowDisk: Append does not wait for a disk that does not answer; what does not fit is dropped and counted.
func TestWriterSlowDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{hold: make(chan struct{})}
		w, _, stop := run(b, 100)
		w.Append(flows(40))
		time.Sleep(commitEvery) // the disk has these now
		synctest.Wait()
		w.Append(flows(50))
		w.Append(flows(11)) // 101
		w.Append(flows(10))
		w.Append(&telemetry.Intervals{Hops: make([]telemetry.HopInterval, 1)})
		w.Stats().check(t, 0, 11, 100)
		if n := w.Stats().Dropped[Hops]; n != 1 {
			t.Errorf("%d hops dropped, want 1", n)
		}
		room := make(chan struct{})
		go func() { w.WaitForRoom(context.Background()); close(room) }()
		synctest.Wait()
		select {
		case <-room:
			t.Error("there is no room")
		default:
		}
		close(b.hold)
		<-room
		stop()
		w.Stats().check(t, 100, 11, 0)
	})
}

// TestWriterHeld: while it is held nothing is written, what does not fit is dropped, and nobody waits for room; in the
// end it is dropped.
func TestWriterHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{}
		w, _, stop := run(b, 100)
		w.Hold(true)
		w.Append(flows(60))
		w.WaitForRoom(t.Context())
		w.Append(flows(41))
		time.Sleep(10 * commitEvery)
		synctest.Wait()
		w.Stats().check(t, 0, 41, 60)
		w.Hold(false)
		time.Sleep(commitEvery)
		synctest.Wait()
		w.Stats().check(t, 60, 41, 0)
		w.Hold(true)
		w.Append(flows(1))
		stop()
		w.Stats().check(t, 60, 42, 0)
		if b.records != 60 {
			t.Errorf("%d records arrived", b.records)
		}
	})
}

// TestWriterFullDisk: what fails is tried again until it works, the log says so once, and memory stays bounded
// meanwhile.
func TestWriterFullDisk(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &fakeBackend{err: errors.New("the disk is full")}
		w, text, stop := run(b, 100)
		settled := map[bool]int{}
		for range 50 {
			v := flows(10)
			v.Settled = func(written bool) { settled[written]++ }
			w.Append(v)
			time.Sleep(time.Second)
		}
		synctest.Wait()
		w.Stats().check(t, 0, 400, 100)
		if s := w.Stats().Stopped; s != "the disk is full" {
			t.Errorf("stopped: %q", s)
		}
		if s := w.Stats().Neglected; s != "the disk is full" {
			t.Errorf("neglected: %q", s)
		}
		w.WaitForRoom(context.Background()) // it has no use to wait
		b.set(nil)
		time.Sleep(retryEvery + commitEvery + maintainEvery)
		synctest.Wait()
		w.Stats().check(t, 100, 400, 0)
		if settled[true] != 10 || settled[false] != 40 {
			t.Errorf("%d batches were written and %d dropped, say their owners; want 10 and 40", settled[true],
				settled[false])
		}
		if n := strings.Count(text.String(), "\n"); n != 2 || w.Stats().Stopped != "" {
			t.Errorf("%d lines in the log, want 2:\n%s", n, text)
		}
		b.set(errors.New("again"))
		last := flows(5)
		last.Settled = func(written bool) { settled[written]++ }
		w.Append(last)
		stop()
		w.Stats().check(t, 100, 405, 0)
		if settled[false] != 41 {
			t.Errorf("the last batch was dropped, and its owner was told %v", settled)
		}
	})
}

// A slowBackend maintains until it is released.
type slowBackend struct {
	fakeBackend
	began chan time.Time
}

func (b *slowBackend) Maintain(ctx context.Context, now time.Time) error {
	b.began <- now
	<-ctx.Done()
	return ctx.Err()
}

// TestWriterMaintains: records are written while the backend is maintained, which is told of no time of which records
// wait.
func TestWriterMaintains(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := &slowBackend{began: make(chan time.Time, 1)}
		b.hold = make(chan struct{})
		w := NewWriter(b, 1000, NewTroubles(slog.New(slog.DiscardHandler)))
		ctx, cancel := context.WithCancel(context.Background())
		var running sync.WaitGroup
		running.Go(func() { w.Run(ctx) })
		time.Sleep(time.Second)
		appended := time.Now()
		w.Append(flows(1)) // which waits for a disk that does not answer
		time.Sleep(time.Minute)
		if now := <-b.began; !now.Equal(appended) {
			t.Errorf("maintained up to %v, want %v", now, appended)
		}
		w.Append(flows(2))
		close(b.hold)
		time.Sleep(time.Second)
		synctest.Wait()
		w.Stats().check(t, 3, 0, 0) // although Maintain goes on
		cancel()
		running.Wait()
		if s := w.Stats(); s.Neglected != "" {
			t.Errorf("neglected at the end: %s", s.Neglected)
		}
	})
}
