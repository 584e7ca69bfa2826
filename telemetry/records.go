package telemetry

import (
	"net/netip"
	"time"
)

// The types in this file are answers: what analyze knows, in the shape that the API serves, the CLI prints and a store
// keeps. Names of fields are those of the filter language. Durations are nanoseconds.

// A Distribution sums up values of one kind. P50 and P99 are estimates from an exponential histogram; RelativeError
// bounds how far they can be off. Min, Mean and Max are exact.
type Distribution struct {
	Count         uint64  `json:"count"`
	Min           uint64  `json:"min"`
	Mean          float64 `json:"mean"`
	Max           uint64  `json:"max"`
	P50           uint64  `json:"p50"`
	P99           uint64  `json:"p99"`
	RelativeError float64 `json:"relative_error"`
}

// Endpoints are the 5-tuple and tunnel of a flow.
type Endpoints struct {
	Src      netip.Addr `json:"src"`
	Dst      netip.Addr `json:"dst"`
	SrcPort  uint16     `json:"src_port"`
	DstPort  uint16     `json:"dst_port"`
	Protocol string     `json:"protocol"`
	Tunnel   string     `json:"tunnel,omitempty"`
	TunnelID *uint32    `json:"tunnel_id,omitempty"`
}

// EndpointsOf spells out a FlowKey.
func EndpointsOf(k *FlowKey) Endpoints {
	e := Endpoints{
		Src: k.Src.IP(), Dst: k.Dst.IP(), SrcPort: k.SrcPort, DstPort: k.DstPort,
		Protocol: ProtocolName(k.Protocol), Tunnel: k.Tunnel.String(),
	}
	if k.Tunnel != TunnelNone {
		id := k.TunnelID
		e.TunnelID = &id
	}
	return e
}

// A PathHop is one station of a path. Node is nil where a node is known to be but not which one; Missing counts the
// stations that sent nothing.
type PathHop struct {
	Node        *uint32       `json:"node"`
	Name        string        `json:"name,omitempty"`
	IngressPort *uint32       `json:"ingress_port"`
	EgressPort  *uint32       `json:"egress_port"`
	Missing     int           `json:"missing,omitempty"`
	Dropped     bool          `json:"dropped,omitempty"`
	LatencyNs   *Distribution `json:"latency_ns,omitempty"`
	Queue       *Queue        `json:"queue,omitempty"`
}

// A Queue sums up the queue occupancies that packets met at a hop.
type Queue struct {
	ID   uint8   `json:"id"` // of the latest packet
	Mean float64 `json:"mean"`
	Max  uint32  `json:"max"`
	Last *uint32 `json:"last,omitempty"` // not kept for each flow
}

// A Path is a sequence of hops that packets took, source first, over all flows that took it.
type Path struct {
	ID      string    `json:"id"` // the same in every run for the same hops
	Hops    []PathHop `json:"hops"`
	Flows   int       `json:"flows"` // flows whose latest packet took it
	Packets uint64    `json:"packets"`
	// Incomplete counts further packets of which postcards are missing; those that came fit on this path.
	Incomplete uint64    `json:"incomplete,omitempty"`
	First      time.Time `json:"first"`
	Last       time.Time `json:"last"`
	// Residence is the sum of the hops' latencies, each measured by one clock. EndToEnd is egress of the last hop minus
	// ingress of the first, by two clocks: samples that contradict Residence are left out and counted in ClockErrors.
	Residence   *Distribution `json:"residence_ns,omitempty"`
	EndToEnd    *Distribution `json:"end_to_end_ns,omitempty"`
	ClockErrors uint64        `json:"clock_errors,omitempty"`
	Delay       *Delay        `json:"delay"` // EndToEnd without the difference of the clocks
	// Uncertain: postcards had the same TTL, so that the order of some hops is that of arrival.
	Uncertain bool `json:"uncertain,omitempty"`
	// PacketsEstimated is of all packets, where the rate is known at which the source samples them.
	PacketsEstimated *uint64 `json:"packets_estimated,omitempty"`
}

// A FlowPath is a path that packets of a flow took, with what this flow met on it.
type FlowPath struct {
	ID      string    `json:"id"`
	Hops    []PathHop `json:"hops"`
	Packets uint64    `json:"packets"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
}

// A Flow is a flow and what telemetry saw of it.
type Flow struct {
	ID string `json:"id"`
	Endpoints
	Outer       *Endpoints    `json:"outer,omitempty"`
	DSCP        uint8         `json:"dscp"`
	First       time.Time     `json:"first"`
	Last        time.Time     `json:"last"`
	Reports     uint64        `json:"reports"`
	Packets     uint64        `json:"packets"`
	Bytes       uint64        `json:"bytes"`
	Drops       uint64        `json:"drops"`
	Device      string        `json:"device,omitempty"` // Transparent Security source device
	Residence   *Distribution `json:"residence_ns,omitempty"`
	EndToEnd    *Distribution `json:"end_to_end_ns,omitempty"`
	EndToEndBy  *ClockOffset  `json:"end_to_end_clocks,omitempty"` // what EndToEnd has to be corrected by
	Paths       []FlowPath    `json:"paths"`                       // latest first
	PathChanges uint64        `json:"path_changes"`
	// Of all packets, where the rate is known at which the source samples them.
	PacketsEstimated *uint64 `json:"packets_estimated,omitempty"`
	BytesEstimated   *uint64 `json:"bytes_estimated,omitempty"`
}

// A Node is a device that appeared in reports.
type Node struct {
	ID        uint32        `json:"id"`
	Name      string        `json:"name,omitempty"`
	Packets   uint64        `json:"packets"`
	Drops     uint64        `json:"drops"`
	First     time.Time     `json:"first"`
	Last      time.Time     `json:"last"`
	Ports     []uint32      `json:"ports"`
	LatencyNs *Distribution `json:"latency_ns,omitempty"`
	QueueMax  *uint32       `json:"queue_max,omitempty"`
}

// A Link joins an egress port of one node with an ingress port of the next, as paths show it.
type Link struct {
	From     uint32  `json:"from"`
	FromName string  `json:"from_name,omitempty"`
	FromPort *uint32 `json:"from_port"`
	To       uint32  `json:"to"`
	ToName   string  `json:"to_name,omitempty"`
	ToPort   *uint32 `json:"to_port"`
	Packets  uint64  `json:"packets"`
	// Confidence is how sure it is that the link is there, from 0 to below 1: of all packets at that port of either node, and
	// one more that shows another link, the share that took this one. The end with the lower share counts.
	Confidence  float64      `json:"confidence"`
	Delay       *Delay       `json:"delay"` // from when a packet leaves the one node to when it comes to the other
	Utilization *Utilization `json:"utilization,omitempty"`
	First       time.Time    `json:"first"`
	Last        time.Time    `json:"last"`
}

// A Drop counts packets dropped at one place for one reason.
type Drop struct {
	Node        *uint32 `json:"node"`
	Name        string  `json:"name,omitempty"`
	IngressPort *uint32 `json:"ingress_port"`
	EgressPort  *uint32 `json:"egress_port"`
	Reason      uint8   `json:"reason"`
	ReasonName  string  `json:"reason_name"`
	// Of the catalogue, whatever the device calls it; see docs/reference/drop-reasons.md.
	Cause    string     `json:"cause"`
	Severity string     `json:"severity"`
	Meaning  string     `json:"meaning"`
	Action   string     `json:"action"`
	Packets  uint64     `json:"packets"`
	First    time.Time  `json:"first"`
	Last     time.Time  `json:"last"`
	LastFlow *Endpoints `json:"last_flow,omitempty"`
	// To are the prefixes that packets were on the way to, the most first; those to others are counted in Packets only.
	To      []DropDestination `json:"to,omitempty" nullable:"false"`
	DropKey string            `json:"drop_key,omitempty"` // Transparent Security
}

// A DropDestination is a prefix to which packets were on the way: /24 of IPv4, /48 of IPv6.
type DropDestination struct {
	Prefix  netip.Prefix `json:"prefix"`
	Packets uint64       `json:"packets"`
}

// An Exporter is one sequence of reports: a source address, the node and hardware id in its reports.
type Exporter struct {
	Source  netip.Addr `json:"source"`
	Node    *uint32    `json:"node"`
	Name    string     `json:"name,omitempty"`
	HWID    *uint8     `json:"hw_id"`
	Version string     `json:"version"`
	Dialect string     `json:"dialect"`
	First   time.Time  `json:"first"`
	Last    time.Time  `json:"last"`
	// Received counts datagrams, Reports the reports in them.
	Received uint64 `json:"received"`
	Reports  uint64 `json:"reports"`
	// Lost is nil where the sequence numbers do not count; LossKnown says so in words.
	Lost      *uint64 `json:"lost"`
	LossKnown string  `json:"loss_known"`
	Reordered uint64  `json:"reordered"`
	Duplicate uint64  `json:"duplicate"`
	Restarted uint64  `json:"restarted"`
	// Malformed counts datagrams of which nothing could be used, Damaged those of which a part could; by error code.
	Malformed map[string]uint64 `json:"malformed"`
	Damaged   map[string]uint64 `json:"damaged"`
	// Refused counts datagrams that were not looked into because their source may not send them, RefusedBecause says why.
	// A source with such datagrams is an item of its own.
	Refused        uint64 `json:"refused,omitempty"`
	RefusedBecause string `json:"refused_because,omitempty"`
	// Samples has, by error code, the first datagram that was malformed or damaged for that reason.
	Samples map[string]Hex `json:"samples,omitempty"`
}

// A Delay is how long packets were on a link or a path, by two clocks whose difference is taken away: in the last one to two
// minutes, of the packets that were looked at.
type Delay struct {
	NS *Distribution `json:"ns,omitempty"` // missing if no delay is known
	// UncertaintyNs is by how much each of them can be wrong at most; all are wrong in about the same way.
	UncertaintyNs *uint64 `json:"uncertainty_ns,omitempty"`
	// Clamped counts delays that would have been negative, within the uncertainty. They count as 0.
	Clamped uint64 `json:"clamped,omitempty"`
	Unknown string `json:"unknown,omitempty"` // why the delay of the latest packet is not known
}

// A ClockOffset is by how much the clock of the last node of a flow is ahead of that of the first. A time by both is that much too
// long.
type ClockOffset struct {
	OffsetNs      *int64 `json:"offset_ns,omitempty"`
	UncertaintyNs *int64 `json:"uncertainty_ns,omitempty"`
	Unknown       string `json:"unknown,omitempty"` // why it is not known; then times by both clocks are not to be trusted
}

// A Clock is the clock of a node against that of its reference. What is nil is not known.
type Clock struct {
	Node          uint32   `json:"node"`
	Name          string   `json:"name,omitempty"`
	Reference     uint32   `json:"reference"`
	ReferenceName string   `json:"reference_name,omitempty"`
	Links         int      `json:"links"` // between the two, over which uncertainties add up
	Trusted       bool     `json:"trusted"`
	Reason        string   `json:"reason,omitempty"`      // why not, or in which special way
	OffsetNs      *int64   `json:"offset_ns"`             // positive: ahead of the reference
	UncertaintyNs *int64   `json:"uncertainty_ns"`        // OffsetNs is not wrong by more
	DriftPPB      *float64 `json:"drift_ppb"`             // positive: faster than the reference, parts per 10^9
	DriftWithin   *float64 `json:"drift_uncertainty_ppb"` // DriftPPB is not wrong by more
	SpanNs        *int64   `json:"span_ns"`               // for which the two were compared

	LastJump *ClockJump `json:"last_jump,omitempty"`
}

// A ClockJump says that a clock was set, between two moments.
type ClockJump struct {
	After         time.Time `json:"after"`
	Before        time.Time `json:"before"`
	StepNs        int64     `json:"step_ns"` // positive: forward
	UncertaintyNs int64     `json:"uncertainty_ns"`
}

// A NodeHop is what packets met at a node on the way from one port to another, over all paths.
type NodeHop struct {
	Node        uint32        `json:"node"`
	Name        string        `json:"name,omitempty"`
	IngressPort *uint32       `json:"ingress_port"`
	EgressPort  *uint32       `json:"egress_port"`
	Packets     uint64        `json:"packets"`
	First       time.Time     `json:"first"`
	Last        time.Time     `json:"last"`
	LatencyNs   *Distribution `json:"latency_ns,omitempty"`
	Queue       *Queue        `json:"queue,omitempty"`
}
