package telemetry

// A PathInterval is what was seen on a path, over all flows that took it.
type PathInterval struct {
	StartNs     int64
	Path        uint64    `store:"path_id"`
	Packets     uint64    `store:"packets,sum"`
	Incomplete  uint64    `store:"incomplete,sum"`
	ClockErrors uint64    `store:"clock_errors,sum"`
	Residence   Histogram `store:"residence"`
	EndToEnd    Histogram `store:"end_to_end"`
	Sample      SampleSum `store:"sample_"` // which packets it tells of, but for Incomplete
}

// A Route is the way that a path leads. It is given once, when the path is met first.
type Route struct {
	StartNs   int64
	Path      uint64
	Uncertain bool
	Elements  []PathElement
}

// A PathElement is a hop of a Route. Missing counts nodes that sent nothing.
type PathElement struct {
	Place
	Missing uint8
}

// A HopInterval is what packets met between an ingress and an egress port of a node, over all paths.
type HopInterval struct {
	StartNs int64
	Place   `store:"node+ingress_port+egress_port+dropped"`
	Packets uint64    `store:"packets,sum"`
	Latency Histogram `store:"latency"`
	Sample  SampleSum `store:"sample_"` // which packets it tells of, but for Incomplete
	// Incomplete are packets of which other nodes told, and this one did not: its postcards are missing. It is below 0
	// where they came late, after such an interval.
	Incomplete int64 `store:"incomplete,sum"`
}

// A QueueInterval is what packets said of a queue. Occupancies are in Unit.
type QueueInterval struct {
	StartNs int64
	Place   `store:"node+egress_port"` // without ingress port
	Queue   uint8                      `store:"queue_id"`
	Samples uint64                     `store:"samples,sum"`       // packets that said something
	Sum     uint64                     `store:"occupancy_sum,sum"` // of their occupancies
	Max     uint32                     `store:"occupancy_max,high"`
	Unit    string                     `store:"unit"`    // of a QueueUnit; empty: unknown
	Sample  SampleSum                  `store:"sample_"` // which packets it tells of
}

// A QueueHistogram is how deep a queue was for the packets that told of it, in Unit, since the table has it.
type QueueHistogram struct {
	Node    uint32
	Port    *uint32 // egress; nil: not known
	Queue   uint8
	Unit    string   // of a QueueUnit
	Sum     uint64   // of all depths
	Buckets []Bucket // those that are not empty
}

// A LinkInterval is what was carried from one node to the next.
type LinkInterval struct {
	StartNs int64
	From    Place  `store:"node=from_node+egress_port=from_port"`
	To      Place  `store:"node=to_node+ingress_port=to_port"`
	Packets uint64 `store:"packets,sum"`
	// Delay are the delays that became known in the interval, of packets that were looked at in the seconds before:
	// times by two clocks without their difference. Each may be wrong by DelayUncertaintyNs at most; DelayClamped of
	// them would have been negative and count as 0.
	Delay              Histogram `store:"delay"`
	DelayUncertaintyNs uint64    `store:"delay_uncertainty,high" known:"Delay.Count"`
	DelayClamped       uint64    `store:"delay_clamped,sum"`
	// Utilization is what From said of the use of its egress port, with packets that took the link.
	Utilization UtilizationSum `store:"utilization_"`
	Sample      SampleSum      `store:"sample_"` // which packets it tells of, but for Incomplete
	// Incomplete are further packets on paths with the link, of which some postcards are missing.
	Incomplete uint64 `store:"incomplete,sum"`
}

// A HostInterval is what came from a host, or went to it, at the place where it is attached.
type HostInterval struct {
	StartNs  int64
	Addr     Addr   `store:"address"`
	Tunnel   Tunnel `store:"tunnel" known:"Tunnel"` // that it is in
	TunnelID uint32 `store:"tunnel_id" known:"Tunnel"`
	Node     uint32 `store:"node"`
	Port     uint32 `store:"port" known:"HasPort"` // if HasPort is set
	HasPort  bool
	Packets  uint64 `store:"packets,sum"`
}

// A BurstFlow is a flow of a Burst: one that made it, or else one that waited.
type BurstFlow struct {
	Burst        *Burst     `store:"burst,text"`
	Culprit      bool       `store:"culprit"`
	Flow         *Endpoints `store:""`        // nil if it is not known
	Packets      uint64     `store:"packets"` // in the whole burst, as all that follows
	Bytes        uint64     `store:"bytes"`
	Drops        uint64     `store:"drops"`
	BuildUpBytes uint64     `store:"build_up_bytes" known:"Culprit"` // of a culprit: up to the peak
	Share        float64    `store:"share" known:"Culprit"`          // of a culprit: of the build-up's bytes, 0 to 1
	// Of a victim: for how long it waited beyond what the empty queue costs, over all its packets that were seen.
	ExtraNs    uint64 `store:"extra"`
	MaxExtraNs uint64 `store:"extra_max"` // of a victim: of one packet
}
