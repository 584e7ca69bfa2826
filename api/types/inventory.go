package types

import (
	"net/netip"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// Origins say of values, by their keys, where they are from: a source such as file or snmp, or configuration for what
// stands in the configuration itself.
type Origins map[string]telemetry.InventoryOrigin

// An Inventory answers GET /api/v1/inventory: nodes and ports that the inventory or reports name, and what is known of
// them beside what they report.
type Inventory struct {
	GeneratedAt time.Time       `json:"generated_at"`
	Nodes       []InventoryNode `json:"nodes"`
	Hosts       []InventoryHost `json:"hosts"` // those of longer prefixes first
	// Sources are those that are asked beside the file of the inventory, with what became of it.
	Sources []telemetry.InventorySource `json:"sources"`
}

// An InventoryNode is a device.
type InventoryNode struct {
	Node      uint32          `json:"node"`
	Name      string          `json:"name,omitempty"`
	Role      string          `json:"role,omitempty"`
	Site      string          `json:"site,omitempty"`
	QueueUnit string          `json:"queue_unit,omitempty"`
	Ports     []InventoryPort `json:"ports"`
	From      Origins         `json:"from,omitempty"`
}

// An InventoryPort is a level 1 interface of a device.
type InventoryPort struct {
	Port      uint32 `json:"port"`
	Name      string `json:"name,omitempty"`
	Speed     uint64 `json:"speed_bps,omitempty"`
	QueueSize uint64 `json:"queue_size,omitempty"` // bytes
	To        string `json:"to,omitempty"`         // what is behind it: a node and its port, a host, or how many hosts
	// Description is what people wrote at it.
	Description string  `json:"description,omitempty"`
	From        Origins `json:"from,omitempty"`
}

// An InventoryHost is the addresses in a prefix.
type InventoryHost struct {
	Prefix netip.Prefix `json:"prefix"`
	Name   string       `json:"name"`
	Site   string       `json:"site,omitempty"`

	From telemetry.InventoryOrigin `json:"from,omitempty"`
}
