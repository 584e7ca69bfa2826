package telemetry

import "net/netip"

// A DropInterval counts packets dropped at one place for one reason.
type DropInterval struct {
	StartNs int64
	Place   `store:"node+ingress_port+egress_port"`
	Reason  uint8       `store:"reason"`
	Reasons ReasonTable `store:"reason_name,text"`                     // that Reason is a number of
	DropKey uint64      `store:"drop_key,minute,text" known:"DropKey"` // Transparent Security: the rule; 0: none
	Flow    FlowKey     `store:",finest" known:"HasFlow"`              // of the latest one, where HasFlow is set
	HasFlow bool
	Packets uint64 `store:"packets,sum"`
}

// An ExporterInterval is what an exporter sent, and what was lost of it. Counts that sank, because a late datagram was
// taken off the losses, are negative.
type ExporterInterval struct {
	StartNs          int64
	Source           netip.Addr `store:"source"`
	Node             uint32     `store:"node" known:"HasNode"`
	HWID             uint8      `store:"hw_id" known:"HasHWID"`
	HasNode, HasHWID bool
	Version          string `store:"version" known:"Version"`
	Dialect          string `store:"dialect" known:"Dialect"`
	LossKnown        string `store:"loss_known"` // "yes", or "no: " and why
	Received         uint64 `store:"received,sum"`
	Reports          uint64 `store:"reports,sum"`
	Lost             int64  `store:"lost,sum"`
	Reordered        int64  `store:"reordered,sum"`
	Duplicate        int64  `store:"duplicate,sum"`
	Restarted        int64  `store:"restarted,sum"`
	Malformed        uint64 `store:"malformed,sum"`
	Damaged          uint64 `store:"damaged,sum"`
}
