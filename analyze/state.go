package analyze

import (
	"encoding/json"
	"net/netip"

	"github.com/waybill-int/waybill/analyze/attack"
	"github.com/waybill-int/waybill/analyze/drop"
	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/ledger"
)

// A State is what outlives a restart: what the ledger and the log of events save of themselves. It is written as JSON;
// StateVersion changes when a reader of before would misread it.
type State struct {
	ledger.State
	Events eventlog.State `json:"events"`
	Usual  *attack.Usual  `json:"usual,omitempty"` // at the targets of attacks; missing in files of before
	// DropCounters are those of rules of Transparent Security; missing in files of before.
	DropCounters []drop.Counter `json:"drop_counters,omitempty"`
	// Bus is how far datagrams were taken from a bus, as it says of itself; missing without one.
	Bus json.RawMessage `json:"bus,omitempty"`
	// Note is the number of the note in the journal up to which datagrams were taken from the bus, Waiting what
	// Collector.Waiting returned then.
	Note    uint64 `json:"note,omitempty"`
	Waiting []byte `json:"waiting,omitempty"`
}

// StateVersion is the version of State.
const StateVersion = 1

// StateOf returns what is to outlive a restart, as it is at nowNs (nanoseconds since 1970). The locks are taken one
// after the other. usual is that of the Scanner, counters are those of the Collector.
func StateOf(
	l *ledger.Ledger, log *eventlog.Log, usual *attack.Usual, counters []drop.Counter, nowNs int64,
) *State {
	return &State{State: l.State(nowNs), Events: log.State(), Usual: usual, DropCounters: counters}
}

// DropCounters returns the counters of rules of Transparent Security, for the next process.
func (c *Collector) DropCounters() []drop.Counter {
	all := drop.Counters{}
	for _, s := range c.Owners {
		all.Add(s.dropCounters())
	}
	return all.List()
}

func (s *Shard) dropCounters() drop.TableCounters {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.drops.Counters()
}

// RestoreDropCounters takes those of the process before this one, before anything is received. Any shard may get the
// reports of a rule.
func (c *Collector) RestoreDropCounters(counters []drop.Counter) {
	for _, s := range c.Owners {
		s.restoreDropCounters(counters)
	}
}

func (s *Shard) restoreDropCounters(counters []drop.Counter) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drops.Restore(counters)
}

// Restore puts s back at nowNs (nanoseconds since 1970), before anything is received: see Ledger.Restore for socketOf
// and for what it returns.
func (s *State) Restore(l *ledger.Ledger, log *eventlog.Log, nowNs int64,
	socketOf func(listen string, source netip.Addr) (int, bool),
) (left int) {
	left = l.Restore(&s.State, nowNs, socketOf)
	log.Restore(&s.Events, nowNs)
	return left
}
