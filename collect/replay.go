package collect

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"math"
	"time"
)

// minSleep is the shortest time that Run sleeps. What falls due meanwhile is sent in one go: at 100,000 a second 100
// datagrams. Sleeping for less costs more processor time than sending does, and Go's timers are not much finer.
const minSleep = time.Millisecond

// progressInterval is how often Run calls Progress.
const progressInterval = 100 * time.Millisecond

// A Replay sends payloads as UDP datagrams to one address, from one socket, at a steady rate.
type Replay struct {
	// Address is "udp://HOST:PORT" or "HOST:PORT".
	Address string

	// Payloads yields what to send, or an error, which ends the replay. It is ranged over once per loop, and Run copies
	// each payload, so it may yield views into one buffer. For payloads in memory there is the function Payloads.
	Payloads iter.Seq2[[]byte, error]

	// Rate is the number of datagrams per second; 0 is as fast as possible.
	Rate float64

	// Offsets, if set, are when the payloads are sent, in order, from the first one on; Rate is not asked then. They do
	// not sink. The next loop begins the mean of the gaps after the last one.
	Offsets []time.Duration

	// Loops is how many times all payloads are sent; 0 means 1. A negative number means until the context ends.
	Loops int

	// Rewrite, if set, may change each payload before it is sent, for example its sequence number, which would
	// otherwise start again with each loop. loop counts from 0. payload is a copy of what Payloads yielded, and Rewrite
	// must not keep it.
	Rewrite func(loop int, payload []byte)

	// Progress, if set, is called ten times a second while datagrams are sent, and at the end, by the goroutine of Run.
	Progress func(Summary)
}

// Payloads returns a sequence of payloads for Replay that are in memory.
func Payloads(list [][]byte) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		for _, payload := range list {
			if !yield(payload, nil) {
				return
			}
		}
	}
}

// Run sends everything, or sends until ctx ends, and returns what was sent, also with an error. That nobody listens at
// the address is no error: a collector may be restarted while a replay runs.
func (r *Replay) Run(ctx context.Context) (Summary, error) {
	if !(r.Rate >= 0) || math.IsInf(r.Rate, 0) { // the comparison is false for NaN
		return Summary{}, fmt.Errorf("replay: rate %g: want reports per second, or 0 for as fast as possible", r.Rate)
	}
	s, err := dial(ctx, r.Address, r.Rate == 0 && r.Offsets == nil)
	if err != nil {
		return Summary{}, fmt.Errorf("replay: %w", err)
	}
	run := replayRun{Replay: r, sender: s, schedule: schedule{r.Rate}, start: time.Now()}
	err = run.loops(ctx)
	s.close()
	summary := run.summary()
	if r.Progress != nil {
		r.Progress(summary)
	}
	return summary, err
}

// A replayRun is the state of one Run.
type replayRun struct {
	*Replay
	sender       *sender
	schedule     schedule
	start        time.Time
	lastProgress time.Duration // since start

	queued  uint64 // datagrams queued or sent since start
	allowed uint64 // datagrams that were due when the schedule was last looked at
}

func (r *replayRun) loops(ctx context.Context) error {
	for loop := 0; r.Loops < 0 || loop < max(r.Loops, 1); loop++ {
		before := r.queued
		for payload, err := range r.Payloads {
			if err != nil {
				return cmp.Or(r.flush(ctx), err) // what came before a broken end of a file is sent
			}
			if err := r.queue(ctx, loop, payload); err != nil {
				return err
			}
		}
		if r.queued == before {
			break // nothing to send: no reason to loop, perhaps for ever
		}
	}
	return r.flush(ctx)
}

// queue waits until the next datagram is due and hands it to the sender.
func (r *replayRun) queue(ctx context.Context, loop int, payload []byte) error {
	if r.queued == r.allowed || r.sender.full() {
		if err := r.flush(ctx); err != nil {
			return err
		}
	}
	if r.queued == r.allowed {
		if err := r.wait(ctx); err != nil {
			return err
		}
	}
	queued := r.sender.queue(payload)
	r.queued++
	if r.Rewrite != nil {
		r.Rewrite(loop, queued)
	}
	return nil
}

// wait sleeps until the next datagram is due.
func (r *replayRun) wait(ctx context.Context) error {
	at, least := r.schedule.at(r.queued), minSleep
	if r.Offsets != nil {
		at, least = r.offset(r.queued), 0
	}
	if early := at - time.Since(r.start); early > 0 {
		timer := time.NewTimer(max(early, least))
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	// The next datagram is due now; rounding to nanoseconds must not deny it.
	r.allowed = r.queued + 1
	if r.Offsets == nil {
		r.allowed = max(r.schedule.due(time.Since(r.start)), r.allowed)
		return nil
	}
	for now := time.Since(r.start); r.allowed-r.queued < maxBurst && r.offset(r.allowed) <= now; {
		r.allowed++
	}
	return nil
}

// maxBurst is how many datagrams that are late by their Offsets are queued before it is looked at the clock again.
const maxBurst = 1000

// offset returns when the datagram of that number is due, by Offsets.
func (r *replayRun) offset(n uint64) time.Duration {
	total := uint64(len(r.Offsets))
	last := r.Offsets[total-1]
	loop := last
	if total > 1 {
		loop += last / time.Duration(total-1)
	}
	return time.Duration(n/total)*loop + r.Offsets[n%total]
}

// flush sends what is queued.
func (r *replayRun) flush(ctx context.Context) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if err := r.sender.flush(); err != nil {
		return fmt.Errorf("replay to %s: %w", r.Address, err)
	}
	if elapsed := time.Since(r.start); r.Progress != nil && elapsed-r.lastProgress >= progressInterval {
		r.lastProgress = elapsed
		r.Progress(r.summary())
	}
	return nil
}

func (r *replayRun) summary() Summary {
	summary := r.sender.summary
	summary.Elapsed = time.Since(r.start)
	return summary
}
