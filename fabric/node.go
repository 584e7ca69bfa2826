package fabric

import "github.com/waybill-int/waybill/fabric/scenario"

// A node is a switch or a host.
type node struct {
	id    uint32 // of a switch from 1; 0 of a host
	index int    // in the fabric
	name  string
	ports []*port
	host  *host // nil of a switch

	// Shared buffer. Hosts have one too.
	buffer uint64  // bytes
	alpha  float64 // a queue holds at most this times what is free
	used   uint64  // bytes

	// Switches only.
	spec      scenario.SwitchSpec
	latencyNs int64
	clock     clock
	classes   [64]uint8 // queue of each DSCP
	seed      uint64    // of its ECMP hash
	table4    *table
	table6    *table
	denies    []filter

	device  Device // nil: knows nothing of telemetry
	noINT   int    // faults that switch device off
	slots   slots
	reports uint64 // sent, lost ones too
}

// watches says whether packets that arrive now meet the telemetry device.
func (n *node) watches() bool { return n.device != nil && n.noINT == 0 }

// clockNs returns what the clock of the switch shows at a moment of virtual time.
func (f *Fabric) clockNs(n *node, ns int64) uint64 {
	return uint64(int64(f.epochNs) + ns + n.clock.errorNs(ns))
}

// slots gives numbers to the packets in a switch, and uses them again.
type slots struct {
	free  []uint32
	count uint32
}

func (s *slots) get() uint32 {
	if n := len(s.free); n > 0 {
		slot := s.free[n-1]
		s.free = s.free[:n-1]
		return slot
	}
	s.count++
	return s.count - 1
}

func (s *slots) put(slot uint32) { s.free = append(s.free, slot) }
