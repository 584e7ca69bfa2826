package alert

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sync/errgroup"

	"github.com/waybill-int/waybill/telemetry"
)

const (
	// maxAlerts is how many alerts are followed, and maxResolved how many that are resolved are remembered.
	maxAlerts   = 4096
	maxResolved = 256
	// lookEvery is how often events are looked at.
	lookEvery = time.Second
	// saveEvery is the least time between two writings of the state.
	saveEvery = 100 * time.Millisecond
	// restartGrace is how long after a start an alert may take to be seen again, at least.
	restartGrace = 10 * time.Second
)

// Events are what alerts are about.
type Events interface {
	// Since returns the events that go on, and those that ended after the first ended ones, and how many have ended by
	// now.
	Since(ended uint64) (open, over []telemetry.Event, now uint64)
}

// Deps are what an Engine needs.
type Deps struct {
	Events Events
	// Incidents returns what broke, by the events of Events: for rules about causes. nil: no event follows from
	// another.
	Incidents func() []telemetry.Incident
	Dir       string       // where the state is kept; empty: in memory only
	Logger    *slog.Logger // nil: slog.Default()
}

// An Engine makes alerts of events and delivers them. Its methods may be called by many goroutines.
type Engine struct {
	events    Events
	incidents func() []telemetry.Incident // may be nil
	file      string                      // of the state, or empty
	log       *slog.Logger
	backoff   func(failures int) time.Duration
	dirty     chan struct{} // holds a value if the state is to be written
	reload    chan *Config
	testing   sync.Mutex // one test at a time

	mu        sync.Mutex
	config    *Config
	queues    map[string]*queue
	ended     uint64 // cursor into events
	waiting   []endedEvent
	instances map[alertKey]*instance
	resolved  []telemetry.Alert // the latest, the oldest first
	silences  []*Silence
	unplaced  uint64
	missed    uint64
	unsaved   uint64 // times that the state could not be written
	failing   bool   // the last time
}

// New returns an Engine with the state that was kept in deps.Dir, which no other Engine may use. It does nothing before
// Run. Events that outlast a restart must be in deps.Events by now: alerts about others are resolved as forgotten.
func New(c *Config, deps Deps) (*Engine, error) {
	e := &Engine{
		events: deps.Events, incidents: deps.Incidents, log: deps.Logger,
		backoff: backoff, dirty: make(chan struct{}, 1),
		reload: make(chan *Config),
		queues: map[string]*queue{}, instances: map[alertKey]*instance{},
	}
	if e.log == nil {
		e.log = slog.Default()
	}
	if err := e.configure(c); err != nil {
		return nil, err
	}
	if deps.Dir != "" {
		if err := e.restore(deps.Dir); err != nil {
			return nil, err
		}
	}
	var over []telemetry.Event
	_, over, e.ended = e.events.Since(0)
	for _, i := range e.instances { // of events that ended before the stop, after the last look
		for n := range over {
			if i.Event.ID == over[n].ID {
				i.Event = over[n]
			}
		}
	}
	return e, nil
}

// configure takes rules, silences and outputs. Nothing changes if it fails. Alerts, and what waits for outputs that are
// still there, are kept.
func (e *Engine) configure(c *Config) error {
	queues := map[string]*queue{}
	for name, o := range c.Outputs {
		s, err := newSender(o)
		if err != nil {
			return fmt.Errorf("output %s: %w", name, err)
		}
		q := &queue{name: name, log: e.log, wake: make(chan struct{}, 1)}
		if old := e.queues[name]; old != nil {
			q.waiting, q.outcomes = old.waiting, old.outcomes
		}
		q.sender, q.timeout, q.refresh = s, o.timeout(), o.refresh()
		queues[name] = q
	}
	for name, old := range e.queues {
		if queues[name] == nil && len(old.waiting) > 0 {
			e.log.Warn("messages are dropped with their output", "output", name, "messages", len(old.waiting))
		}
	}
	e.queues, e.config = queues, c
	e.silences = slices.DeleteFunc(e.silences, func(s *Silence) bool { return s.InFile })
	for i := range c.Silences {
		e.silences = append(e.silences, &c.Silences[i])
	}
	return nil
}

// Run looks at events and delivers until ctx is done. Messages that wait then are in the state.
func (e *Engine) Run(ctx context.Context) error {
	var saver errgroup.Group
	saving, stopSaver := context.WithCancel(context.WithoutCancel(ctx))
	if e.file != "" {
		saver.Go(func() error { e.saveChanges(saving); return nil })
	}
	ticker := time.NewTicker(lookEvery)
	defer ticker.Stop()
	for ctx.Err() == nil {
		next := e.runWith(ctx, ticker.C)
		if next == nil {
			break
		}
		e.mu.Lock()
		err := e.configure(next)
		e.mu.Unlock()
		if err != nil { // a file that Load has just seen is gone
			e.log.Error("the alert rules stay as they are", "error", err)
		}
	}
	stopSaver()
	if err := saver.Wait(); err != nil || e.file != "" {
		return err
	}
	for _, o := range e.Counters().Outputs {
		if o.Waiting > 0 {
			e.log.Warn("messages are lost, since there is no data directory", "output", o.Name, "messages", o.Waiting)
		}
	}
	return nil
}

// runWith runs with one configuration, until ctx is done or there is another one, which it returns.
func (e *Engine) runWith(ctx context.Context, tick <-chan time.Time) *Config {
	ctx, stop := context.WithCancel(ctx)
	var workers errgroup.Group
	defer func() {
		stop()
		_ = workers.Wait() // they return nil
	}()
	for _, q := range e.queues {
		workers.Go(func() error { e.deliver(ctx, q); return nil })
	}
	for {
		select {
		case <-tick:
			e.look(time.Now())
		case next := <-e.reload:
			return next
		case <-ctx.Done():
			return nil
		}
	}
}

// Reload takes other rules while Run goes on. Alerts and what waits for outputs are kept. It fails if ctx is done
// before.
func (e *Engine) Reload(ctx context.Context, c *Config) error {
	select {
	case e.reload <- c:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// deliver sends what waits in q, one message after the other.
func (e *Engine) deliver(ctx context.Context, q *queue) {
	for {
		e.mu.Lock()
		d := q.next(time.Now())
		e.mu.Unlock()
		if d == nil {
			select {
			case <-q.wake:
				continue
			case <-ctx.Done():
				return
			}
		}
		err := q.attempt(ctx, &d.Notification)
		if err != nil && ctx.Err() != nil {
			return // it waits for the next start
		}
		e.mu.Lock()
		wait := q.done(err, e.backoff)
		if err == nil {
			e.delivered(q.name, &d.Data, time.Now())
		}
		e.mu.Unlock()
		e.changed()
		if wait == 0 {
			continue
		}
		timer := time.NewTimer(wait)
		select {
		case <-timer.C:
		case <-ctx.Done():
			timer.Stop()
			return
		}
	}
}

// attempt sends a message. If ctx is done meanwhile it may take a little longer: a message that is broken off may have
// arrived, and would arrive twice.
func (q *queue) attempt(ctx context.Context, n *Notification) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	sending, cancel := context.WithTimeout(context.WithoutCancel(ctx), q.timeout)
	defer cancel()
	stop := context.AfterFunc(ctx, func() {
		timer := time.NewTimer(sendGrace)
		defer timer.Stop()
		select {
		case <-timer.C:
			cancel()
		case <-sending.Done():
		}
	})
	defer stop()
	return q.sender.send(sending, n)
}

// changed asks for the state to be written.
func (e *Engine) changed() {
	select {
	case e.dirty <- struct{}{}:
	default:
	}
}

// Alerts returns the alerts that are followed and those that were resolved lately, the latest first.
func (e *Engine) Alerts() []telemetry.Alert {
	e.mu.Lock()
	defer e.mu.Unlock()
	list := slices.Clone(e.resolved)
	for _, i := range e.instances {
		list = append(list, i.Alert)
	}
	e.copyTold(list)
	slices.SortFunc(list, func(a, b telemetry.Alert) int {
		if c := b.Since.Compare(a.Since); c != 0 {
			return c
		}
		return strings.Compare(a.ID, b.ID)
	})
	return list
}

// Counters are totals of an Engine since its start.
type Counters struct {
	Pending, Firing, Silenced int    // alerts, now; silenced ones are firing too
	Unplaced                  uint64 // times that an event was an alert and there was no room
	Missed                    uint64 // events that were forgotten before anybody looked at them
	SaveErrors                uint64 // times that the state could not be written
	Outputs                   []OutputCounters
}

// OutputCounters are those of one output.
type OutputCounters struct {
	Name     string
	Waiting  int // messages, now
	Outcomes [NumOutcomes]uint64
}

// Counters returns totals, outputs by name.
func (e *Engine) Counters() Counters {
	e.mu.Lock()
	defer e.mu.Unlock()
	c := Counters{Unplaced: e.unplaced, Missed: e.missed, SaveErrors: e.unsaved}
	for _, i := range e.instances {
		if i.State == telemetry.AlertPending {
			c.Pending++
			continue
		}
		c.Firing++
		if i.SilencedBy != "" {
			c.Silenced++
		}
	}
	for _, q := range e.queues {
		c.Outputs = append(c.Outputs, OutputCounters{q.name, len(q.waiting), q.outcomes})
	}
	slices.SortFunc(c.Outputs, func(a, b OutputCounters) int { return strings.Compare(a.Name, b.Name) })
	return c
}
