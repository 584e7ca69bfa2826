package telemetry

import "net/netip"

// A DropInterval counts packets dropped at one place for one reason.
type DropInterval struct {
	StartNs int64
	Place
	Reason  uint8
	Reasons ReasonTable // that Reason is a number of
	DropKey uint64      // Transparent Security: the rule; 0: none
	Packets uint64
	Flow    FlowKey // of the latest one, where HasFlow is set
	HasFlow bool
}

// An ExporterInterval is what an exporter sent, and what was lost of it. Counts that sank, because a late datagram was taken
// off the losses, are negative.
type ExporterInterval struct {
	StartNs                         int64
	Source                          netip.Addr
	Node                            uint32
	HWID                            uint8
	HasNode, HasHWID                bool
	Version, Dialect                string
	Received, Reports               uint64
	Lost                            int64
	LossKnown                       string // "yes", or "no: " and why
	Reordered, Duplicate, Restarted int64
	Malformed, Damaged              uint64
}
