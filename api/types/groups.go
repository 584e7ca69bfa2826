package types

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An EventGroup is what is counted of events.
type EventGroup struct {
	Start    *time.Time           `json:"start,omitempty" store:"start"` // of the piece of the time range, with interval
	Node     *uint32              `json:"node,omitempty" store:"at_node" group:"more"`
	Name     string               `json:"name,omitempty" node:"Node"`
	Kind     *telemetry.EventKind `json:"kind,omitempty" store:"kind" group:"default"`
	Severity *telemetry.Severity  `json:"severity,omitempty" store:"severity" group:"more"`
	Events   *uint64              `json:"events,omitempty" store:"events"`
	Open     *uint64              `json:"open,omitempty" store:"still_open"` // those that go on
	Count    *uint64              `json:"count,omitempty" store:"amount"`    // what the events counted
	First    *time.Time           `json:"first,omitempty" store:"first"`     // when the first of them began
	Last     *time.Time           `json:"last,omitempty" store:"last"`       // when the latest of them began
}

// A BurstGroup is what is counted of bursts.
type BurstGroup struct {
	Start     *time.Time `json:"start,omitempty" store:"start"` // of the piece of the time range, with interval
	Node      *uint32    `json:"node,omitempty" store:"node" group:"default"`
	Name      string     `json:"name,omitempty" node:"Node"`
	Port      *uint32    `json:"port,omitempty" store:"egress_port" group:"default"`
	Queue     *uint8     `json:"queue,omitempty" store:"queue_id" group:"default"`
	Incast    *bool      `json:"incast,omitempty" store:"incast" group:"more"`
	Bursts    *uint64    `json:"bursts,omitempty" store:"bursts"`
	PeakBytes *uint64    `json:"peak_bytes,omitempty" kind:"size" store:"peak_bytes_max"` // the highest
	PeakDelay *int64     `json:"peak_delay_ns,omitempty" store:"peak_delay_max"`          // the longest
	Duration  *int64     `json:"duration_max_ns,omitempty" store:"duration_max"`          // the longest
	Packets   *uint64    `json:"packets,omitempty" store:"packets_sum"`
	Bytes     *uint64    `json:"bytes,omitempty" kind:"size" store:"bytes_sum"`
	Drops     *uint64    `json:"drops,omitempty" store:"drops_sum"`
	First     *time.Time `json:"first,omitempty" store:"first"` // when the first of them began
	Last      *time.Time `json:"last,omitempty" store:"last"`   // when the latest of them began
}

// A LossGroup is what became of the datagrams of several exporters. What is not known of one of them is nil.
type LossGroup struct {
	Source    *netip.Addr `json:"source,omitempty" group:"more"`
	Node      *uint32     `json:"node,omitempty" group:"default"`
	Name      string      `json:"name,omitempty" node:"Node"`
	HWID      *uint8      `json:"hw_id,omitempty" group:"more"`
	Version   *string     `json:"version,omitempty" group:"more"`
	Exporters *uint64     `json:"exporters,omitempty"`
	Received  *uint64     `json:"received,omitempty"`
	Sent      *uint64     `json:"sent,omitempty"`
	Arrived   *uint64     `json:"arrived,omitempty"`
	Lost      *uint64     `json:"lost,omitempty"`
	Away      *uint64     `json:"away,omitempty"`
	Late      *uint64     `json:"late,omitempty"`
	Duplicate *uint64     `json:"duplicate,omitempty"`
	Reordered *uint64     `json:"reordered,omitempty"`
	Restarted *uint64     `json:"restarted,omitempty"`
	Decoded   *uint64     `json:"decoded,omitempty"`
	Damaged   *uint64     `json:"damaged,omitempty"`
	Malformed *uint64     `json:"malformed,omitempty"`
	Reports   *uint64     `json:"reports,omitempty"`
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
