package types

import (
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Topology answers GET /api/v1/topology; Total counts its nodes. Of the past it says in which range packets were
// counted.
type Topology struct {
	Head
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"` // not part of it
	telemetry.Topology
}

// A Port is a level 1 interface of a node, and what is behind it.
type Port struct {
	Node uint32 `json:"node" kind:"node" doc:"the node"`
	Name string `json:"name,omitempty" doc:"its name, if it has one"`
	telemetry.NodePort
}

// A PortList answers GET /api/v1/ports. Of the past it says in which range packets were counted, as NodeList and
// LinkList do then.
type PortList struct {
	Head
	Since *time.Time `json:"since,omitempty"`
	Until *time.Time `json:"until,omitempty"` // not part of it
	Ports []Port     `json:"ports"`
}
