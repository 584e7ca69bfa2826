package fabric

import "net/netip"

// A NodeSpec says what a telemetry device has to know of its switch.
type NodeSpec struct {
	ID   uint32 // number of the switch, from 1: its node id
	Name string
	Role string // as in the scenario: leaf, spine, gateway, ...

	Address  netip.Addr // IPv4; source of its reports
	Address6 netip.Addr
	Ports    []PortSpec // port n is Ports[n-1]
	Queues   int        // of each port
}

// A PortSpec is one port of a switch.
type PortSpec struct {
	ID   uint32 // from 1
	MAC  [6]byte
	Peer string // name of the node at the other end
	Host bool   // which is a host
	Bps  uint64 // bit/s
	MTU  int    // bytes of an IP packet
}
