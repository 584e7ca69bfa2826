package event

// An Observation is what a Detector needs to know about a packet.
type Observation struct {
	Flow uint64 // a well spread hash of the flow, as telemetry.FlowKey.Hash returns it

	// What must not change in a flow without a report. Path is a hash of the path in the embedded metadata, for a sink;
	// 0 if there is none.
	IngressPort, EgressPort uint32
	Path                    uint64

	LatencyNs uint64 // of this node, or of the whole path
	NowNs     uint64 // a time that goes backwards is taken to stand still

	Start     bool // the packet begins the flow: a TCP SYN
	End       bool // the packet ends the flow: a TCP FIN or RST; needs Start of flows that come back
	ReportAll bool // the watchlist says to report every packet
}
