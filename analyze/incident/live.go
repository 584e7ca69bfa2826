package incident

import (
	"context"
	"fmt"
	"math"
	"sync"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Log has the events of now.
type Log interface {
	// Changes differs when the events do.
	Changes() uint64
	// Events returns those that match; nil: all.
	Events(match func(*telemetry.Event) bool, limit int) (list []telemetry.Event, total int)
}

// refresh is how often what could not be seen is asked for while no event changes: an interval of the ledger.
const refresh = 10 * time.Second

// Live has the incidents of the events of now, computed again when events have changed or a refresh is due, however
// many ask. It may be used by many goroutines.
type Live struct {
	log      Log
	arrivals func() Arrivals

	mu      sync.Mutex
	changes uint64    // of the log, when they were computed
	at      time.Time // when that was
	list    []telemetry.Incident
	known   map[string][]telemetry.Unseen // what was known then of exporters, by what was asked
}

// NewLive returns those of a log. arrivals returns what is known of exporters now; nil: nothing is.
func NewLive(log Log, arrivals func() Arrivals) *Live { return &Live{log: log, arrivals: arrivals} }

// Incidents returns the incidents as they are now. The list belongs to all who ask.
func (l *Live) Incidents() []telemetry.Incident {
	l.mu.Lock()
	defer l.mu.Unlock()
	changes := l.log.Changes()
	if l.at.IsZero() || changes != l.changes || l.arrivals != nil && time.Since(l.at) >= refresh {
		events, _ := l.log.Events(nil, math.MaxInt)
		var arrivals Arrivals
		asked := memory{before: l.known, now: map[string][]telemetry.Unseen{}}
		if l.arrivals != nil {
			asked.Arrivals = l.arrivals()
			arrivals = &asked
		}
		l.list, l.changes, l.at, l.known = Of(events, arrivals), changes, time.Now(), asked.now
	}
	return l.list
}

// Watch asks for them once for each interval of the ledger, until ctx is done: what exporters could not tell is known
// for an hour only, and remembered for who asked in time.
func (l *Live) Watch(ctx context.Context) {
	ticker := time.NewTicker(refresh)
	defer ticker.Stop()
	for {
		select {
		case <-ticker.C:
			l.Incidents()
		case <-ctx.Done():
			return
		}
	}
}

// A memory of Arrivals keeps what these knew when they were asked the same before: they forget, incidents should not.
type memory struct {
	Arrivals
	before, now map[string][]telemetry.Unseen
}

// Between is that of Arrivals.
func (m *memory) Between(nodes []uint32, fromNs, toNs int64) ([]telemetry.Unseen, bool) {
	question := fmt.Sprint(nodes, fromNs, toNs)
	list, known := m.Arrivals.Between(nodes, fromNs, toNs)
	if before, ok := m.before[question]; ok && !known {
		list, known = before, true
	}
	if known && toNs != ongoing { // what is not over may lose more
		m.now[question] = list
	}
	return list, known
}
