package alert

import (
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A firing is one time that an alert fires. The id of an alert is the same the next time.
type firing struct {
	id string
	at int64 // ns
}

func firingOf(a *telemetry.Alert) firing {
	if a.Fired == nil {
		return firing{id: a.ID}
	}
	return firing{a.ID, a.Fired.UnixNano()}
}

// delivered notes that an output took a message. The engine is locked.
func (e *Engine) delivered(output string, message *telemetry.Alert, now time.Time) {
	note := func(a *telemetry.Alert) {
		n := slices.IndexFunc(a.Told, func(t telemetry.Told) bool { return t.Output == output })
		if n >= 0 && a.ID == message.ID && firingOf(a) == firingOf(message) {
			a.Told[n].Delivered = &now
		}
	}
	for _, i := range e.instances {
		note(&i.Alert)
	}
	for i := range e.resolved {
		note(&e.resolved[i])
	}
}

// copyTold gives the alerts of an answer lists of their own that say what waits. The engine is locked.
func (e *Engine) copyTold(list []telemetry.Alert) {
	waiting := map[string]map[firing]bool{}
	for name, q := range e.queues {
		waiting[name] = map[firing]bool{}
		for _, d := range q.waiting {
			waiting[name][firingOf(&d.Data)] = true
		}
	}
	for i := range list {
		a := &list[i]
		a.Told = slices.Clone(a.Told)
		for n := range a.Told {
			t := &a.Told[n]
			t.Waiting = waiting[t.Output][firingOf(a)]
		}
	}
}
