package alert

import (
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"slices"
	"time"
)

const (
	// maxQueue is how many messages wait for an output.
	maxQueue = 256
	// maxAge is how long a message is tried.
	maxAge = 24 * time.Hour
	// sendGrace is how long a message that is being sent may take when the engine stops.
	sendGrace = 3 * time.Second
)

// An Outcome is what became of an attempt to deliver a message, or of the message.
type Outcome uint8

// Outcomes.
const (
	Delivered  Outcome = iota
	Retried            // the attempt failed, and another one is made
	Rejected           // the receiver will never take it
	Expired            // it was tried for a day
	CrowdedOut         // it gave way to a new one because the queue was full
	NumOutcomes
)

var outcomes = [NumOutcomes]string{"delivered", "retried", "rejected", "expired", "crowded_out"}

// String returns the name of the outcome in metrics.
func (o Outcome) String() string { return outcomes[o] }

// A delivery is a message that waits for an output. It is kept as JSON.
type delivery struct {
	Notification
	Queued time.Time `json:"queued"`
}

// A sender takes messages to where they go. Its error is permanent, or a later, or anything else, after which it is
// tried again.
type sender interface {
	send(ctx context.Context, n *Notification) error
}

// A permanent error says that trying again is of no use.
type permanent struct{ error }

func (p permanent) Unwrap() error { return p.error }

// An answered error is what a receiver said of this very message: others may fare better.
type answered struct {
	error
	after time.Duration // when the receiver wants to be asked again; 0: it did not say
}

func (a answered) Unwrap() error { return a.error }

// A queue holds what waits for one output. Its fields are guarded by the lock of the engine.
type queue struct {
	name    string
	sender  sender
	timeout time.Duration
	refresh time.Duration // how often a firing alert is told of instead of the rule's repeat; 0: as the rule says
	log     *slog.Logger
	wake    chan struct{} // holds a value if something was added

	waiting  []*delivery
	sending  *delivery // the one that is being sent; it is in waiting too
	outcomes [NumOutcomes]uint64
	failures int // in a row
	// lastError is of the latest of them.
	lastError string
}

// add puts a message at the end. If there is no room, the oldest that is not being sent gives way.
func (q *queue) add(d *delivery) {
	if len(q.waiting) >= maxQueue {
		oldest := 0
		if q.waiting[0] == q.sending {
			oldest = 1
		}
		q.waiting = slices.Delete(q.waiting, oldest, oldest+1)
		q.outcomes[CrowdedOut]++
	}
	q.waiting = append(q.waiting, d)
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// holds reports whether a message about an alert waits.
func (q *queue) holds(alertID string) bool {
	return slices.ContainsFunc(q.waiting, func(d *delivery) bool { return d.Data.ID == alertID })
}

// next returns the message to send now, or nil. Those that are too old are dropped.
func (q *queue) next(now time.Time) *delivery {
	q.sending = nil
	for len(q.waiting) > 0 && now.Sub(q.waiting[0].Queued) > maxAge {
		q.waiting = slices.Delete(q.waiting, 0, 1)
		q.outcomes[Expired]++
	}
	if len(q.waiting) > 0 {
		q.sending = q.waiting[0]
	}
	return q.sending
}

// done notes what became of the message that was sent, and returns how long to wait before the next one.
func (q *queue) done(err error, backoff func(failures int) time.Duration) time.Duration {
	d := q.sending
	q.sending = nil
	var never permanent
	var reply answered
	switch {
	case err == nil:
		if q.failures > 0 {
			q.log.Info("alerts are delivered again", "output", q.name, "attempts", q.failures+1)
		}
		q.outcomes[Delivered]++
		q.failures = 0
	case errors.As(err, &never):
		q.log.Warn("an alert was refused and is dropped", "output", q.name, "alert", d.Data.ID, "rule", d.Data.Rule,
			"error", err)
		q.outcomes[Rejected]++
		q.failures = 0
	default:
		if q.failures == 0 { // what follows is counted
			q.log.Warn("an alert cannot be delivered and is tried again", "output", q.name, "alert", d.Data.ID, "rule",
				d.Data.Rule, "error", err)
		}
		q.outcomes[Retried]++
		q.failures++
		q.lastError = err.Error()
		if errors.As(err, &reply) {
			q.postpone(d.Data.ID)
		}
		return max(backoff(q.failures), reply.after)
	}
	q.waiting = slices.DeleteFunc(q.waiting, func(w *delivery) bool { return w == d })
	return 0
}

// postpone puts the messages about an alert, in their order, behind those about others: one that the receiver cannot
// take must not keep them from it.
func (q *queue) postpone(alertID string) {
	var others, its []*delivery
	for _, d := range q.waiting {
		if d.Data.ID == alertID {
			its = append(its, d)
		} else {
			others = append(others, d)
		}
	}
	q.waiting = append(others, its...)
}

const (
	firstBackoff = time.Second
	maxBackoff   = time.Minute
	maxAfter     = time.Hour // that a receiver may ask for
)

// backoffBound returns the longest wait after so many failures in a row: twice as long each time, up to maxBackoff.
func backoffBound(failures int) time.Duration {
	return min(firstBackoff<<min(failures-1, 10), maxBackoff)
}

// backoff returns how long to wait after so many failures in a row: up to half less than the longest, by chance, so
// that many senders do not come back at once. It is never 0.
func backoff(failures int) time.Duration {
	wait := backoffBound(failures)
	return wait/2 + rand.N(wait/2+1)
}
