package incident

import (
	"math"
	"sync"

	"github.com/waybill-int/waybill/telemetry"
)

// A Log has the events of now.
type Log interface {
	// Changes differs when the events do.
	Changes() uint64
	// Events returns those that match; nil: all.
	Events(match func(*telemetry.Event) bool, limit int) (list []telemetry.Event, total int)
}

// Live has the incidents of the events of now, computed again when events have changed, however many ask. It may be
// used by many goroutines.
type Live struct {
	log Log

	mu       sync.Mutex
	changes  uint64 // of the log, when they were computed
	computed bool
	list     []telemetry.Incident
}

// NewLive returns those of a log.
func NewLive(log Log) *Live { return &Live{log: log} }

// Incidents returns the incidents as they are now. The list belongs to all who ask.
func (l *Live) Incidents() []telemetry.Incident {
	l.mu.Lock()
	defer l.mu.Unlock()
	if changes := l.log.Changes(); !l.computed || changes != l.changes {
		events, _ := l.log.Events(nil, math.MaxInt)
		l.list, l.changes, l.computed = Of(events), changes, true
	}
	return l.list
}
