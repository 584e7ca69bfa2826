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
}
