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
	Count         uint64  `json:"count" kind:"number" filter:"-" doc:"number of values: $"`
	Min           uint64  `json:"min" doc:"shortest $"`
	Mean          float64 `json:"mean" filter:",main" doc:"mean $"`
	Max           uint64  `json:"max" doc:"longest $"`
	P50           uint64  `json:"p50" known:"RelativeError" doc:"median of the $"`
	P99           uint64  `json:"p99" known:"RelativeError" doc:"99th percentile of the $"`
	RelativeError float64 `json:"relative_error" kind:"ratio" filter:"-" doc:"how far p50 and p99 can be off; 0 if they are not known"`
}

// Endpoints are the 5-tuple and tunnel of a flow.
type Endpoints struct {
	Src      netip.Addr `json:"src" table:"SOURCE" doc:"source address$"`
	Dst      netip.Addr `json:"dst" table:"DESTINATION" doc:"destination address$"`
	_        struct{}   `filter:"addr,any=src+dst" doc:"either address$"`
	SrcPort  uint16     `json:"src_port" doc:"source port$; 0 if the protocol has none"`
	DstPort  uint16     `json:"dst_port" doc:"destination port$"`
	_        struct{}   `filter:"port,any=src_port+dst_port" doc:"either port$"`
	Protocol string     `json:"protocol" filter:",alias=proto" choice:"protocol" table:"PROTOCOL" doc:"IP protocol$"`
	Tunnel   string     `json:"tunnel,omitempty" choice:"tunnel" table:"TUNNEL,wide" doc:"kind of tunnel$"`
	TunnelID *uint32    `json:"tunnel_id,omitempty" filter:",alias=vni" doc:"VNI or GRE key$"`
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

// A PathHop is one element of a path. Node is nil where a node is known to be but not which one; Missing counts the
// elements that sent nothing.
type PathHop struct {
	Node        *uint32       `json:"node"`
	Name        string        `json:"name,omitempty"`
	IngressPort *uint32       `json:"ingress_port"`
	EgressPort  *uint32       `json:"egress_port"`
	Missing     int           `json:"missing,omitempty"`
	Dropped     bool          `json:"dropped,omitempty"`
	LatencyNs   *Distribution `json:"latency_ns,omitempty"`
	Queue       *Queue        `json:"queue,omitempty"`
	Sample      *Sample       `json:"sample,omitempty"` // of which packets they tell
}

// A Queue sums up the queue occupancies that packets met at a hop.
type Queue struct {
	ID   uint8   `json:"id" filter:"-" table:"QUEUE,wide" doc:"the queue of the latest packet"`
	Mean float64 `json:"mean" filter:"-" doc:"mean queue occupancy"`
	Max  uint32  `json:"max" unit:"of the device" doc:"highest queue occupancy"`
	Unit string  `json:"unit" filter:"-" table:"UNIT,wide" doc:"what its occupancy is counted in: bytes, packets, cells:N of N bytes each, cells or unknown"`
	Last *uint32 `json:"last,omitempty" filter:"-" doc:"queue occupancy that the latest packet met; not kept for each flow"`
}

// A Path is a sequence of hops that packets took, source first, over all flows that took it.
type Path struct {
	// the same in every run for the same hops
	ID      string    `json:"id" filter:",alias=path+path_id" table:"ID" doc:"id of the path"`
	Hops    []PathHop `json:"hops" table:"PATH,last" doc:"the nodes on the way, source first"`
	Flows   int       `json:"flows" table:"FLOWS" live:"ask for flows of the time range, with path and its id, or grouped by path" doc:"flows whose latest packet took it"`
	Packets uint64    `json:"packets" table:"PACKETS" doc:"packets seen on all of it"`
	// Incomplete counts further packets of which postcards are missing; those that came fit on this path.
	Incomplete uint64    `json:"incomplete,omitempty" table:"INCOMPLETE,wide,bad" doc:"further packets of which some postcards are missing"`
	First      time.Time `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last       time.Time `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
	// Residence is the sum of the hops' latencies, each measured by one clock. EndToEnd is egress of the last hop minus
	// ingress of the first, by two clocks: samples that contradict Residence are left out and counted in ClockErrors.
	Residence   *Distribution `json:"residence_ns,omitempty" filter:",alias=latency" table:"RESIDENCE,of=p50+p99" doc:"time in all hops together"`
	EndToEnd    *Distribution `json:"end_to_end_ns,omitempty" filter:",only=min+mean+max" doc:"time from the first hop to the last, by two clocks"`
	ClockErrors uint64        `json:"clock_errors,omitempty" table:"CLOCK ERRORS,wide,bad" doc:"packets whose end-to-end time contradicts their residence time"`
	// EndToEnd without the difference of the clocks
	Delay  *Delay  `json:"delay" filter:"-" table:"END TO END,wide,of=ns.p50+ns.p99+uncertainty_ns+unknown"`
	Sample *Sample `json:"sample,omitempty" filter:",is=kind" table:"SAMPLE,of=kind" doc:"which packets the figures tell of"`
	// Unknown are the parts of the way of which nobody told: beginning, middle and end.
	Unknown []string `json:"unknown,omitempty" nullable:"false" doc:"parts of the way that are not known: beginning, middle, end"`
	// Uncertain: postcards had the same TTL, so that the order of some hops is that of arrival.
	Uncertain bool `json:"uncertain,omitempty" doc:"the order of some hops is that in which their postcards came"`
	// PacketsEstimated is of all packets, where the rate is known at which the source samples them.
	PacketsEstimated *uint64 `json:"packets_estimated,omitempty" filter:"-" doc:"of all packets, where the rate is known at which the source samples them"`
}

// A FlowPath is a path that packets of a flow took, with what this flow met on it.
type FlowPath struct {
	ID      string    `json:"id"`
	Hops    []PathHop `json:"hops"`
	Packets uint64    `json:"packets"`
	First   time.Time `json:"first"`
	Last    time.Time `json:"last"`
	Sample  *Sample   `json:"sample,omitempty"`  // of which packets its figures tell
	Unknown []string  `json:"unknown,omitempty"` // parts of the way that are not known: beginning, middle, end
}

// A Flow is a flow and what telemetry saw of it.
type Flow struct {
	ID string `json:"id" filter:",alias=flow" table:"ID,wide" doc:"id of the flow"`
	Endpoints
	SrcName string     `json:"src_name,omitempty" filter:"-" host:"Src" doc:"name of the source, if the inventory has one"`
	DstName string     `json:"dst_name,omitempty" filter:"-" host:"Dst" doc:"name of the destination, if the inventory has one"`
	Outer   *Endpoints `json:"outer,omitempty" filter:",only=src+dst" doc:" of the tunnel"`
	DSCP    uint8      `json:"dscp" table:"DSCP,wide" doc:"DSCP of the latest packet"`
	First   time.Time  `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last    time.Time  `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
	Reports uint64     `json:"reports" table:"REPORTS,wide" doc:"reports about it"`
	Packets uint64     `json:"packets" table:"PACKETS" doc:"packets that reports tell of"`
	Probes  uint64     `json:"probes,omitempty" filter:"-" doc:"copies and packets that are not delivered; not in packets"`
	Bytes   uint64     `json:"bytes" kind:"size" table:"BYTES" doc:"IP lengths of those packets, without INT"`
	Drops   uint64     `json:"drops" table:"DROPS,bad" doc:"packets that were reported as dropped"`
	// also those of which only the report was lost
	Missing     *uint64       `json:"missing,omitempty" table:"MISSING,wide,bad" live:"ask for the list of now" doc:"packets that the source numbered and that nobody reported, neither as come nor as dropped"`
	Device      string        `json:"device,omitempty" table:"DEVICE,wide" doc:"Transparent Security source device"`
	Residence   *Distribution `json:"residence_ns,omitempty" filter:",alias=latency" table:"RESIDENCE,of=p50+p99" doc:"time in all hops together"`
	EndToEnd    *Distribution `json:"end_to_end_ns,omitempty" filter:",only=min+mean+max" table:"END TO END MEAN,wide,of=mean" doc:"time from the first hop to the last, by two clocks"`
	EndToEndBy  *ClockOffset  `json:"end_to_end_clocks,omitempty" filter:"-"` // what EndToEnd has to be corrected by
	Sample      *Sample       `json:"sample,omitempty" filter:",is=kind" table:"SAMPLE,of=kind" doc:"which packets the figures tell of"`
	Paths       []FlowPath    `json:"paths" table:"PATH,last" doc:"paths that it took, the latest first"`
	PathChanges uint64        `json:"path_changes" table:"PATH CHANGES,wide" doc:"how often it took another path than the packet before"`
	// Of all packets, where the rate is known at which the source samples them.
	PacketsEstimated *uint64 `json:"packets_estimated,omitempty" filter:"-" table:"ESTIMATED,wide" doc:"of all packets, where the rate is known at which the source samples them"`
	BytesEstimated   *uint64 `json:"bytes_estimated,omitempty" filter:"-" doc:"the same of bytes"`
}

// A Node is a device that appeared in reports.
type Node struct {
	ID        uint32        `json:"id" filter:"node,alias=id" kind:"node" table:"NODE" doc:"the node"`
	Name      string        `json:"name,omitempty" table:"NAME" doc:"its name, if it has one"`
	Packets   uint64        `json:"packets" table:"PACKETS" doc:"packets that it forwarded or dropped"`
	Drops     uint64        `json:"drops" table:"DROPS,bad" doc:"packets that it dropped"`
	First     time.Time     `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last      time.Time     `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
	Ports     []uint32      `json:"ports" filter:"port,many" table:"PORTS,wide" doc:"each port that packets passed"`
	LatencyNs *Distribution `json:"latency_ns,omitempty" table:"LATENCY,of=p50+p99+max" doc:"time in the node"`
	Sample    *Sample       `json:"sample,omitempty" filter:",is=kind" table:"SAMPLE,of=kind" doc:"which packets the figures tell of"`
	QueueMax  *uint32       `json:"queue_max,omitempty" filter:",alias=queue" unit:"of the device" table:"QUEUE MAX" doc:"highest queue occupancy"`
	QueueUnit string        `json:"queue_unit,omitempty" table:"UNIT" doc:"what its queues are counted in: bytes, packets, cells:N of N bytes each, cells or unknown"`
}

// A Link joins an egress port of one node with an ingress port of the next, as paths show it.
type Link struct {
	From         uint32   `json:"from" kind:"node" table:"FROM,named=from_name" doc:"node that packets left"`
	FromName     string   `json:"from_name,omitempty" filter:"-" doc:"its name, if it has one"`
	FromPort     *uint32  `json:"from_port" table:"PORT,named=from_port_name" doc:"level 1 interface by which packets left"`
	FromPortName string   `json:"from_port_name,omitempty" filter:"-" port:"From,FromPort" doc:"its name, if the inventory has one"`
	To           uint32   `json:"to" kind:"node" table:"TO,named=to_name" doc:"node that packets came to"`
	ToName       string   `json:"to_name,omitempty" filter:"-" doc:"its name, if it has one"`
	ToPort       *uint32  `json:"to_port" table:"PORT,named=to_port_name" doc:"level 1 interface by which packets came in"`
	ToPortName   string   `json:"to_port_name,omitempty" filter:"-" port:"To,ToPort" doc:"its name, if the inventory has one"`
	_            struct{} `filter:"node,any=from+to" doc:"either node"`
	Packets      uint64   `json:"packets" table:"PACKETS" doc:"packets on the link"`
	// Incomplete counts further packets that took it as far as their postcards show, some of which are missing.
	Incomplete uint64 `json:"incomplete,omitempty" filter:"-" table:"INCOMPLETE,wide,bad" doc:"further packets on it of which some postcards are missing"`
	// Confidence is how sure it is that the link is there, from 0 to below 1: of all packets at that port of either
	// node, and one more that shows another link, the share that took this one. The end with the lower share counts.
	Confidence float64 `json:"confidence" filter:"-" table:"SURE,wide" doc:"how sure it is that the link is there, from 0 to below 1"`
	// from when a packet leaves the one node to when it comes to the other
	Delay       *Delay       `json:"delay" table:"DELAY,widely=ns.min+ns.mean,of=ns.p50+ns.p99+uncertainty_ns+round_trip_ns+round_trip_uncertainty_ns+half_round_trip_ns+unknown" doc:"time on the link"`
	Sample      *Sample      `json:"sample,omitempty" filter:",is=kind" table:"SAMPLE,of=kind" doc:"which packets the figures tell of"`
	Utilization *Utilization `json:"utilization,omitempty" filter:",only=last+mean+max+unit" table:"USE,of=last+max+unit"`
	// missing for a moment or a range of the past
	Loss  *LinkLoss `json:"loss,omitempty" table:""`
	First time.Time `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last  time.Time `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
}

// A CableState compares a cable with the links that packets show.
type CableState string

const (
	CableUsed     CableState = "used"     // packets with telemetry take it
	CableUnused   CableState = "unused"   // LLDP tells of it, and no packet with telemetry took it
	CableNotTold  CableState = "not_told" // packets take it, and LLDP of one end, which was asked, does not tell of it
	CableOneEnd   CableState = "one_end"  // LLDP tells of it, and its other end is no node that is known here
	CableNoReport CableState = "silent"   // LLDP tells of it, and one of its ends is in no report
)

// A Cable is what LLDP tells of two ports, compared with the links that packets show.
type Cable struct {
	Node       uint32          `json:"node" kind:"node" table:"NODE,named=name" doc:"node at one end"`
	Name       string          `json:"name,omitempty" filter:"-" doc:"its name, if it has one"`
	Port       uint32          `json:"port" table:"PORT,named=port_name" doc:"level 1 interface that it is plugged into"`
	PortName   string          `json:"port_name,omitempty" filter:"-" port:"Node,Port" doc:"its name, if the inventory has one"`
	To         *uint32         `json:"to" kind:"node" table:"TO,named=to_name" doc:"node at the other end, if it is one that is known here"`
	ToName     string          `json:"to_name,omitempty" filter:"-" doc:"its name, or what it calls itself"`
	ToPort     *uint32         `json:"to_port" table:"PORT,named=to_port_name" doc:"level 1 interface there"`
	ToPortName string          `json:"to_port_name,omitempty" filter:"-" doc:"its name, or what the other end calls it"`
	State      CableState      `json:"state" table:"STATE" doc:"used, unused, silent, not_told or one_end: what telemetry and LLDP say of it"`
	Packets    uint64          `json:"packets" table:"PACKETS" doc:"packets with telemetry that took it, in both directions"`
	BothEnds   bool            `json:"both_ends" table:"BOTH ENDS,wide" doc:"both of its ends tell of it by LLDP"`
	Origin     InventoryOrigin `json:"origin,omitempty" table:"FROM,wide" doc:"who was asked what LLDP tells, such as snmp"`
}

// A Drop counts packets dropped at one place for one reason.
type Drop struct {
	Node            *uint32 `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name            string  `json:"name,omitempty" filter:",nameof=node" doc:"name of the node, if it has one"`
	IngressPort     *uint32 `json:"ingress_port" table:"IN,named=ingress_port_name" doc:"level 1 interface by which packets came in"`
	IngressPortName string  `json:"ingress_port_name,omitempty" filter:"-" port:"Node,IngressPort" doc:"its name, if the inventory has one"`
	EgressPort      *uint32 `json:"egress_port" table:"OUT,named=egress_port_name" doc:"level 1 interface by which packets left"`
	EgressPortName  string  `json:"egress_port_name,omitempty" filter:"-" port:"Node,EgressPort" doc:"its name, if the inventory has one"`
	Reason          uint8   `json:"reason" table:"NUMBER,wide" doc:"number of the drop reason"`
	ReasonName      string  `json:"reason_name" table:"REASON" doc:"name of the drop reason in the dialect's table, else reason_N"`
	// Of the catalogue, whatever the device calls it; see docs/reference/drop-reasons.md.
	Cause    string     `json:"cause" filter:"-" table:"CAUSE,wide" doc:"the reason in the catalogue of drop reasons"`
	Severity string     `json:"severity" filter:"-" table:"SEVERITY,wide" doc:"how bad a single drop is"`
	Meaning  string     `json:"meaning" filter:"-" doc:"what the reason means"`
	Action   string     `json:"action" filter:"-" table:"WHAT TO DO,wide,last" doc:"what to do"`
	Packets  uint64     `json:"packets" filter:",alias=drops" table:"PACKETS,bad" doc:"packets that were dropped"`
	First    time.Time  `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last     time.Time  `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
	LastFlow *Endpoints `json:"last_flow,omitempty" filter:",inline" table:"LAST FLOW,end,of=src" doc:" of the latest packet"`
	// To are the prefixes that packets were on the way to, the most first; those to others are counted in Packets only.
	To      []DropDestination `json:"to,omitempty" nullable:"false" doc:"prefixes that packets were on the way to, the most first"`
	DropKey string            `json:"drop_key,omitempty" table:"DROP KEY,wide" doc:"Transparent Security: the rule that dropped"`
}

// A DropDestination is a prefix to which packets were on the way: /24 of IPv4, /48 of IPv6.
type DropDestination struct {
	Prefix  netip.Prefix `json:"prefix"`
	Packets uint64       `json:"packets"`
}

// An Exporter is one sequence of reports: a source address, the node and hardware id in its reports.
type Exporter struct {
	Source  netip.Addr `json:"source" table:"SOURCE" doc:"address that sends the reports"`
	Node    *uint32    `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name    string     `json:"name,omitempty" filter:",nameof=node" doc:"name of the node, if it has one"`
	HWID    *uint8     `json:"hw_id" table:"HW ID" doc:"hardware id in the reports"`
	Version string     `json:"version" table:"VERSION" doc:"version of the reports, such as 2.0"`
	Dialect string     `json:"dialect" table:"DIALECT" doc:"dialect of the reports"`
	First   time.Time  `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last    time.Time  `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
	// Received counts datagrams, Reports the reports in them.
	Received uint64 `json:"received" table:"RECEIVED" doc:"datagrams received"`
	Reports  uint64 `json:"reports" table:"REPORTS" doc:"usable reports in them"`
	// Lost is nil where the sequence numbers do not count; LossKnown says so in words.
	Lost *uint64 `json:"lost" table:"LOST" doc:"datagrams that are missing, where sequence numbers tell"`
	// RecordsLost is known where sequence numbers count records, as in IPFIX, and Lost is not.
	RecordsLost *uint64 `json:"records_lost,omitempty" table:"RECORDS LOST,wide" live:"ask for the list of now" doc:"data records that are missing, where sequence numbers count these"`
	LossKnown   string  `json:"loss_known" table:"NOTE,end" doc:"yes, or no: and why"`
	Reordered   uint64  `json:"reordered" table:"REORDERED,wide" doc:"datagrams that came late"`
	Duplicate   uint64  `json:"duplicate" table:"DUPLICATE,wide" doc:"datagrams that came again"`
	Restarted   uint64  `json:"restarted" table:"RESTARTED,wide" doc:"how often the numbers began anew"`
	// Malformed counts datagrams of which nothing could be used, Damaged those of which a part could; by error code.
	Malformed map[string]uint64 `json:"malformed" table:"MALFORMED,bad" doc:"datagrams of which nothing could be read"`
	Damaged   map[string]uint64 `json:"damaged" table:"DAMAGED,bad" doc:"datagrams of which a part could be read"`
	// Refused counts datagrams that were not looked into because their source may not send them, RefusedBecause says
	// why. A source with such datagrams is an item of its own.
	Refused        uint64 `json:"refused,omitempty" filter:"-" doc:"datagrams that were not looked into because their source may not send them"`
	RefusedBecause string `json:"refused_because,omitempty" filter:"-" doc:"why not"`
	// Samples has, by error code, the first datagram that was malformed or damaged for that reason.
	Samples map[string]Hex `json:"samples,omitempty" doc:"the first datagram that was malformed or damaged, by error code"`
	// Collector is that which received them, where others than this server do.
	Collector string `json:"collector,omitempty" filter:"-" table:"COLLECTOR,wide" doc:"collector that received them, where others than this server do"`
}

// A Delay is how long packets were on a link or a path, by two clocks whose difference is taken away: in the last one
// to two minutes, of the packets that were looked at.
type Delay struct {
	NS *Distribution `json:"ns,omitempty" filter:",inline" table:""` // missing if no delay is known
	// UncertaintyNs is by how much each of them can be wrong at most; all are wrong in about the same way.
	UncertaintyNs *uint64 `json:"uncertainty_ns,omitempty" filter:"-" table:"WITHIN" doc:"the delays are not wrong by more"`
	// Clamped counts delays that would have been negative, within the uncertainty. They count as 0.
	Clamped uint64 `json:"clamped,omitempty" filter:"-" doc:"delays that would have been negative, within the uncertainty; they count as 0"`
	Unknown string `json:"unknown,omitempty" filter:"-" table:"DELAY UNKNOWN,wide" doc:"why the delay of the latest packet is not known"`

	// Of links that are seen in both directions: the quickest packets of both together, in which the difference of the
	// clocks cancels out. Half of it is how long one direction takes if both take equally long.
	RoundTripNs            *uint64 `json:"round_trip_ns,omitempty" filter:"-" table:"ROUND TRIP" doc:"the quickest packets of both directions of the link together, within a second"`
	RoundTripUncertaintyNs *uint64 `json:"round_trip_uncertainty_ns,omitempty" filter:"-" table:"TRIP WITHIN,wide" doc:"the round trip is not wrong by more"`
	HalfRoundTripNs        *uint64 `json:"half_round_trip_ns,omitempty" filter:"-" table:"HALF TRIP,wide" doc:"half of the round trip: the quickest of one direction, if both take equally long"`
}

// A ClockOffset is by how much the clock of the last node of a flow is ahead of that of the first. A time by both is
// that much too long.
type ClockOffset struct {
	OffsetNs      *int64 `json:"offset_ns,omitempty" doc:"how far the clock of the last node is ahead of that of the first"`
	UncertaintyNs *int64 `json:"uncertainty_ns,omitempty" doc:"the offset is not wrong by more"`
	Unknown       string `json:"unknown,omitempty" doc:"why it is not known; then times by both clocks are not to be trusted"`
}

// A Clock is the clock of a node against that of its reference. What is nil is not known.
type Clock struct {
	Node          uint32 `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name          string `json:"name,omitempty" doc:"its name, if it has one"`
	Reference     uint32 `json:"reference" kind:"node" table:"REFERENCE,named=reference_name" doc:"the node whose clock it is compared with"`
	ReferenceName string `json:"reference_name,omitempty" doc:"its name, if it has one"`
	// between the two, over which uncertainties add up
	Links   int    `json:"links" table:"LINKS,wide" doc:"links between the two, over which uncertainties add up"`
	Trusted bool   `json:"trusted" table:"STATE,end" doc:"times by it are trusted"`
	Reason  string `json:"reason,omitempty" doc:"why not, or in which special way"`
	// positive: ahead of the reference
	OffsetNs *int64 `json:"offset_ns" table:"OFFSET" doc:"how far it is ahead of the reference"`
	// OffsetNs is not wrong by more
	UncertaintyNs *int64 `json:"uncertainty_ns" table:"WITHIN" doc:"the offset is not wrong by more"`
	// positive: faster than the reference, parts per 10^9
	DriftPPB *float64 `json:"drift_ppb" unit:"parts per 10^9" table:"DRIFT" doc:"how much faster than the reference it is"`
	// DriftPPB is not wrong by more
	DriftWithin *float64 `json:"drift_uncertainty_ppb" unit:"parts per 10^9" table:"WITHIN,wide" doc:"the drift is not wrong by more"`
	// for which the two were compared
	SpanNs *int64 `json:"span_ns" doc:"for how long the two were compared"`

	LastJump *ClockJump `json:"last_jump,omitempty" table:"" doc:"when it was set last"`
}

// A ClockJump says that a clock was set, between two moments.
type ClockJump struct {
	After         time.Time `json:"after" doc:"it was set after this time"`
	Before        time.Time `json:"before" table:"LAST JUMP" doc:"it was set before this time"`
	StepNs        int64     `json:"step_ns" table:"BY" doc:"by how much it was set forward"` // positive: forward
	UncertaintyNs int64     `json:"uncertainty_ns" doc:"the step is not wrong by more"`
}

// A NodeHop is what packets met at a node on the way from one port to another, over all paths.
type NodeHop struct {
	Node            uint32        `json:"node" kind:"node" table:"NODE,named=name" doc:"the node"`
	Name            string        `json:"name,omitempty" doc:"its name, if it has one"`
	IngressPort     *uint32       `json:"ingress_port" table:"IN,named=ingress_port_name" doc:"level 1 interface by which packets came in"`
	IngressPortName string        `json:"ingress_port_name,omitempty" filter:"-" port:"Node,IngressPort" doc:"its name, if the inventory has one"`
	EgressPort      *uint32       `json:"egress_port" table:"OUT,named=egress_port_name" doc:"level 1 interface by which packets left"`
	EgressPortName  string        `json:"egress_port_name,omitempty" filter:"-" port:"Node,EgressPort" doc:"its name, if the inventory has one"`
	Packets         uint64        `json:"packets" table:"PACKETS" doc:"packets that took this way"`
	Incomplete      uint64        `json:"incomplete,omitempty" filter:"-" table:"INCOMPLETE,wide,bad" doc:"further packets on the way through it, whose postcards of it are missing"`
	First           time.Time     `json:"first" table:"FIRST SEEN,wide,end" doc:"when the first report about it was received"`
	Last            time.Time     `json:"last" table:"LAST SEEN,end" doc:"when the latest report about it was received"`
	LatencyNs       *Distribution `json:"latency_ns,omitempty" table:"LATENCY,widely=min+mean,of=p50+p99+max" doc:"time in the node"`
	Sample          *Sample       `json:"sample,omitempty" filter:",is=kind" table:"SAMPLE,of=kind" doc:"which packets the figures tell of"`
	Queue           *Queue        `json:"queue,omitempty" filter:"queue_max,is=max,alias=queue" table:"QUEUE,of=mean+max+id"`
}
