package telemetry

// A FlowInterval is what was seen of a flow on one path. If a flow took several paths in an interval, it has several
// records; Packets are counted for each, Drops are with paths that end with one, latencies with the others, and the
// rest is shared out by packets.
type FlowInterval struct {
	StartNs  int64
	Key      FlowKey `store:"flow"`
	OuterSrc Addr    `store:"outer_src" known:"Key.Tunnel"` // of the tunnel, where Key has one
	OuterDst Addr    `store:"outer_dst" known:"Key.Tunnel"`
	DSCP     uint8   `store:"dscp"`
	// HasDevice says that Device is known.
	HasDevice   bool
	Device      uint64         `store:"device,minute,text" known:"HasDevice"` // Transparent Security source device
	Path        uint64         `store:"path_id,minute" known:"Path"`          // identity of the path; 0: not known
	Reports     uint64         `store:"reports,sum"`
	Packets     uint64         `store:"packets,sum"`
	Bytes       uint64         `store:"bytes,sum"`
	Drops       uint64         `store:"drops,sum"`
	PathChanges uint64         `store:"path_changes,sum"`
	Residence   LatencySummary `store:"residence,quantiles"`
	EndToEnd    LatencySummary `store:"end_to_end"`
	Sample      SampleSum      `store:"sample_"` // which packets it tells of
	// PacketsEstimated and BytesEstimated are of all packets, by samples, where no report tells of them. They are with
	// no path.
	PacketsEstimated uint64 `store:"packets_estimated,sum" known:"PacketsEstimated"`
	BytesEstimated   uint64 `store:"bytes_estimated,sum" known:"PacketsEstimated"`
}

// LatencySummary sum up latencies of an interval. Count and Sum are exact. Min and Max are those of the buckets that
// the interval added to, unless the whole table's minimum or maximum changed in it; P50 and P99 are estimates as in
// Distribution.
type LatencySummary struct{ Count, Sum, Min, Max, P50, P99 uint64 }
