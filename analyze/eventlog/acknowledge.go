package eventlog

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// Acknowledge notes that an event is acknowledged, which stays with it when it ends and over a restart. Who was
// first stays. It returns the event, or false if the log does not have it.
func (l *Log) Acknowledge(id string, by telemetry.Acknowledgement) (telemetry.Event, bool) {
	return l.change(id, func(e *telemetry.Event) {
		if e.Acknowledged == nil {
			e.Acknowledged = &by
		}
	})
}

// TakeBack forgets that an event is acknowledged.
func (l *Log) TakeBack(id string) (telemetry.Event, bool) {
	return l.change(id, func(e *telemetry.Event) { e.Acknowledged = nil })
}

// maxNotes is how many notes an event has at most: a new one takes the place of the oldest.
const maxNotes = 100

// AddNote adds what somebody wrote about an event, which stays with it as an acknowledgement does.
func (l *Log) AddNote(id string, note telemetry.Note) (telemetry.Event, bool) {
	return l.change(id, func(e *telemetry.Event) {
		first := max(0, len(e.Notes)+1-maxNotes)
		e.Notes = append(slices.Clone(e.Notes[first:]), note) // who has a copy of the event reads the old list
	})
}

func (l *Log) change(id string, edit func(*telemetry.Event)) (telemetry.Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	for _, e := range l.open {
		if e.ID == id {
			edit(&e.Event)
			return e.Event, true
		}
	}
	for _, over := range l.over {
		for i := range over {
			if over[i].ID == id {
				edit(&over[i].Event)
				return over[i].Event, true
			}
		}
	}
	return telemetry.Event{}, false
}
