package types

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A FlowRecord is what was counted of a flow on a path.
type FlowRecord struct {
	Start        *time.Time  `json:"start,omitempty" store:"start"`
	ID           *string     `json:"id,omitempty" store:"id" group:"default" kept:"10s"`
	Src          *netip.Addr `json:"src,omitempty" store:"src_hi,src_lo" group:"default"`
	Dst          *netip.Addr `json:"dst,omitempty" store:"dst_hi,dst_lo" group:"default"`
	SrcPort      *uint16     `json:"src_port,omitempty" store:"src_port" group:"default" kept:"10s"`
	DstPort      *uint16     `json:"dst_port,omitempty" store:"dst_port" group:"default" kept:"1m"`
	Protocol     *Protocol   `json:"protocol,omitempty" store:"protocol" group:"default"`
	TunnelID     *uint32     `json:"tunnel_id,omitempty" store:"tunnel_id" group:"default"`
	DSCP         *uint8      `json:"dscp,omitempty" store:"dscp" group:"more"`
	Device       *string     `json:"device,omitempty" store:"device" group:"more" kept:"1m"`
	Path         *PathID     `json:"path,omitempty" store:"path_id" group:"more" kept:"1m"`
	Packets      *uint64     `json:"packets,omitempty" store:"packets"`
	Bytes        *uint64     `json:"bytes,omitempty" kind:"size" store:"bytes"`
	Drops        *uint64     `json:"drops,omitempty" store:"drops"`
	Reports      *uint64     `json:"reports,omitempty" store:"reports"`
	PathChanges  *uint64     `json:"path_changes,omitempty" store:"path_changes"`
	ResidenceMin *int64      `json:"residence_min_ns,omitempty" store:"residence_min"`
	Residence    *int64      `json:"residence_mean_ns,omitempty" store:"residence_mean"`
	ResidenceMax *int64      `json:"residence_max_ns,omitempty" store:"residence_max"`
	EndToEnd     *int64      `json:"end_to_end_mean_ns,omitempty" store:"end_to_end_mean"`
}

// A PathRecord is what was counted of a path.
type PathRecord struct {
	Start        *time.Time `json:"start,omitempty" store:"start"`
	ID           *PathID    `json:"id,omitempty" store:"path_id" group:"default"`
	Packets      *uint64    `json:"packets,omitempty" store:"packets"`
	Incomplete   *uint64    `json:"incomplete,omitempty" store:"incomplete"`
	ClockErrors  *uint64    `json:"clock_errors,omitempty" store:"clock_errors"`
	ResidenceMin *int64     `json:"residence_min_ns,omitempty" store:"residence_min"`
	Residence    *int64     `json:"residence_mean_ns,omitempty" store:"residence_mean"`
	ResidenceP50 *int64     `json:"residence_p50_ns,omitempty" store:"residence_p50"`
	ResidenceP99 *int64     `json:"residence_p99_ns,omitempty" store:"residence_p99"`
	ResidenceMax *int64     `json:"residence_max_ns,omitempty" store:"residence_max"`
	EndToEnd     *int64     `json:"end_to_end_mean_ns,omitempty" store:"end_to_end_mean"`
}

// A HopRecord is what was counted at a node between two of its ports.
type HopRecord struct {
	Start       *time.Time `json:"start,omitempty" store:"start"`
	Node        *uint32    `json:"node,omitempty" store:"node" group:"default"`
	Name        string     `json:"name,omitempty" node:"Node"`
	IngressPort *uint32    `json:"ingress_port,omitempty" store:"ingress_port" group:"default"`
	EgressPort  *uint32    `json:"egress_port,omitempty" store:"egress_port" group:"default"`
	Dropped     *bool      `json:"dropped,omitempty" store:"dropped" group:"more"`
	Packets     *uint64    `json:"packets,omitempty" store:"packets"`
	LatencyMin  *int64     `json:"latency_min_ns,omitempty" store:"latency_min"`
	Latency     *int64     `json:"latency_mean_ns,omitempty" store:"latency_mean"`
	LatencyP50  *int64     `json:"latency_p50_ns,omitempty" store:"latency_p50"`
	LatencyP99  *int64     `json:"latency_p99_ns,omitempty" store:"latency_p99"`
	LatencyMax  *int64     `json:"latency_max_ns,omitempty" store:"latency_max"`
}

// A QueueRecord is how long packets found a queue.
type QueueRecord struct {
	Start      *time.Time `json:"start,omitempty" store:"start"`
	Node       *uint32    `json:"node,omitempty" store:"node" group:"default"`
	Name       string     `json:"name,omitempty" node:"Node"`
	EgressPort *uint32    `json:"egress_port,omitempty" store:"egress_port" group:"default"`
	Queue      *uint8     `json:"queue,omitempty" store:"queue_id" group:"default"`
	Samples    *uint64    `json:"samples,omitempty" store:"samples"`
	Mean       *float64   `json:"occupancy_mean,omitempty" store:"occupancy_mean"`
	Max        *uint32    `json:"occupancy_max,omitempty" store:"occupancy_max"`
}

// A LinkRecord is how many packets a link carried, how long it kept them, and how busy its egress port was, in the unit of the device.
type LinkRecord struct {
	Start    *time.Time `json:"start,omitempty" store:"start"`
	From     *uint32    `json:"from,omitempty" store:"from_node" group:"default"`
	FromName string     `json:"from_name,omitempty" node:"From"`
	FromPort *uint32    `json:"from_port,omitempty" store:"from_port" group:"default"`
	To       *uint32    `json:"to,omitempty" store:"to_node" group:"default"`
	ToName   string     `json:"to_name,omitempty" node:"To"`
	ToPort   *uint32    `json:"to_port,omitempty" store:"to_port" group:"default"`
	Packets  *uint64    `json:"packets,omitempty" store:"packets"`
	DelayMin *int64     `json:"delay_min_ns,omitempty" store:"delay_min"`
	Delay    *int64     `json:"delay_mean_ns,omitempty" store:"delay_mean"`
	DelayP50 *int64     `json:"delay_p50_ns,omitempty" store:"delay_p50"`
	DelayP99 *int64     `json:"delay_p99_ns,omitempty" store:"delay_p99"`
	DelayMax *int64     `json:"delay_max_ns,omitempty" store:"delay_max"`
	Told     *uint64    `json:"utilization_samples,omitempty" store:"utilization_samples"` // packets that told of it
	Use      *float64   `json:"utilization_mean,omitempty" store:"utilization_mean"`
	UseMax   *uint32    `json:"utilization_max,omitempty" store:"utilization_max"`
}

// A DropRecord is how many packets were dropped at a place for a reason.
type DropRecord struct {
	Start       *time.Time  `json:"start,omitempty" store:"start"`
	Node        *uint32     `json:"node,omitempty" store:"node" group:"default"`
	Name        string      `json:"name,omitempty" node:"Node"`
	IngressPort *uint32     `json:"ingress_port,omitempty" store:"ingress_port" group:"default"`
	EgressPort  *uint32     `json:"egress_port,omitempty" store:"egress_port" group:"default"`
	Reason      *uint8      `json:"reason,omitempty" store:"reason" group:"default"`
	ReasonName  *string     `json:"reason_name,omitempty" store:"reason_name" group:"default"`
	Dst         *netip.Addr `json:"dst,omitempty" store:"dst_hi,dst_lo" group:"more" kept:"10s"`
	Packets     *uint64     `json:"packets,omitempty" store:"packets"`
}

// An ExporterRecord is what became of the reports of an exporter. Lost is below 0 where late datagrams were taken off losses
// of before.
type ExporterRecord struct {
	Start     *time.Time  `json:"start,omitempty" store:"start"`
	Source    *netip.Addr `json:"source,omitempty" store:"source_hi,source_lo" group:"default"`
	Node      *uint32     `json:"node,omitempty" store:"node" group:"default"`
	Name      string      `json:"name,omitempty" node:"Node"`
	HWID      *uint8      `json:"hw_id,omitempty" store:"hw_id" group:"default"`
	Version   *string     `json:"version,omitempty" store:"version" group:"more"`
	Dialect   *string     `json:"dialect,omitempty" store:"dialect" group:"more"`
	LossKnown *string     `json:"loss_known,omitempty" store:"loss_known" group:"more"`
	Received  *uint64     `json:"received,omitempty" store:"received"`
	Reports   *uint64     `json:"reports,omitempty" store:"reports"`
	Lost      *int64      `json:"lost,omitempty" store:"lost"`
	Reordered *int64      `json:"reordered,omitempty" store:"reordered"`
	Duplicate *int64      `json:"duplicate,omitempty" store:"duplicate"`
	Restarted *int64      `json:"restarted,omitempty" store:"restarted"`
	Malformed *uint64     `json:"malformed,omitempty" store:"malformed"`
	Damaged   *uint64     `json:"damaged,omitempty" store:"damaged"`
}

// A Frame is what an answer about a time range says beside its list. Total of its Head is how many items came up to now: the
// store does not count those that follow.
type Frame struct {
	Since        time.Time `json:"since"`
	Until        time.Time `json:"until"`         // not part of it
	ResolutionNs int64     `json:"resolution_ns"` // length of the longest intervals that were looked at
}

// A History answers a list that is asked with a time range.
type (
	FlowHistory struct {
		Head
		Frame
		Flows []FlowRecord `json:"flows"`
	}
	PathHistory struct {
		Head
		Frame
		Paths []PathRecord `json:"paths"`
	}
	HopHistory struct {
		Head
		Frame
		Hops []HopRecord `json:"hops"`
	}
	QueueHistory struct {
		Head
		Frame
		Queues []QueueRecord `json:"queues"`
	}
	LinkHistory struct {
		Head
		Frame
		Links []LinkRecord `json:"links"`
	}
	DropHistory struct {
		Head
		Frame
		Drops []DropRecord `json:"drops"`
	}
	ExporterHistory struct {
		Head
		Frame
		Exporters []ExporterRecord `json:"exporters"`
	}
	EventHistory struct {
		Head
		Frame
		Events []telemetry.Event `json:"events"`
	}
)
