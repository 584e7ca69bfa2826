package telemetry

// A FlowInterval is what was seen of a flow on one path. If a flow took several paths in an interval, it has several
// records; Packets are counted for each, Drops are with paths that end with one, latencies with the others, and the rest is shared out by packets.
type FlowInterval struct {
	StartNs int64
	Key     FlowKey
	Path    uint64 // identity of the path; 0 if it is not known
	Device  uint64 // Transparent Security source device, where HasDevice is set
	DSCP    uint8
	// HasDevice says that Device is known.
	HasDevice                                   bool
	Reports, Packets, Bytes, Drops, PathChanges uint64
	Residence, EndToEnd                         Moments
	OuterSrc, OuterDst                          Addr // of the tunnel, where Key has one
}

// Moments sum up latencies of an interval. Count and Sum are exact. Min and Max are those of the buckets that the interval
// added to, unless the whole table's minimum or maximum changed in it; P50 and P99 are estimates as in Distribution.
type Moments struct{ Count, Sum, Min, Max, P50, P99 uint64 }
