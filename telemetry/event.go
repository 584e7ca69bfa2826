package telemetry

import "time"

// An EventKind is a kind of thing that can happen. Its numbers are stored and do not change.
type EventKind uint8

// Kinds of events; docs/reference/events.md says which are found. To add one: 1. its constant with the next number, 2.
// its name below, 3. its row in filter/fields_events.go, 4. its section in docs/reference/events.md.
const (
	EventNewFlow        EventKind = 1  // a flow was seen for the first time
	EventPathChange     EventKind = 2  // packets took another way out of a node than before
	EventECMPImbalance  EventKind = 3  // the links of a group carry unequal shares
	EventPathNotAllowed EventKind = 4  // a path that the policy does not allow
	EventLinkLost       EventKind = 5  // a link is not seen any more while its ends still report
	EventLatencyAnomaly EventKind = 6  // a latency far from what is usual
	EventMicroburst     EventKind = 7  // a queue filled and emptied again
	EventIncast         EventKind = 8  // a microburst to which many sources came together
	EventDropStorm      EventKind = 9  // many packets were dropped at one place
	EventBlackhole      EventKind = 10 // all packets of some flows are dropped
	EventGrayFailure    EventKind = 11 // a link loses a share of its packets without a reason
	EventLoop           EventKind = 12 // packets came to the same node twice
	EventHopLimit       EventKind = 13 // a packet met more nodes than INT allowed (E)
	EventMTUExceeded    EventKind = 14 // a node had no room to add its metadata (M)
	EventHopWithoutINT  EventKind = 15 // the TTL tells of nodes that added no metadata
	EventMalformed      EventKind = 16 // checksums or lengths that break the rules
	EventUnexpectedNode EventKind = 17 // a node or interface that should not be there
	EventWaypointMissed EventKind = 18 // a flow went around a node that it should pass
	EventReportLoss     EventKind = 19 // reports of an exporter were lost on the way here
	EventNodeRestart    EventKind = 20 // an exporter began to count anew
	EventClockJump      EventKind = 21 // the clock of a node jumped
	EventImplausible    EventKind = 22 // metadata that cannot be so
	EventDuplicateNode  EventKind = 23 // two devices have the same node id
	EventExporterSilent EventKind = 24 // reports of a node stopped, and its packets did not
	EventContradiction  EventKind = 25 // a node tells two stories of one packet
	EventAttack         EventKind = 26 // far more traffic to a target than is usual there
	NumEventKinds                 = 27
)

var eventKinds = [NumEventKinds]string{
	EventNewFlow: "new_flow", EventPathChange: "path_change", EventECMPImbalance: "ecmp_imbalance",
	EventPathNotAllowed: "path_not_allowed", EventLinkLost: "link_lost", EventLatencyAnomaly: "latency_anomaly",
	EventMicroburst: "microburst", EventIncast: "incast", EventDropStorm: "drop_storm", EventBlackhole: "blackhole",
	EventGrayFailure: "gray_failure", EventLoop: "loop", EventHopLimit: "hop_limit", EventMTUExceeded: "mtu_exceeded",
	EventHopWithoutINT: "hop_without_int", EventMalformed: "malformed", EventUnexpectedNode: "unexpected_node",
	EventWaypointMissed: "waypoint_missed", EventReportLoss: "report_loss", EventNodeRestart: "node_restart",
	EventClockJump: "clock_jump", EventImplausible: "implausible_metadata", EventDuplicateNode: "duplicate_node_id",
	EventExporterSilent: "exporter_silent", EventContradiction: "contradicting_reports",
	EventAttack: "attack",
}

// String returns the name of the kind, as JSON and the filter language have it.
func (k EventKind) String() string {
	if int(k) < len(eventKinds) {
		return eventKinds[k]
	}
	return ""
}

// MarshalText returns the name.
func (k EventKind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText reads the name; an unknown one becomes 0.
func (k *EventKind) UnmarshalText(text []byte) error {
	*k = 0
	for i, name := range eventKinds {
		if name == string(text) && name != "" {
			*k = EventKind(i)
		}
	}
	return nil
}

// A Severity says how bad an event is.
type Severity uint8

// Severities.
const (
	Info     Severity = iota // worth knowing
	Warning                  // worth a look
	Critical                 // needs somebody now
)

var severities = [...]string{"info", "warning", "critical"}

// String returns the name of the severity.
func (s Severity) String() string { return severities[min(int(s), len(severities)-1)] }

// MarshalText returns the name.
func (s Severity) MarshalText() ([]byte, error) { return []byte(s.String()), nil }

// UnmarshalText reads the name; an unknown one is critical.
func (s *Severity) UnmarshalText(text []byte) error {
	for *s = Info; *s < Critical && s.String() != string(text); *s++ {
	}
	return nil
}

// An Event is something that happened in the network, or to the reports about it. Times are those of arrival, and as
// exact as Resolution; those of microbursts are of the node's clock.
type Event struct {
	// the same for the same kind, subject and start
	ID       string    `json:"id" table:"ID,wide,end" doc:"id of the event"`
	Kind     EventKind `json:"kind" choice:"event" table:"KIND" doc:"what happened"`
	Severity Severity  `json:"severity" choice:"severity" table:"SEVERITY" doc:"how bad it is"`
	Start    time.Time `json:"start" table:"STARTED" doc:"when it began"`
	// null while it goes on
	End *time.Time `json:"end" table:"LASTED,right" doc:"when it ended, unless it goes on"`
	// packets, drops or reports, whatever it is about
	Count uint64 `json:"count" table:"COUNT" doc:"packets, flows, drops or reports, whatever it is about"`
	// one line for people
	Text string `json:"text" table:"WHAT" doc:"what happened, in words"`

	// The subject, as far as there is one.
	Node *uint32 `json:"node,omitempty" filter:"-" doc:"the node"`
	Name string  `json:"name,omitempty" filter:"-" doc:"its name, if it has one"`
	// egress
	Port *uint32 `json:"port,omitempty" filter:"egress_port" table:"OUT,wide" doc:"level 1 interface by which packets left the node"`
	// as the inventory had it then
	PortName string  `json:"port_name,omitempty" filter:"-" doc:"its name, if the inventory has one"`
	Queue    *uint8  `json:"queue,omitempty" filter:"queue_id,alias=queue" doc:"the queue"`
	ToNode   *uint32 `json:"to_node,omitempty" kind:"node" doc:"the node at the other end, if it is about a link"`
	ToName   string  `json:"to_name,omitempty" filter:"-" doc:"its name, if it has one"`
	// ingress
	ToPort     *uint32 `json:"to_port,omitempty" table:"IN,wide" doc:"level 1 interface by which packets came in there"`
	ToPortName string  `json:"to_port_name,omitempty" filter:"-" doc:"its name, if the inventory has one"`
	Reason     *uint8  `json:"reason,omitempty" doc:"number of the drop reason, if it is about drops"`
	ReasonName string  `json:"reason_name,omitempty" doc:"name of the drop reason in the dialect's table, else reason_N"`
	// whatever the device calls it; see docs/reference/drop-reasons.md
	Cause string `json:"cause,omitempty" live:"ask for reason_name" doc:"the drop reason in the catalogue of drop reasons"`
	// address of an exporter
	Source string `json:"source,omitempty" kind:"address" doc:"address of the exporter, if it is about one"`
	// one of those that it met
	Flow      *Endpoints `json:"flow,omitempty" filter:",inline" table:"FLOW,wide,of=src" doc:" of a flow that it met"`
	Path      string     `json:"path,omitempty" doc:"id of a path that shows it"`
	PathNodes []string   `json:"path_nodes,omitempty" doc:"names or ids of the nodes on that path"`
	Rule      string     `json:"rule,omitempty" doc:"rule of the policy, if it is about one"` // of the policy

	Evidence []Evidence `json:"evidence" table:"EVIDENCE,wide" doc:"numbers that it rests on"`
	Bytes    Hex        `json:"bytes,omitempty" filter:"-" doc:"a report datagram that shows it, hexadecimal"`
	// Attack is what an event of kind EventAttack is about. Lists of events leave it out: attacks have their own.
	Attack *Attack `json:"attack,omitempty" filter:"-" doc:"the attack, where records tell of it; lists of events leave it out"`
	// Extent is whom it hit; nil: nothing tells. Lists of events leave it out: incidents have numbers of it.
	Extent *Extent `json:"extent,omitempty" filter:"-" doc:"whom it hit, where records tell of it; lists of events leave it out"`

	Acknowledged *Acknowledgement `json:"acknowledged,omitempty" filter:"-" doc:"who acknowledged it"`
	Notes        []Note           `json:"notes,omitempty" filter:"-" doc:"what people wrote about it, the oldest first"`
}

// An Acknowledgement says who acknowledged an event.
type Acknowledgement struct {
	By string    `json:"by" doc:"who acknowledged it, as far as the server knows"`
	At time.Time `json:"at" doc:"since when"`
}

// A Note is what somebody wrote about an event or an incident.
type Note struct {
	By   string    `json:"by" doc:"who wrote it, as far as the server knows"`
	At   time.Time `json:"at" doc:"when"`
	Text string    `json:"text" doc:"what they wrote"`
}

// An Evidence is a number that an event rests on.
type Evidence struct {
	Name  string  `json:"name"`
	Value float64 `json:"value"`
	Unit  string  `json:"unit,omitempty"`
}
