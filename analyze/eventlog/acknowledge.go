package eventlog

import "github.com/waybill-int/waybill/telemetry"

// Acknowledge notes that somebody takes care of an event, which stays with it when it ends and over a restart. Who was
// first stays. It returns the event, or false if the log does not have it.
func (l *Log) Acknowledge(id string, by telemetry.Acknowledgement) (telemetry.Event, bool) {
	return l.changeAcknowledged(id, func(e *telemetry.Event) {
		if e.Acknowledged == nil {
			e.Acknowledged = &by
		}
	})
}

// TakeBack forgets that somebody takes care of an event.
func (l *Log) TakeBack(id string) (telemetry.Event, bool) {
	return l.changeAcknowledged(id, func(e *telemetry.Event) { e.Acknowledged = nil })
}

func (l *Log) changeAcknowledged(id string, change func(*telemetry.Event)) (telemetry.Event, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	for _, e := range l.open {
		if e.ID == id {
			change(&e.Event)
			return e.Event, true
		}
	}
	for _, over := range l.over {
		for i := range over {
			if over[i].ID == id {
				change(&over[i].Event)
				return over[i].Event, true
			}
		}
	}
	return telemetry.Event{}, false
}
