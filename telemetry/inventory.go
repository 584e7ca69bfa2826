package telemetry

import "net/netip"

// An Inventory is what is known of devices that they do not report. Whatever it is read from makes this of it. It must
// not change once it is made; nil is one that knows nothing.
type Inventory struct {
	Nodes map[uint32]InventoryNode // by the id in their reports
	Hosts []InventoryHost          // those of longer prefixes first
}

// An InventoryNode is a device.
type InventoryNode struct {
	Name  string
	Role  string // such as leaf or spine
	Site  string
	Unit  *QueueUnit // what it counts its queues in; nil: not known
	Ports map[uint32]InventoryPort
}

// An InventoryPort is a level 1 interface of a node.
type InventoryPort struct {
	Name      string
	Speed     uint64 // bit/s; 0: not known
	QueueSize uint64 // of its queues together, in bytes; 0: not known
}

// An InventoryHost is an address, or all those in a prefix.
type InventoryHost struct {
	Prefix netip.Prefix
	Name   string
	Site   string
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
