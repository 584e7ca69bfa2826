package topology

import (
	"cmp"

	"github.com/waybill-int/waybill/telemetry"
)

// A LinkKey is a link as two hops next to each other show it.
type LinkKey struct {
	From, To         uint32
	FromPort, ToPort uint32
	Has              telemetry.Fields // the egress port of from, the ingress port of to
}

// LinkOf returns the link between two hops next to each other; false if one of them is not known.
func LinkOf(a, b *HopKey) (k LinkKey, ok bool) {
	if a.Has&telemetry.HasNode == 0 || b.Has&telemetry.HasNode == 0 {
		return k, false
	}
	if a.Node == b.Node && b.Has&telemetry.HasDrop != 0 {
		return k, false // a drop at the node that came last is the same visit
	}
	k = LinkKey{From: a.Node, To: b.Node, Has: a.Has&telemetry.HasEgressPort | b.Has&telemetry.HasIngressPort}
	if k.Has&telemetry.HasEgressPort != 0 {
		k.FromPort = a.Out
	}
	if k.Has&telemetry.HasIngressPort != 0 {
		k.ToPort = b.In
	}
	return k, true
}

// Reverse returns the other direction of a link; false if a port of it is not known.
func (k LinkKey) Reverse() (LinkKey, bool) {
	const ports = telemetry.HasEgressPort | telemetry.HasIngressPort
	return LinkKey{From: k.To, To: k.From, FromPort: k.ToPort, ToPort: k.FromPort, Has: k.Has}, k.Has == ports
}

// CompareLinks orders links by their ends.
func CompareLinks(a, b LinkKey) int {
	return cmp.Or(cmp.Compare(a.From, b.From), cmp.Compare(a.FromPort, b.FromPort), cmp.Compare(a.To, b.To),
		cmp.Compare(a.ToPort, b.ToPort))
}

// A PortKey is a port of a node; if the port is not known, it is the node.
type PortKey struct {
	Node, Port uint32
	HasPort    bool
}

// PortAt returns the port of a node with that number; nil: it is not known.
func PortAt(node uint32, port *uint32) PortKey {
	if port == nil {
		return PortKey{Node: node}
	}
	return PortKey{node, *port, true}
}

// Ingress returns the port by which packets come to the hop.
func (s *HopKey) Ingress() PortKey { return PortKey{s.Node, s.In, s.Has&telemetry.HasIngressPort != 0} }

// Egress returns the port by which packets leave it.
func (s *HopKey) Egress() PortKey { return PortKey{s.Node, s.Out, s.Has&telemetry.HasEgressPort != 0} }

// PortOf makes a number that may be unknown comparable.
func PortOf(p *uint32) int64 {
	if p == nil {
		return -1
	}
	return int64(*p)
}

// MaxLinks bounds the links that are remembered between scans.
const MaxLinks = 1 << 16
