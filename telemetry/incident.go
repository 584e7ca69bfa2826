package telemetry

import (
	"net/netip"
	"time"
)

// An Incident is what belongs together of what happened: a cause, what follows from it, and its extent. It is computed
// from events, of now or of the past, and rests on nothing else.
type Incident struct {
	// that of its first event; an incident is found by the ids of its other events too
	ID       string    `json:"id" table:"ID,wide,end" doc:"id of the incident, which is that of its first event"`
	Severity Severity  `json:"severity" choice:"severity" table:"SEVERITY" doc:"that of the worst of its events"`
	Kind     EventKind `json:"kind" choice:"event" table:"CAUSE" doc:"kind of the event that is the cause"`
	Start    time.Time `json:"start" table:"STARTED" doc:"when the first of its events began"`
	// null while one of them goes on
	End *time.Time `json:"end" table:"LASTED,right" doc:"when the last of its events ended, unless one goes on"`
	// one sentence for people
	Text string `json:"text" table:"WHAT" doc:"what broke, for how long, and what it cost, in words"`

	// Where the cause is.
	Node     *uint32 `json:"node,omitempty" filter:"-" doc:"the node of the cause"`
	Name     string  `json:"name,omitempty" filter:"-" doc:"its name, if it has one"`
	Port     *uint32 `json:"port,omitempty" filter:"egress_port" doc:"level 1 interface by which packets left the node"`
	PortName string  `json:"port_name,omitempty" filter:"-" doc:"its name, if the inventory has one"`
	ToNode   *uint32 `json:"to_node,omitempty" kind:"node" doc:"the node at the other end, if the cause is a link"`
	ToName   string  `json:"to_name,omitempty" filter:"-" doc:"its name, if it has one"`
	// those of all its events, sorted
	Nodes []uint32 `json:"nodes,omitempty" filter:"-" doc:"the nodes of all its events"`

	// What it cost, as far as reports tell.
	PacketsLost uint64 `json:"packets_lost" table:"LOST,bad" doc:"packets that its events say were dropped or lost"`
	FlowsMoved  uint64 `json:"flows_moved" table:"MOVED" doc:"changes of paths of flows that it made"`

	// Whom it hit: of packets that were lost, moved to another path, or waited in a queue that was too long.
	FlowsHit   uint64 `json:"flows_hit" table:"FLOWS" doc:"flows that lost packets, took another path, or waited in a queue that was too long"`
	HostsHit   uint64 `json:"hosts_hit" table:"HOSTS,wide" doc:"addresses that these flows come from and go to"`
	PacketsHit uint64 `json:"packets_hit" table:"PACKETS,wide" doc:"packets that were lost, or waited in a queue that was too long"`
	BytesHit   uint64 `json:"bytes_hit" table:"BYTES,wide" doc:"IP length of these packets, INT not counted"`
	// names of those above that are lower bounds
	AtLeast []string `json:"at_least,omitempty" filter:"-" doc:"which of these counts are lower bounds"`

	Action string `json:"action" filter:"-" table:"WHAT TO DO,wide,last" doc:"what to do"`
	// the cause first, then by start
	Events []IncidentEvent `json:"events" doc:"its events, the cause first"`
	// It is not known which of these is the cause, or whether it is one of its own.
	PossibleCauses []PossibleCause `json:"possible_causes,omitempty" doc:"incidents that may have caused it, if none is proved to have"`
	Unseen         []Unseen        `json:"unseen,omitempty" doc:"exporters that could not tell all meanwhile, as the ledger says"`
	Doubts         []string        `json:"doubts,omitempty" filter:"-" doc:"what reports could not tell meanwhile"`

	// Both are kept with the events.
	Acknowledged *Acknowledgement `json:"acknowledged,omitempty" filter:"-" doc:"who acknowledged it: the first who did of one of its events"`
	Notes        []Note           `json:"notes,omitempty" filter:"-" doc:"what people wrote about its events, the oldest first"`
}

// An IncidentEvent is an event as a part of an incident.
type IncidentEvent struct {
	ID       string     `json:"id" doc:"id of an event of it"`
	Kind     EventKind  `json:"kind" choice:"event" doc:"kind of an event of it"`
	Severity Severity   `json:"severity" filter:"-" choice:"severity" doc:"its severity"`
	Start    time.Time  `json:"start" filter:"-" doc:"when it began"`
	End      *time.Time `json:"end" filter:"-" doc:"when it ended"`
	Count    uint64     `json:"count" filter:"-" doc:"packets, flows, drops or reports"`
	Text     string     `json:"text" filter:"-" doc:"what happened, in words"`

	Of      string `json:"of,omitempty" filter:"-" doc:"id of the event that it follows from; none: it is the cause"`
	Rule    string `json:"rule,omitempty" filter:"-" doc:"rule by which it does"`
	Because string `json:"because,omitempty" filter:"-" doc:"what the rule says"`
	// It happened at the same time, and nothing else explains it; else place and kind prove it.
	Likely bool `json:"likely,omitempty" filter:"-" doc:"it is not proved that it does"`
}

// A PossibleCause is an incident that may have caused another.
type PossibleCause struct {
	Incident string    `json:"incident" filter:"-" doc:"id of an incident that may be the cause"`
	Kind     EventKind `json:"kind" filter:"-" choice:"event" doc:"its kind"`
	Text     string    `json:"text" filter:"-" doc:"what it was"`
	For      string    `json:"for" filter:"-" doc:"what speaks for it"`
	Against  string    `json:"against" filter:"-" doc:"what speaks against it"`
}

// An Unseen is an exporter that could not tell all while an incident lasted, in the intervals of the ledger that this
// touches.
type Unseen struct {
	Source netip.Addr `json:"source" filter:"-" doc:"address of an exporter of which reports were lost, or that was silent"`
	Node   *uint32    `json:"node,omitempty" filter:"-" doc:"its node, if it says so"`
	Name   string     `json:"name,omitempty" filter:"-" doc:"its name, if it has one"`
	Lost   uint64     `json:"lost" filter:"-" doc:"datagrams that were lost on the way here"`
	Sent   uint64     `json:"sent" filter:"-" doc:"datagrams that it sent"`
	Silent bool       `json:"silent,omitempty" filter:"-" doc:"nothing came from it at all, though it had reported before"`
}
