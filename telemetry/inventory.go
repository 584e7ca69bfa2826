package telemetry

import (
	"net/netip"
	"time"
)

// An Inventory is what is known of devices that they do not report. Whatever it is read from makes this of it. It must
// not change once it is made; nil is one that knows nothing.
type Inventory struct {
	Nodes  map[uint32]InventoryNode // by the id in their reports
	Hosts  []InventoryHost          // those of longer prefixes first
	Cables []InventoryCable         // by node and port
}

// An InventoryOrigin is the kind of source that a value of the inventory is from, such as file or snmp; "": there is no
// value.
type InventoryOrigin string

// An InventoryNode is a device.
type InventoryNode struct {
	Name  string
	Role  string // such as leaf or spine
	Site  string
	Unit  *QueueUnit // what it counts its queues in; nil: not known
	Ports map[uint32]InventoryPort
	// Neighbours says that it was asked what LLDP tells of its neighbours, and answered.
	Neighbours bool
	From       NodeOrigins
}

// NodeOrigins say of each value of a node where it is from.
type NodeOrigins struct{ Name, Role, Site, Unit InventoryOrigin }

// An InventoryPort is a level 1 interface of a node.
type InventoryPort struct {
	Name        string
	Description string // what people wrote at it
	Speed       uint64 // bit/s; 0: not known
	QueueSize   uint64 // of its queues together, in bytes; 0: not known
	From        PortOrigins
}

// PortOrigins say of each value of a port where it is from.
type PortOrigins struct{ Name, Description, Speed, QueueSize InventoryOrigin }

// An InventoryHost is an address, or all those in a prefix.
type InventoryHost struct {
	Prefix netip.Prefix
	Name   string
	Site   string
	From   InventoryOrigin
}

// An InventoryCable is what a node tells, or two nodes tell, of what is plugged into a port.
type InventoryCable struct {
	Node, Port uint32
	ToNode     *uint32 // nil: no node of the inventory
	ToPort     *uint32 // nil: not known
	// ToSystem and ToPortName are what the other end calls itself.
	ToSystem, ToPortName string
	BothEnds             bool // both of its ends tell of it
	From                 InventoryOrigin
}

// Port returns what is known of a port; nothing of one that is nil.
func (v *Inventory) Port(node, port *uint32) InventoryPort {
	if v == nil || node == nil || port == nil {
		return InventoryPort{}
	}
	return v.Nodes[*node].Ports[*port]
}

// Host returns the name of an address: that of the longest prefix that it is in.
func (v *Inventory) Host(a netip.Addr) string {
	if v == nil {
		return ""
	}
	for i := range v.Hosts {
		if v.Hosts[i].Prefix.Contains(a.Unmap()) {
			return v.Hosts[i].Name
		}
	}
	return ""
}

// A SourceState says what became of a source of the inventory.
type SourceState string

const (
	SourceWaiting   SourceState = "waiting"   // it was not asked yet
	SourceAnswering SourceState = "answering" // its last answer is what is known
	SourceFailing   SourceState = "failing"   // it did not answer the last time; what it said before is still known
)

// An InventorySource is a device or a server that is asked for what is known of devices.
type InventorySource struct {
	Source     string          `json:"source" doc:"what is asked, such as snmp 10.0.0.1:161"`
	Origin     InventoryOrigin `json:"origin" doc:"what its values are told to be from"`
	State      SourceState     `json:"state" doc:"what became of the last question"`
	Nodes      int             `json:"nodes" doc:"nodes that it knows"`
	Ports      int             `json:"ports" doc:"ports that it knows"`
	Hosts      int             `json:"hosts" doc:"hosts that it knows"`
	Neighbours int             `json:"neighbours" doc:"neighbours that it tells of by LLDP"`
	LeftOut    int             `json:"left_out" doc:"values of its last answer that break a rule, or for which there was no room"`
	Reads      uint64          `json:"reads" doc:"how often it answered"`
	Failures   uint64          `json:"failures" doc:"how often it did not answer"`
	InARow     int             `json:"failures_in_a_row" doc:"how often it did not answer since it last did"`
	Last       time.Time       `json:"last,omitzero" doc:"when it answered last"`
	Next       time.Time       `json:"next,omitzero" doc:"when it is asked again"`
	Error      string          `json:"error,omitempty" doc:"why it does not answer"`
}
