package node

import "net/netip"

// A Spec is what is known of the switch that a node is part of.
type Spec struct {
	NodeID uint32 // unique in the management domain
	Name   string // for Config.Nodes

	// Source and Source6 are the addresses that reports come from (TR 2.0 §3.1): that of the family of the collectors.
	Source, Source6 netip.Addr

	// Collectors get the reports; none: those of Config.Reports, and if there is none there either the node does not
	// report.
	Collectors []netip.AddrPort

	Ports  []Port // Ports[n-1] is port n
	Queues int    // of each port
	Seed   uint64 // of everything random
}

// A Port is one port of a switch.
type Port struct {
	// Edge: behind it are hosts. Packets from there are outside of the INT domain, packets to there leave it.
	Edge bool
	MTU  int // bytes of an IP packet; 0: no limit
	MAC  [6]byte
}

// mac returns the address that reports come from.
func (s *Spec) mac() [6]byte {
	if len(s.Ports) == 0 {
		return [6]byte{0x02}
	}
	return s.Ports[0].MAC
}
