package telemetry

// A PathInterval is what was seen on a path, over all flows that took it.
type PathInterval struct {
	StartNs             int64
	Path                uint64
	Packets, Incomplete uint64
	ClockErrors         uint64
	Residence, EndToEnd Histogram
}

// A Route is the way that a path leads. It is given once, when the path is met first.
type Route struct {
	StartNs   int64
	Path      uint64
	Uncertain bool
	Stations  []Station
}

// A Station is a hop of a Route. Missing counts nodes that sent nothing.
type Station struct {
	Place
	Missing uint8
}

// A HopInterval is what packets met between an ingress and an egress port of a node, over all paths.
type HopInterval struct {
	StartNs int64
	Place
	Packets uint64
	Latency Histogram
}

// A QueueInterval is what packets said of a queue. Occupancies are in the unit of the device.
type QueueInterval struct {
	StartNs int64
	Place   // without ingress port
	Queue   uint8
	Samples uint64 // packets that said something
	Sum     uint64 // of their occupancies
	Max     uint32
}

// A LinkInterval is what was carried from one node to the next.
type LinkInterval struct {
	StartNs  int64
	From, To Place // an egress port and an ingress port
	Packets  uint64
	// Delay are the delays that became known in the interval, of packets that were looked at in the seconds before: times by two
	// clocks without their difference. Each may be wrong by DelayUncertaintyNs at most; DelayClamped of them would have been
	// negative and count as 0.
	Delay              Histogram
	DelayUncertaintyNs uint64
	DelayClamped       uint64
	// Utilization is what From said of the use of its egress port, with packets that took the link.
	Utilization UtilizationSum
}

// A HostInterval is what came from a host, or went to it, at the place where it is attached.
type HostInterval struct {
	StartNs  int64
	Addr     Addr
	Tunnel   Tunnel // that it is in
	TunnelID uint32
	Node     uint32
	Port     uint32 // if HasPort is set
	HasPort  bool
	Packets  uint64
}

// A BurstFlow is a flow of a Burst: one that made it, or else one that waited.
type BurstFlow struct {
	Burst        *Burst
	Culprit      bool
	Flow         *Endpoints // nil if it is not known
	Packets      uint64     // in the whole burst, as all that follows
	Bytes, Drops uint64
	BuildUpBytes uint64  // of a culprit: up to the peak
	Share        float64 // of a culprit: of the build-up's bytes, 0 to 1
	ExtraNs      uint64  // of a victim: waited beyond what the empty queue costs, over all its packets that were seen
	MaxExtraNs   uint64  // of a victim: of one packet
}
