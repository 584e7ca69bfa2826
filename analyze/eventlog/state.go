package eventlog

import (
	"maps"
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A State is the part of an Log that outlives a restart.
type State struct {
	Open     []openState       `json:"open"`
	Over     []telemetry.Event `json:"over"` // the oldest first
	Ended    uint64            `json:"ended"`
	Overflow uint64            `json:"overflow"`
}

type openState struct {
	Event telemetry.Event `json:"event"`
	Last  int64           `json:"last"`
	Key   keyState        `json:"key"`
}

// A keyState is an Key; the test fails if a field is missing.
type keyState struct {
	Kind      telemetry.EventKind `json:"kind"`
	Node      uint32              `json:"node"`
	Port      uint32              `json:"port"`
	Queue     uint8               `json:"queue"`
	Reason    uint8               `json:"reason"`
	ToNode    uint32              `json:"to_node"`
	ToPort    uint32              `json:"to_port"`
	Rule      int32               `json:"rule,omitempty"`
	Unnamed   bool                `json:"unnamed,omitempty"`
	Source    netip.Addr          `json:"source"`
	Collector string              `json:"collector,omitempty"`
	XNode     uint32              `json:"x_node"`
	HWID      uint8               `json:"hw_id"`
	Domain    uint32              `json:"domain,omitempty"`
	Version   telemetry.Version   `json:"version"`
	HasNode   bool                `json:"has_node"`
	Header    bool                `json:"header"`
}

func (k *Key) state() keyState {
	x := &k.Exporter
	return keyState{
		k.Kind, k.Node, k.Port, k.Queue, k.Reason, k.ToNode, k.ToPort, k.Rule, k.Unnamed,
		x.Source, x.Collector, x.Node, x.HWID, x.Domain, x.Version, x.HasNode, x.Header,
	}
}

func (s *keyState) key() Key {
	return Key{
		Kind: s.Kind, Node: s.Node, Port: s.Port, Queue: s.Queue, Reason: s.Reason, ToNode: s.ToNode, ToPort: s.ToPort,
		Rule: s.Rule, Unnamed: s.Unnamed,
		Exporter: telemetry.ExporterKey{
			Collector: s.Collector, Source: s.Source, Node: s.XNode, HWID: s.HWID, Domain: s.Domain, Version: s.Version,
			HasNode: s.HasNode, Header: s.Header,
		},
	}
}

// State returns what is to outlive a restart. It holds copies only.
func (l *Log) State() State {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := State{Ended: l.ended, Overflow: l.overflow, Over: l.endedSince(0)}
	for key, e := range l.open {
		s.Open = append(s.Open, openState{e.Event, e.last, key.state()})
	}
	return s
}

// Restore puts events back. What goes on has graceNs to be noted again, else it was over when it was noted last.
func (l *Log) Restore(s *State, nowNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.changes++
	l.overflow = s.Overflow
	l.ended = s.Ended - min(s.Ended, uint64(len(s.Over)))
	for i := range s.Over {
		if s.Over[i].Kind < telemetry.NumEventKinds {
			l.keep(s.Over[i])
		}
	}
	l.restored = map[Key]bool{}
	l.graceNs = nowNs + graceNs
	for i := range s.Open {
		if len(l.open) >= l.max {
			l.overflow++
			continue
		}
		o := &s.Open[i]
		key := o.Key.key()
		if key.Kind >= telemetry.NumEventKinds {
			continue
		}
		l.open[key] = &openEvent{o.Event, o.Last}
		l.kinds[key.Kind]++
		l.restored[key] = true
	}
}

// graceNs is how long an event that was restored may take to be noted again: the tables begin anew.
const graceNs = 10 * int64(time.Second)

// EndRestored ends the restored events that nobody noted within graceNs. A lost link is not noted any more, as nobody
// knows that there was one; its event ends when the link is seen again.
func (l *Log) EndRestored(nowNs int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.restored) == 0 || nowNs < l.graceNs {
		return
	}
	for key := range maps.Keys(l.restored) {
		if e := l.open[key]; e != nil && key.Kind != telemetry.EventLinkLost {
			l.close(key, e, e.last)
		}
	}
	l.restored = nil
}
