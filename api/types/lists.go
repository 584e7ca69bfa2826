package types

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// An AttackList answers GET /api/v1/attacks. That of a time range says which.
type AttackList struct {
	Head
	Since   *time.Time         `json:"since,omitempty"`
	Until   *time.Time         `json:"until,omitempty"` // not part of it
	Attacks []telemetry.Attack `json:"attacks"`
}

// An AttackAnswer answers GET /api/v1/attacks/ID.
type AttackAnswer struct {
	GeneratedAt time.Time        `json:"generated_at"`
	Attack      telemetry.Attack `json:"attack"`
}

// A BurstList answers GET /api/v1/bursts. That of a time range says which, and has a cursor if there are more.
type BurstList struct {
	Head
	Since  *time.Time        `json:"since,omitempty"`
	Until  *time.Time        `json:"until,omitempty"` // not part of it
	Bursts []telemetry.Burst `json:"bursts"`
}

// A BurstAnswer answers GET /api/v1/bursts/ID.
type BurstAnswer struct {
	GeneratedAt time.Time             `json:"generated_at"`
	Burst       telemetry.BurstDetail `json:"burst"`
}

// A CableList answers GET /api/v1/cables.
type CableList struct {
	Head
	Cables []telemetry.Cable `json:"cables"`
}

// A ClockList answers GET /api/v1/clocks.
type ClockList struct {
	Head
	Clocks []telemetry.Clock `json:"clocks"`
}

// A DropList answers GET /api/v1/drops.
type DropList struct {
	Head
	Drops []telemetry.Drop `json:"drops"`
}

// An EventList answers GET /api/v1/events.
type EventList struct {
	Head
	Events []telemetry.Event `json:"events"`
}

// An ExporterList answers GET /api/v1/exporters.
type ExporterList struct {
	Head
	Exporters []telemetry.Exporter `json:"exporters"`
}

// A FlowAnswer answers GET /api/v1/flows/ID.
type FlowAnswer struct {
	GeneratedAt time.Time      `json:"generated_at"`
	Flow        telemetry.Flow `json:"flow"`
	// Verdict says where it lost its time; missing if its reports tell no latency.
	Verdict *telemetry.Verdict `json:"verdict,omitempty"`
}

// A FlowList answers GET /api/v1/flows.
type FlowList struct {
	Head
	Flows []telemetry.Flow `json:"flows"`
}

// An IncidentList answers GET /api/v1/incidents.
type IncidentList struct {
	Head
	Since     *time.Time           `json:"since,omitempty"`
	Until     *time.Time           `json:"until,omitempty"` // not part of it
	Incidents []telemetry.Incident `json:"incidents"`
}

// An IncidentAnswer answers GET /api/v1/incidents/ID.
type IncidentAnswer struct {
	GeneratedAt time.Time          `json:"generated_at"`
	Incident    telemetry.Incident `json:"incident"`
}

// A HopList answers GET /api/v1/hops.
type HopList struct {
	Head
	Hops []telemetry.NodeHop `json:"hops"`
}

// A LinkList answers GET /api/v1/links.
type LinkList struct {
	Head
	Since *time.Time       `json:"since,omitempty"`
	Until *time.Time       `json:"until,omitempty"` // not part of it
	Links []telemetry.Link `json:"links"`
}

// A Head is what every list begins with.
type Head struct {
	GeneratedAt time.Time `json:"generated_at"`
	Total       int       `json:"total"`                 // items that match, before the limit
	Next        string    `json:"next_cursor,omitempty"` // asks for the items that follow; missing at the end
	// Completeness is that of the reports that the answer rests on; servers of before leave it out.
	Completeness *telemetry.Completeness `json:"completeness,omitempty"`
}

// A NodeList answers GET /api/v1/nodes.
type NodeList struct {
	Head
	Since *time.Time       `json:"since,omitempty"`
	Until *time.Time       `json:"until,omitempty"` // not part of it
	Nodes []telemetry.Node `json:"nodes"`
}

// A PathList answers GET /api/v1/paths.
type PathList struct {
	Head
	Paths []telemetry.Path `json:"paths"`
}

// A QueueList answers GET /api/v1/queues.
type QueueList struct {
	Head
	Queues []telemetry.QueueDepth `json:"queues"`
}

// A HostList answers GET /api/v1/hosts.
type HostList struct {
	Head
	Hosts []telemetry.Host `json:"hosts"`
}
