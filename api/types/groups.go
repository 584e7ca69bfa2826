package types

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An EventGroup is what is counted of events.
type EventGroup struct {
	Start    *time.Time           `json:"start,omitempty" store:"start" doc:"when the piece of the time range begins, with interval"`
	Node     *uint32              `json:"node,omitempty" store:"at_node" group:"more" doc:"the node"`
	Name     string               `json:"name,omitempty" node:"Node" doc:"name of the node, if it has one"`
	Kind     *telemetry.EventKind `json:"kind,omitempty" store:"kind" group:"default" doc:"what happened"`
	Severity *telemetry.Severity  `json:"severity,omitempty" store:"severity" group:"more" doc:"how bad it is"`
	Events   *uint64              `json:"events,omitempty" store:"events" doc:"events that were counted"`
	Open     *uint64              `json:"open,omitempty" store:"still_open" doc:"events that go on"`
	Count    *uint64              `json:"count,omitempty" store:"amount" doc:"what the events counted"`
	First    *time.Time           `json:"first,omitempty" store:"first" doc:"when the first of them began"`
	Last     *time.Time           `json:"last,omitempty" store:"last" doc:"when the latest of them began"`
}

// A BurstGroup is what is counted of bursts.
type BurstGroup struct {
	Start     *time.Time `json:"start,omitempty" store:"start" doc:"when the piece of the time range begins, with interval"`
	Node      *uint32    `json:"node,omitempty" store:"node" group:"default" doc:"the node"`
	Name      string     `json:"name,omitempty" node:"Node" doc:"name of the node, if it has one"`
	Port      *uint32    `json:"port,omitempty" store:"egress_port" group:"default" doc:"level 1 interface behind the queue"`
	Queue     *uint8     `json:"queue,omitempty" store:"queue_id" group:"default" doc:"the queue"`
	Incast    *bool      `json:"incast,omitempty" store:"incast" group:"more" doc:"many senders came together"`
	Bursts    *uint64    `json:"bursts,omitempty" store:"bursts" doc:"bursts that were counted"`
	PeakBytes *uint64    `json:"peak_bytes,omitempty" kind:"size" store:"peak_bytes_max" doc:"bytes in the longest of the queues"`
	PeakDelay *int64     `json:"peak_delay_ns,omitempty" store:"peak_delay_max" doc:"the longest wait"`
	Duration  *int64     `json:"duration_max_ns,omitempty" store:"duration_max" doc:"how long the longest lasted"`
	Packets   *uint64    `json:"packets,omitempty" store:"packets_sum" doc:"packets that were counted"`
	Bytes     *uint64    `json:"bytes,omitempty" kind:"size" store:"bytes_sum" doc:"IP lengths of those packets, without INT"`
	Drops     *uint64    `json:"drops,omitempty" store:"drops_sum" doc:"packets that were dropped"`
	First     *time.Time `json:"first,omitempty" store:"first" doc:"when the first of them began"`
	Last      *time.Time `json:"last,omitempty" store:"last" doc:"when the latest of them began"`
}

// A LossGroup is what became of the datagrams of several exporters. What is not known of one of them is nil.
type LossGroup struct {
	Source    *netip.Addr `json:"source,omitempty" group:"more" doc:"address that sends the reports"`
	Node      *uint32     `json:"node,omitempty" group:"default" doc:"the node"`
	Name      string      `json:"name,omitempty" node:"Node" doc:"name of the node, if it has one"`
	HWID      *uint8      `json:"hw_id,omitempty" group:"more" doc:"hardware id in the reports"`
	Version   *string     `json:"version,omitempty" group:"more" doc:"version of the reports"`
	Exporters *uint64     `json:"exporters,omitempty" doc:"exporters that were counted"`
	Received  *uint64     `json:"received,omitempty" doc:"datagrams received"`
	Sent      *uint64     `json:"sent,omitempty" doc:"how far the sequence numbers advanced"`
	Arrived   *uint64     `json:"arrived,omitempty" doc:"different numbers that arrived"`
	Lost      *uint64     `json:"lost,omitempty" doc:"datagrams that are missing, where sequence numbers tell"`
	Away      *uint64     `json:"away,omitempty" doc:"numbers that went by while no collector was running"`
	Late      *uint64     `json:"late,omitempty" doc:"numbers that arrived after their interval was closed"`
	Duplicate *uint64     `json:"duplicate,omitempty" doc:"datagrams that came again"`
	Reordered *uint64     `json:"reordered,omitempty" doc:"datagrams that came late"`
	Restarted *uint64     `json:"restarted,omitempty" doc:"how often the sequence numbers began anew"`
	Decoded   *uint64     `json:"decoded,omitempty" doc:"datagrams of which all could be read"`
	Damaged   *uint64     `json:"damaged,omitempty" doc:"datagrams of which a part could be read"`
	Malformed *uint64     `json:"malformed,omitempty" doc:"datagrams of which nothing could be read"`
	Reports   *uint64     `json:"reports,omitempty" doc:"usable reports"`
}

// A GroupFrame is what an answer with groups says of its time range, if it is about one.
type GroupFrame struct {
	Since        *time.Time `json:"since,omitempty"`
	Until        *time.Time `json:"until,omitempty"`         // not part of it
	ResolutionNs *int64     `json:"resolution_ns,omitempty"` // 0: each event counts where it began
}

// Lists that are asked with group_by.
type (
	EventGroups struct {
		Head
		GroupFrame
		Events []EventGroup `json:"events"`
	}
	BurstGroups struct {
		Head
		GroupFrame
		Bursts []BurstGroup `json:"bursts"`
	}
	LossGroups struct {
		Head
		LossFrame
		Loss []LossGroup `json:"loss"`
	}
)
