package types

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A FlowRecord is what was counted of a flow on a path.
type FlowRecord struct {
	Start        *time.Time  `json:"start,omitempty" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	ID           *string     `json:"id,omitempty" store:"id" group:"default" kept:"10s" table:"ID,wide" doc:"id of the flow or path"`
	Src          *netip.Addr `json:"src,omitempty" store:"src_hi,src_lo" group:"default" table:"SOURCE" doc:"source address"`
	Dst          *netip.Addr `json:"dst,omitempty" store:"dst_hi,dst_lo" group:"default" table:"DESTINATION" doc:"destination address"`
	SrcPort      *uint16     `json:"src_port,omitempty" store:"src_port" group:"default" kept:"10s" table:"SOURCE PORT,wide" doc:"source port"`
	DstPort      *uint16     `json:"dst_port,omitempty" store:"dst_port" group:"default" kept:"1m" table:"DESTINATION PORT,wide" doc:"destination port"`
	Protocol     *Protocol   `json:"protocol,omitempty" store:"protocol" group:"default" table:"PROTOCOL" doc:"IP protocol"`
	TunnelID     *uint32     `json:"tunnel_id,omitempty" store:"tunnel_id" group:"default" table:"TUNNEL ID,wide" doc:"VNI or GRE key of the tunnel"`
	DSCP         *uint8      `json:"dscp,omitempty" store:"dscp" group:"more" table:"DSCP,wide" doc:"DSCP of packets"`
	Device       *string     `json:"device,omitempty" store:"device" group:"more" kept:"1m" table:"DEVICE,wide" doc:"Transparent Security source device"`
	Path         *PathID     `json:"path,omitempty" store:"path_id" group:"more" kept:"1m" table:"PATH,last" doc:"id of the path"`
	Packets      *uint64     `json:"packets,omitempty" store:"packets" table:"PACKETS" doc:"packets that were counted"`
	Bytes        *uint64     `json:"bytes,omitempty" kind:"size" store:"bytes" table:"BYTES" doc:"IP lengths of those packets, without INT"`
	Drops        *uint64     `json:"drops,omitempty" store:"drops" table:"DROPS,bad" doc:"packets that were dropped"`
	Reports      *uint64     `json:"reports,omitempty" store:"reports" table:"REPORTS,wide" doc:"usable reports"`
	PathChanges  *uint64     `json:"path_changes,omitempty" store:"path_changes" table:"PATH CHANGES,wide" doc:"how often flows took another path than before"`
	ResidenceMin *int64      `json:"residence_min_ns,omitempty" store:"residence_min" table:"RESIDENCE MIN,wide" doc:"shortest time in all hops together"`
	Residence    *int64      `json:"residence_mean_ns,omitempty" store:"residence_mean" table:"RESIDENCE MEAN" doc:"mean time in all hops together"`
	ResidenceMax *int64      `json:"residence_max_ns,omitempty" store:"residence_max" table:"MAX" doc:"longest time in all hops together"`
	EndToEnd     *int64      `json:"end_to_end_mean_ns,omitempty" store:"end_to_end_mean" table:"END TO END MEAN,wide" doc:"mean time from the first hop to the last, by two clocks"`
	Sample       *string     `json:"sample_kind,omitempty" store:"sample_kind" table:"SAMPLE" doc:"which packets the figures tell of"`
	Rate         *uint32     `json:"sample_rate,omitempty" store:"sample_rate" doc:"1 packet in so many, where the kind is one_in_n"`
	Complete     *float64    `json:"sample_complete,omitempty" kind:"ratio" store:"sample_complete" doc:"share of the packets that the figures tell of, where it is known"`
	// of intervals without reports
	PacketsEstimated *uint64 `json:"packets_estimated,omitempty" store:"packets_estimated" table:"ESTIMATED,wide" doc:"of all packets, by samples of devices without INT"`
	BytesEstimated   *uint64 `json:"bytes_estimated,omitempty" kind:"size" store:"bytes_estimated" doc:"the same of bytes"`
}

// A PathRecord is what was counted of a path.
type PathRecord struct {
	Start        *time.Time `json:"start,omitempty" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	ID           *PathID    `json:"id,omitempty" store:"path_id" group:"default" table:"ID" doc:"id of the flow or path"`
	Packets      *uint64    `json:"packets,omitempty" store:"packets" table:"PACKETS" doc:"packets that were counted"`
	Incomplete   *uint64    `json:"incomplete,omitempty" store:"incomplete" table:"INCOMPLETE,wide,bad" doc:"further packets of which some postcards are missing"`
	ClockErrors  *uint64    `json:"clock_errors,omitempty" store:"clock_errors" table:"CLOCK ERRORS,wide,bad" doc:"packets whose end-to-end time contradicts their residence time"`
	ResidenceMin *int64     `json:"residence_min_ns,omitempty" store:"residence_min" table:"RESIDENCE MIN,wide" doc:"shortest time in all hops together"`
	Residence    *int64     `json:"residence_mean_ns,omitempty" store:"residence_mean" table:"RESIDENCE MEAN,wide" doc:"mean time in all hops together"`
	ResidenceP50 *int64     `json:"residence_p50_ns,omitempty" store:"residence_p50" table:"RESIDENCE P50" doc:"median of the time in all hops together"`
	ResidenceP99 *int64     `json:"residence_p99_ns,omitempty" store:"residence_p99" table:"P99" doc:"99th percentile of the time in all hops together"`
	ResidenceMax *int64     `json:"residence_max_ns,omitempty" store:"residence_max" table:"MAX,wide" doc:"longest time in all hops together"`
	EndToEnd     *int64     `json:"end_to_end_mean_ns,omitempty" store:"end_to_end_mean" table:"END TO END MEAN,wide" doc:"mean time from the first hop to the last, by two clocks"`
	Sample       *string    `json:"sample_kind,omitempty" store:"sample_kind" table:"SAMPLE" doc:"which packets the figures tell of"`
	Rate         *uint32    `json:"sample_rate,omitempty" store:"sample_rate" doc:"1 packet in so many, where the kind is one_in_n"`
	Complete     *float64   `json:"sample_complete,omitempty" kind:"ratio" store:"sample_complete" doc:"share of the packets that the figures tell of, where it is known"`
}

// A HopRecord is what was counted at a node between two of its ports.
type HopRecord struct {
	Start           *time.Time `json:"start,omitempty" filter:"-" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	Node            *uint32    `json:"node,omitempty" kind:"node" store:"node" group:"default" table:"NODE,named=name" doc:"the node"`
	Name            string     `json:"name,omitempty" filter:",nameof=node" node:"Node" doc:"name of the node, if it has one"`
	IngressPort     *uint32    `json:"ingress_port,omitempty" store:"ingress_port" group:"default" table:"IN,named=ingress_port_name" doc:"level 1 interface by which packets came in"`
	IngressPortName string     `json:"ingress_port_name,omitempty" filter:"-" port:"Node,IngressPort" doc:"its name, if the inventory has one"`
	EgressPort      *uint32    `json:"egress_port,omitempty" store:"egress_port" group:"default" table:"OUT,named=egress_port_name" doc:"level 1 interface by which packets left"`
	EgressPortName  string     `json:"egress_port_name,omitempty" filter:"-" port:"Node,EgressPort" doc:"its name, if the inventory has one"`
	Dropped         *bool      `json:"dropped,omitempty" store:"dropped" group:"more" table:"DROPPED" doc:"packets were dropped here"`
	Packets         *uint64    `json:"packets,omitempty" store:"packets" table:"PACKETS" doc:"packets that were counted"`
	Incomplete      *int64     `json:"incomplete,omitempty" filter:"-" store:"incomplete" table:"INCOMPLETE,wide,bad" doc:"further packets on the way through it, whose postcards of it are missing"`
	LatencyMin      *int64     `json:"latency_min_ns,omitempty" filter:"latency.min" store:"latency_min" table:"LATENCY MIN,wide" doc:"shortest time in the node"`
	Latency         *int64     `json:"latency_mean_ns,omitempty" filter:"latency.mean,alias=latency" store:"latency_mean" table:"MEAN,wide" doc:"mean time in the node"`
	LatencyP50      *int64     `json:"latency_p50_ns,omitempty" filter:"latency.p50" store:"latency_p50" table:"LATENCY P50" doc:"median of the time in the node"`
	LatencyP99      *int64     `json:"latency_p99_ns,omitempty" filter:"latency.p99" store:"latency_p99" table:"P99" doc:"99th percentile of the time in the node"`
	LatencyMax      *int64     `json:"latency_max_ns,omitempty" filter:"latency.max" store:"latency_max" table:"MAX" doc:"longest time in the node"`
	Sample          *string    `json:"sample_kind,omitempty" filter:"-" store:"sample_kind" table:"SAMPLE" doc:"which packets the figures tell of"`
	Rate            *uint32    `json:"sample_rate,omitempty" filter:"-" store:"sample_rate" doc:"1 packet in so many, where the kind is one_in_n"`
	Complete        *float64   `json:"sample_complete,omitempty" kind:"ratio" filter:"-" store:"sample_complete" doc:"share of the packets that the figures tell of, where it is known"`
}

// A QueueRecord is how long packets found a queue.
type QueueRecord struct {
	Start          *time.Time `json:"start,omitempty" filter:"-" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	Node           *uint32    `json:"node,omitempty" kind:"node" store:"node" group:"default" table:"NODE,named=name" doc:"the node"`
	Name           string     `json:"name,omitempty" filter:",nameof=node" node:"Node" doc:"name of the node, if it has one"`
	EgressPort     *uint32    `json:"egress_port,omitempty" filter:",alias=port" store:"egress_port" group:"default" table:"PORT,named=egress_port_name" doc:"level 1 interface by which packets left"`
	EgressPortName string     `json:"egress_port_name,omitempty" filter:"-" port:"Node,EgressPort" doc:"its name, if the inventory has one"`
	Queue          *uint8     `json:"queue,omitempty" filter:"queue_id,alias=queue" store:"queue_id" group:"default" table:"QUEUE" doc:"the queue"`
	Unit           *string    `json:"unit,omitempty" store:"unit" group:"default" table:"UNIT" doc:"what occupancies are counted in: bytes, packets, cells:N of N bytes each, cells or unknown"`
	Samples        *uint64    `json:"samples,omitempty" store:"samples" table:"PACKETS" doc:"packets that told of it"`
	Mean           *float64   `json:"occupancy_mean,omitempty" filter:"occupancy.mean" unit:"of the device" store:"occupancy_mean" table:"MEAN" doc:"mean queue occupancy, in the unit of the device"`
	Max            *uint32    `json:"occupancy_max,omitempty" filter:"occupancy.max" unit:"of the device" store:"occupancy_max" table:"MAX" doc:"highest queue occupancy, in the unit of the device"`
	Sample         *string    `json:"sample_kind,omitempty" filter:"-" store:"sample_kind" table:"SAMPLE" doc:"which packets the figures tell of"`
	Rate           *uint32    `json:"sample_rate,omitempty" filter:"-" store:"sample_rate" doc:"1 packet in so many, where the kind is one_in_n"`
	Complete       *float64   `json:"sample_complete,omitempty" kind:"ratio" filter:"-" store:"sample_complete" doc:"share of the packets that the figures tell of, where it is known"`
}

// A LinkRecord is how many packets a link carried, how long it kept them, and how busy its egress port was, in the unit
// of the device.
type LinkRecord struct {
	Start        *time.Time `json:"start,omitempty" filter:"-" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	From         *uint32    `json:"from,omitempty" kind:"node" store:"from_node" group:"default" table:"FROM,named=from_name" doc:"node that packets left"`
	FromName     string     `json:"from_name,omitempty" filter:"-" node:"From" doc:"its name, if it has one"`
	FromPort     *uint32    `json:"from_port,omitempty" store:"from_port" group:"default" table:"PORT,named=from_port_name" doc:"level 1 interface by which packets left"`
	FromPortName string     `json:"from_port_name,omitempty" filter:"-" port:"From,FromPort" doc:"its name, if the inventory has one"`
	To           *uint32    `json:"to,omitempty" kind:"node" store:"to_node" group:"default" table:"TO,named=to_name" doc:"node that packets came to"`
	ToName       string     `json:"to_name,omitempty" filter:"-" node:"To" doc:"its name, if it has one"`
	ToPort       *uint32    `json:"to_port,omitempty" store:"to_port" group:"default" table:"PORT,named=to_port_name" doc:"level 1 interface by which packets came in"`
	ToPortName   string     `json:"to_port_name,omitempty" filter:"-" port:"To,ToPort" doc:"its name, if the inventory has one"`
	_            struct{}   `filter:"node,any=from+to" doc:"either node"`
	Packets      *uint64    `json:"packets,omitempty" store:"packets" table:"PACKETS" doc:"packets that were counted"`
	Incomplete   *uint64    `json:"incomplete,omitempty" filter:"-" store:"incomplete" table:"INCOMPLETE,wide,bad" doc:"further packets on it of which some postcards are missing"`
	DelayMin     *int64     `json:"delay_min_ns,omitempty" filter:"delay.min" store:"delay_min" table:"DELAY MIN,wide" doc:"shortest time on the link"`
	Delay        *int64     `json:"delay_mean_ns,omitempty" filter:"delay.mean,alias=delay" store:"delay_mean" table:"MEAN,wide" doc:"mean time on the link"`
	DelayP50     *int64     `json:"delay_p50_ns,omitempty" filter:"delay.p50" store:"delay_p50" table:"DELAY P50" doc:"median of the time on the link"`
	DelayP99     *int64     `json:"delay_p99_ns,omitempty" filter:"delay.p99" store:"delay_p99" table:"P99" doc:"99th percentile of the time on the link"`
	DelayMax     *int64     `json:"delay_max_ns,omitempty" filter:"delay.max" store:"delay_max" table:"MAX,wide" doc:"longest time on the link"`
	Told         *uint64    `json:"utilization_samples,omitempty" filter:"-" store:"utilization_samples" table:"USE SAMPLES,wide" doc:"packets that told of the utilization of the egress port"`
	Use          *float64   `json:"utilization_mean,omitempty" filter:"utilization.mean" unit:"of the device" store:"utilization_mean" table:"USE MEAN,wide" doc:"mean utilization of the egress port, in the unit of the device"`
	UseMax       *uint32    `json:"utilization_max,omitempty" filter:"utilization.max,alias=utilization" unit:"of the device" store:"utilization_max" table:"USE MAX,wide" doc:"highest utilization of the egress port, in the unit of the device"`
	Sample       *string    `json:"sample_kind,omitempty" filter:"-" store:"sample_kind" table:"SAMPLE" doc:"which packets the figures tell of"`
	Rate         *uint32    `json:"sample_rate,omitempty" filter:"-" store:"sample_rate" doc:"1 packet in so many, where the kind is one_in_n"`
	Complete     *float64   `json:"sample_complete,omitempty" kind:"ratio" filter:"-" store:"sample_complete" doc:"share of the packets that the figures tell of, where it is known"`
}

// A DropRecord is how many packets were dropped at a place for a reason.
type DropRecord struct {
	Start           *time.Time  `json:"start,omitempty" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	Node            *uint32     `json:"node,omitempty" kind:"node" store:"node" group:"default" table:"NODE,named=name" doc:"the node"`
	Name            string      `json:"name,omitempty" node:"Node" doc:"name of the node, if it has one"`
	IngressPort     *uint32     `json:"ingress_port,omitempty" store:"ingress_port" group:"default" table:"IN,named=ingress_port_name" doc:"level 1 interface by which packets came in"`
	IngressPortName string      `json:"ingress_port_name,omitempty" filter:"-" port:"Node,IngressPort" doc:"its name, if the inventory has one"`
	EgressPort      *uint32     `json:"egress_port,omitempty" store:"egress_port" group:"default" table:"OUT,named=egress_port_name" doc:"level 1 interface by which packets left"`
	EgressPortName  string      `json:"egress_port_name,omitempty" filter:"-" port:"Node,EgressPort" doc:"its name, if the inventory has one"`
	Reason          *uint8      `json:"reason,omitempty" store:"reason" group:"default" table:"NUMBER,wide" doc:"number of the drop reason"`
	ReasonName      *string     `json:"reason_name,omitempty" store:"reason_name" group:"default" table:"REASON" doc:"name of the drop reason in the dialect's table, else reason_N"`
	Dst             *netip.Addr `json:"dst,omitempty" store:"dst_hi,dst_lo" group:"more" kept:"10s" table:"DESTINATION" doc:"prefix that packets were on the way to"`
	Packets         *uint64     `json:"packets,omitempty" store:"packets" table:"PACKETS,bad" doc:"packets that were counted"`
}

// An ExporterRecord is what became of the reports of an exporter. Lost is below 0 where late datagrams were taken off
// losses of before.
type ExporterRecord struct {
	Start     *time.Time  `json:"start,omitempty" store:"start" table:"START" doc:"when the piece of the time range begins, with interval"`
	Source    *netip.Addr `json:"source,omitempty" store:"source_hi,source_lo" group:"default" table:"SOURCE" doc:"address that sends the reports"`
	Node      *uint32     `json:"node,omitempty" kind:"node" store:"node" group:"default" table:"NODE,named=name" doc:"the node"`
	Name      string      `json:"name,omitempty" node:"Node" doc:"name of the node, if it has one"`
	HWID      *uint8      `json:"hw_id,omitempty" store:"hw_id" group:"default" table:"HW ID" doc:"hardware id in the reports"`
	Version   *string     `json:"version,omitempty" store:"version" group:"more" table:"VERSION" doc:"version of the reports"`
	Dialect   *string     `json:"dialect,omitempty" store:"dialect" group:"more" table:"DIALECT" doc:"dialect of the reports"`
	LossKnown *string     `json:"loss_known,omitempty" store:"loss_known" group:"more" table:"NOTE,end" doc:"yes, or no: and why"`
	Received  *uint64     `json:"received,omitempty" store:"received" table:"RECEIVED" doc:"datagrams received"`
	Reports   *uint64     `json:"reports,omitempty" store:"reports" table:"REPORTS" doc:"usable reports"`
	Lost      *int64      `json:"lost,omitempty" store:"lost" table:"LOST" doc:"datagrams that are missing, where sequence numbers tell"`
	Reordered *int64      `json:"reordered,omitempty" store:"reordered" table:"REORDERED,wide" doc:"datagrams that came late"`
	Duplicate *int64      `json:"duplicate,omitempty" store:"duplicate" table:"DUPLICATE,wide" doc:"datagrams that came again"`
	Restarted *int64      `json:"restarted,omitempty" store:"restarted" table:"RESTARTED,wide" doc:"how often the sequence numbers began anew"`
	Malformed *uint64     `json:"malformed,omitempty" store:"malformed" table:"MALFORMED,bad" doc:"datagrams of which nothing could be read"`
	Damaged   *uint64     `json:"damaged,omitempty" store:"damaged" table:"DAMAGED,bad" doc:"datagrams of which a part could be read"`
}

// A Frame is what an answer about a time range says beside its list. Total of its Head is how many items came up to
// now: the store does not count those that follow.
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
