package alert

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// causeWait is how long a rule about causes waits for the cause of an event: it may be found after what follows from
// it, as a link is lost only when nothing has come for a while.
const causeWait = 5 * time.Second

// maxWaiting bounds the ended events that wait; further ones wait no longer.
const maxWaiting = 4096

// An endedEvent waits for its cause.
type endedEvent struct {
	event telemetry.Event
	since time.Time
}

// wait is how long an event goes on before r fires.
func (r *Rule) wait() time.Duration {
	if r.Causes {
		return max(time.Duration(r.For), causeWait)
	}
	return time.Duration(r.For)
}

// causes returns the events of which rules about causes hear: those that follow from no other, with the text and the
// severity of their incident. Those that ended come a while later.
func (e *Engine) causes(open, over []telemetry.Event, now time.Time) (openCauses, overCauses []telemetry.Event) {
	asked := false
	for i := range e.config.Rules {
		asked = asked || e.config.Rules[i].Causes
	}
	if !asked {
		e.waiting = nil
		return nil, nil
	}
	for i := range over {
		e.waiting = append(e.waiting, endedEvent{over[i], now})
	}
	follows, causeOf := map[string]bool{}, map[string]*telemetry.Incident{}
	if e.incidents != nil {
		incidents := e.incidents()
		for i := range incidents {
			for j := range incidents[i].Events {
				if at := &incidents[i].Events[j]; at.Of != "" {
					follows[at.ID] = true
				} else {
					causeOf[at.ID] = &incidents[i]
				}
			}
		}
	}
	add := func(list []telemetry.Event, ev telemetry.Event) []telemetry.Event {
		if follows[ev.ID] {
			return list
		}
		if n := causeOf[ev.ID]; n != nil {
			ev.Text, ev.Severity = n.Text, n.Severity
		}
		return append(list, ev)
	}
	for i := range open {
		openCauses = add(openCauses, open[i])
	}
	ready := max(len(e.waiting)-maxWaiting, 0)
	for ready < len(e.waiting) && now.Sub(e.waiting[ready].since) >= causeWait {
		ready++
	}
	for i := range e.waiting[:ready] {
		overCauses = add(overCauses, e.waiting[i].event)
	}
	e.waiting = append(e.waiting[:0], e.waiting[ready:]...)
	return openCauses, overCauses
}
