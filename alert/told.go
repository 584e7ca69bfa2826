package alert

import (
	"slices"
	"time"
)

// A Told is an output that is told of an alert, and how far that is. A message that is in its queue has reached nobody yet.
type Told struct {
	Output    string     `json:"output"`
	At        time.Time  `json:"at"`                // when a message about it was last in the queue
	Delivered *time.Time `json:"delivered"`         // when the output took the latest message that it took; nil: of none is known that it did
	Waiting   bool       `json:"waiting,omitempty"` // a message about it is in the queue now; only in answers
}

// A firing is one time that an alert fires. The id of an alert is the same the next time.
type firing struct {
	id string
	at int64 // ns
}

func (a *Alert) firing() firing {
	if a.Fired == nil {
		return firing{id: a.ID}
	}
	return firing{a.ID, a.Fired.UnixNano()}
}

// delivered notes that an output took a message. The engine is locked.
func (e *Engine) delivered(output string, message *Alert, now time.Time) {
	note := func(a *Alert) {
		n := slices.IndexFunc(a.Told, func(t Told) bool { return t.Output == output })
		if n >= 0 && a.ID == message.ID && a.firing() == message.firing() {
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
func (e *Engine) copyTold(list []Alert) {
	waiting := map[string]map[firing]bool{}
	for name, q := range e.queues {
		waiting[name] = map[firing]bool{}
		for _, d := range q.waiting {
			waiting[name][d.Data.firing()] = true
		}
	}
	for i := range list {
		a := &list[i]
		a.Told = slices.Clone(a.Told)
		for n := range a.Told {
			t := &a.Told[n]
			t.Waiting = waiting[t.Output][a.firing()]
		}
	}
}
