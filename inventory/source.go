package inventory

import (
	"context"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// A Source knows something of devices. The file is the first of them; others are asked again and again.
type Source interface {
	// Origin is what its values are told to be from.
	Origin() telemetry.InventoryOrigin
	// String tells it from all others, such as "snmp 10.0.0.1:161".
	String() string
	// Every is how often it is to be asked.
	Every() time.Duration
	// Read asks it. What it returns must not change any more.
	Read(ctx context.Context) (*Known, error)
}

// Limits of what sources tell.
const (
	maxSources     = 10_000
	maxPorts       = 4096 // of a device
	maxNeighbours  = 4096 // of a device
	maxDescription = 128  // bytes; what is longer is cut
	maxText        = 255  // bytes of what LLDP tells, as IEEE 802.1AB has it
)

// Known is what a source knows.
type Known struct {
	Nodes      map[uint32]telemetry.InventoryNode `json:"nodes,omitempty"`
	Hosts      []telemetry.InventoryHost          `json:"hosts,omitempty"`
	Neighbours []Neighbour                        `json:"neighbours,omitempty"`
	// Chassis are the nodes by what they call themselves in LLDP.
	Chassis map[string]uint32 `json:"chassis,omitempty"`
	// LeftOut counts values that break a rule, or for which there was no room.
	LeftOut int `json:"left_out,omitempty"`
}

// A Neighbour is what LLDP tells at a port of a node.
type Neighbour struct {
	Node    uint32 `json:"node"`
	Port    uint32 `json:"port"`
	Chassis string `json:"chassis"` // as Known.Chassis has it
	System  string `json:"system,omitempty"`
	// Ports are what the port at the other end may be called, the likeliest first.
	Ports []string `json:"ports,omitempty"`
}

// An Answer is what is known from one source.
type Answer struct {
	Origin telemetry.InventoryOrigin
	Known  *Known
}
