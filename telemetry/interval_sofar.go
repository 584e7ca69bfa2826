package telemetry

// SoFar is what was counted of intervals that are not over, for a journal: who reads it after a crash has most of what
// the crash took. Of two records of the same the later one is valid. Flows may be missing that did not change since the
// SoFar before.
type SoFar struct {
	StartNs int64 // of the interval of flows that is open
	// Number orders what the processes of a directory have noted; 0 in journals whose notes have none.
	Number uint64
	// Intervals has no events, bursts and hosts. Of routes it has the first and the last element, for AddHosts.
	Intervals
	// Gone are flows that gave way to others: they are added to what is told of the same flow later.
	Gone []FlowInterval
}
