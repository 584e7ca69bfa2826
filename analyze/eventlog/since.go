package eventlog

import "github.com/waybill-int/waybill/telemetry"

// Since is for those who follow a log. It returns the events that go on, and those that ended after the first ended
// ones, in the order in which they ended, and how many have ended by now, which is the argument of the next call. Of
// those that ended meanwhile only the latest are kept: more than now-ended are never returned, and fewer if some were
// forgotten.
func (l *Log) Since(ended uint64) (open, over []telemetry.Event, now uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	open = make([]telemetry.Event, 0, len(l.open))
	for _, e := range l.open {
		open = append(open, e.Event)
	}
	if ended > l.ended { // of another log
		ended = l.ended
	}
	return open, l.endedSince(ended), l.ended
}
