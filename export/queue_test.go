package export

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// other is the other side of an output.
type other struct {
	mu     sync.Mutex
	down   bool
	hangs  bool // until ctx is done
	refuse func(Record) bool
	got    []Record
	closed bool
}

func (o *other) Send(ctx context.Context, records []Record) (refused []int, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.hangs {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	for i, r := range records {
		switch {
		case o.down && i == len(records)/2: // the first half arrives, and arrives again
			return nil, errors.New("the link is down")
		case o.refuse != nil && o.refuse(r):
			refused = append(refused, i)
		default:
			o.got = append(o.got, r)
		}
	}
	return refused, nil
}

func (o *other) Close() { o.closed = true }

func (o *other) set(f func()) {
	o.mu.Lock()
	defer o.mu.Unlock()
	f()
}

// flows is a batch with flows that have numbers from first on.
func flows(first, n int) *telemetry.Intervals {
	v := &telemetry.Intervals{Hops: make([]telemetry.HopInterval, 3), Events: make([]telemetry.Event, 1)}
	for i := range n {
		v.Flows = append(v.Flows, telemetry.FlowInterval{Packets: uint64(first + i)})
	}
	return v
}

func discard() *slog.Logger { return slog.New(slog.NewTextHandler(io.Discard, nil)) }

// check compares the balance of a queue.
func check(t *testing.T, q *Queue, want Counts, waiting int) {
	t.Helper()
	s := q.Stats()
	got := s.Counts[Flows]
	if got != want || s.Waiting != waiting {
		t.Errorf("got %+v and %d that wait, want %+v and %d", got, s.Waiting, want, waiting)
	}
	if got.Offered != got.Sent+got.QueueFull+got.Refused+got.Stopped+uint64(s.Waiting) {
		t.Errorf("%+v with %d that wait do not balance", got, s.Waiting)
	}
	for k, n := range s.Counts {
		if Kind(k) != Flows && n != (Counts{}) {
			t.Errorf("%v are counted, which nobody wanted: %+v", Kind(k), n)
		}
	}
}

// TestQueue: who offers does not wait, all of it is accounted for, and all that fits arrives at least once.
func TestQueue(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &other{down: true}
		to.refuse = func(r Record) bool { return r.Of.(*telemetry.FlowInterval).Packets%1000 == 7 }
		q := NewQueue("siem", "kafka", to, []Kind{Flows}, 3000, discard())
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { q.Run(ctx) })
		begin := time.Now()
		q.Take(flows(0, 2500))
		q.Take(flows(2500, 2500))
		q.Offer(Record{Incidents, &telemetry.Incident{}})
		if d := time.Since(begin); d != 0 {
			t.Errorf("it took %v to offer records", d)
		}
		time.Sleep(time.Minute)
		check(t, q, Counts{Offered: 5000, QueueFull: 2000}, 3000)
		if s := q.Stats(); s.Failures < 3 || s.Failures > 15 || s.LastError != "the link is down" ||
			s.Retried != uint64(s.Failures) {
			t.Errorf("got %d failures and %q after a minute", s.Failures, s.LastError)
		}
		to.set(func() { to.down = false })
		time.Sleep(2 * maxWait)
		check(t, q, Counts{Offered: 5000, QueueFull: 2000, Refused: 3, Sent: 2997}, 0)
		if s := q.Stats(); s.Failures != 0 || s.LastError != "" {
			t.Errorf("it works, and says %q", s.LastError)
		}
		seen := map[uint64]int{}
		for _, r := range to.got {
			seen[r.Of.(*telemetry.FlowInterval).Packets]++
		}
		if len(seen) != 2997 || seen[0] < 2 {
			t.Errorf("%d of 2997 arrived, the first one %d times, which was sent again", len(seen), seen[0])
		}

		q.Take(flows(5000, 10))
		synctest.Wait()
		to.set(func() { to.down = true })
		q.Take(flows(6000, 5))
		time.Sleep(time.Second)
		stop()
		running.Wait()
		check(t, q, Counts{Offered: 5015, QueueFull: 2000, Refused: 4, Sent: 3006, Stopped: 5}, 0)
		if !to.closed {
			t.Error("the output is not closed")
		}
	})
}

// TestQueueHangs: an output that does not return is given up after a time, and at the stop.
func TestQueueHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		to := &other{hangs: true}
		q := NewQueue("siem", "kafka", to, []Kind{Flows}, 10, discard())
		ctx, stop := context.WithCancel(t.Context())
		var running sync.WaitGroup
		running.Go(func() { q.Run(ctx) })
		q.Take(flows(0, 3))
		time.Sleep(sendTimeout + time.Second)
		if s := q.Stats(); s.Failures == 0 {
			t.Error("nothing tells that the output hangs")
		}
		begin := time.Now()
		stop()
		running.Wait()
		if d := time.Since(begin); d > stopTimeout {
			t.Errorf("the stop took %v", d)
		}
		check(t, q, Counts{Offered: 3, Stopped: 3}, 0)
	})
}

// TestStopSends: what was offered just before the stop is sent.
func TestStopSends(t *testing.T) {
	to := &other{}
	q := NewQueue("siem", "kafka", to, []Kind{Flows}, 10_000, discard())
	ctx, stop := context.WithCancel(t.Context())
	stop()
	q.Take(flows(0, 5000))
	q.Run(ctx)
	check(t, q, Counts{Offered: 5000, Sent: 5000}, 0)
}

func TestKinds(t *testing.T) {
	for k := range NumKinds {
		var again Kind
		if err := again.UnmarshalText([]byte(k.String())); err != nil || again != k || k.String() == "" {
			t.Errorf("%d: %q is read as %d, %v", k, k, again, err)
		}
	}
	if err := new(Kind).UnmarshalText([]byte("hop")); err == nil {
		t.Error("hop is a kind")
	}
	var all [NumKinds]bool
	for k := range all {
		all[k] = true
	}
	var got []Kind
	v := flows(0, 1)
	v.Routes, v.Paths = make([]telemetry.Route, 1), make([]telemetry.PathInterval, 1)
	OfIntervals(v, &all, func(r Record) { got = append(got, r.Kind) })
	if want := []Kind{Routes, Flows, Paths, Events}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
