package types

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A FlowPathList answers GET /api/v1/flows/ID/paths.
type FlowPathList struct {
	Head
	Since time.Time `json:"since"`
	Until time.Time `json:"until"` // not part of it
	// by how much start and end may be off; 0: of the tables of now
	ResolutionNs int64                `json:"resolution_ns"`
	ID           string               `json:"id"`
	Flow         *telemetry.Endpoints `json:"flow"` // null if nothing is known of it
	Paths        []FlowPathSpan       `json:"paths"`
}

// A FlowPathSpan is a time during which packets of a flow took a path.
type FlowPathSpan struct {
	ID           string              `json:"id"` // of the path; empty if it is not known
	Start        time.Time           `json:"start"`
	End          time.Time           `json:"end"`
	Packets      uint64              `json:"packets"`
	Bytes        *uint64             `json:"bytes,omitempty"` // of a time range
	Drops        *uint64             `json:"drops,omitempty"`
	ResidenceMin *int64              `json:"residence_min_ns,omitempty"`
	Residence    *int64              `json:"residence_mean_ns,omitempty"`
	ResidenceMax *int64              `json:"residence_max_ns,omitempty"`
	Hops         []telemetry.PathHop `json:"hops"` // empty if they are not known
}
