package topology

import "github.com/waybill-int/waybill/telemetry"

// Inner are the ports of links between nodes: no host is there, and a way that begins or ends there is not known as a
// whole. It has at most two ports for each of MaxLinks.
type Inner map[PortKey]bool

// Learn remembers the ports of links that hops, source first, show.
func (in Inner) Learn(hops []telemetry.Hop) {
	for i := 1; i < len(hops); i++ {
		a, b := &hops[i-1], &hops[i]
		if a.Has&b.Has&telemetry.HasNode == 0 || a.Has&telemetry.HasTTL != 0 && a.TTL != b.TTL+1 ||
			a.NodeID == b.NodeID {
			continue
		}
		in.Add(LinkKey{
			From: a.NodeID, FromPort: a.EgressPort, To: b.NodeID, ToPort: b.IngressPort,
			Has: a.Has&telemetry.HasEgressPort | b.Has&telemetry.HasIngressPort,
		})
	}
}

// Add remembers the ports of a link.
func (in Inner) Add(k LinkKey) {
	if len(in) >= 2*MaxLinks {
		return
	}
	if k.Has&telemetry.HasEgressPort != 0 {
		in[PortKey{k.From, k.FromPort, true}] = true
	}
	if k.Has&telemetry.HasIngressPort != 0 {
		in[PortKey{k.To, k.ToPort, true}] = true
	}
}

// Begins reports whether a way that begins at first lacks its beginning.
func (in Inner) Begins(first *HopKey) bool {
	return first.Has&telemetry.HasNode == 0 || first.Has&telemetry.HasIngressPort != 0 && in[first.Ingress()]
}

// Ends reports whether a way that ends at last lacks its end.
func (in Inner) Ends(last *HopKey) bool {
	return last.Has&telemetry.HasDrop == 0 && (last.Has&telemetry.HasNode == 0 ||
		last.Has&telemetry.HasEgressPort != 0 && in[last.Egress()])
}
