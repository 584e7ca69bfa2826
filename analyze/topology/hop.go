package topology

import (
	"fmt"
	"math/bits"

	"github.com/waybill-int/waybill/telemetry"
)

// A HopKey is what makes a hop of a path different from another: the node and its ports.
type HopKey struct {
	Node, In, Out uint32
	Has           telemetry.Fields // of hopFields
	Missing       uint8            // it stands for so many nodes that sent nothing
}

// hopFields are what of a hop is in its key.
const hopFields = telemetry.HasNode | telemetry.HasIngressPort | telemetry.HasEgressPort | telemetry.HasDrop

// HopKeyOf returns the key of a hop.
func HopKeyOf(h *telemetry.Hop) HopKey {
	s := HopKey{Has: h.Has & hopFields}
	if s.Has&telemetry.HasNode != 0 {
		s.Node = h.NodeID
	}
	if s.Has&telemetry.HasIngressPort != 0 {
		s.In = h.IngressPort
	}
	if s.Has&telemetry.HasEgressPort != 0 {
		s.Out = h.EgressPort
	}
	return s
}

// IsAt reports whether s is the key of h.
func (s *HopKey) IsAt(h *telemetry.Hop) bool {
	return h.Has&hopFields == s.Has && s.Missing == 0 &&
		(s.Node == h.NodeID || s.Has&telemetry.HasNode == 0) &&
		(s.In == h.IngressPort || s.Has&telemetry.HasIngressPort == 0) &&
		(s.Out == h.EgressPort || s.Has&telemetry.HasEgressPort == 0)
}

// HashRoute is the identity of a path; it is the same in every run.
func HashRoute(route []HopKey) uint64 {
	h := uint64(len(route))
	for i := range route {
		s := &route[i]
		h = Mix(h^uint64(s.Node)<<32^uint64(s.In),
			0x9e3779b97f4a7c15^uint64(s.Out)<<16^uint64(s.Has)<<8^uint64(s.Missing))
	}
	return h
}

// Mix hashes two numbers to one.
func Mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo ^ a
}

// MissingBefore returns how many nodes the TTLs say are between hop i and the one before.
func MissingBefore(hops []telemetry.Hop, i int) uint8 {
	if i == 0 || hops[i].Has&telemetry.HasTTL == 0 || hops[i-1].TTL <= hops[i].TTL {
		return 0
	}
	return hops[i-1].TTL - hops[i].TTL - 1
}

// Answer returns the hop as answers show it, with the names of nodes.
func (s *HopKey) Answer(names map[uint32]string) telemetry.PathHop {
	a := telemetry.PathHop{Missing: int(s.Missing), Dropped: s.Has&telemetry.HasDrop != 0}
	if s.Has&telemetry.HasNode != 0 {
		node := s.Node
		a.Node, a.Name = &node, names[node]
	}
	if s.Has&telemetry.HasIngressPort != 0 {
		port := s.In
		a.IngressPort = &port
	}
	if s.Has&telemetry.HasEgressPort != 0 {
		port := s.Out
		a.EgressPort = &port
	}
	return a
}

// PathID returns the identity of a path as answers show it, from its hash.
func PathID(hash uint64) string { return fmt.Sprintf("%016x", hash) }

// MaxHops bounds the hops of a path that are kept. The rest of a longer path is cut off.
const MaxHops = 32
