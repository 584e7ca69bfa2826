package alert

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Errors of Test.
var (
	ErrUnknown = errors.New("there is no such rule or output")
	ErrBusy    = errors.New("another test is under way")
)

// Test sends a message that says that it is a test, past the queues and silences: to all outputs of a rule, or if rule
// is empty to that output. It takes as long as the slowest output. An error is ErrUnknown or ErrBusy.
func (e *Engine) Test(ctx context.Context, rule, output string) ([]telemetry.TestResult, error) {
	if !e.testing.TryLock() {
		return nil, ErrBusy
	}
	defer e.testing.Unlock()
	now := time.Now().UTC()
	queues, r := e.tested(rule, output)
	if queues == nil {
		return nil, ErrUnknown
	}
	message := testNotification(r, now)
	results := make([]telemetry.TestResult, len(queues))
	var sends sync.WaitGroup
	for i, q := range queues {
		sends.Go(func() {
			begin := time.Now()
			err := q.attempt(ctx, &message)
			results[i] = telemetry.TestResult{Output: q.name, Took: time.Since(begin)}
			if err != nil {
				results[i].Error = err.Error()
			}
		})
	}
	sends.Wait()
	return results, nil
}

// tested returns the queues to which a test goes, in the order of their names, and its rule.
func (e *Engine) tested(rule, output string) ([]*queue, *Rule) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if rule == "" {
		if q := e.queues[output]; q != nil {
			return []*queue{q}, &Rule{Name: "test"}
		}
		return nil, nil
	}
	for i := range e.config.Rules {
		if r := &e.config.Rules[i]; r.Name == rule {
			queues := make([]*queue, 0, len(r.Outputs))
			for _, name := range r.Outputs {
				queues = append(queues, e.queues[name])
			}
			slices.SortFunc(queues, func(a, b *queue) int { return strings.Compare(a.name, b.name) })
			return queues, r
		}
	}
	return nil, nil
}

// testNotification is about nothing.
func testNotification(r *Rule, now time.Time) Notification {
	id := fmt.Sprintf("test-%x", now.UnixNano())
	event := telemetry.Event{
		ID: id, Start: now, End: &now, Text: "a test: nothing happened",
		Evidence: []telemetry.Evidence{},
	}
	return Notification{ID: id, Type: typeTest, Time: now, Data: telemetry.Alert{
		ID: id, Rule: r.Name, State: telemetry.AlertResolved, Severity: telemetry.Info, Since: now, Fired: &now,
		Resolved: &now, Resolution: telemetry.AlertEnded,
		Summary: event.Text, Labels: r.Labels, Event: event,
	}}
}
