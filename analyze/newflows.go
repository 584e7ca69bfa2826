package analyze

import (
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A newFlowKey is the node at which flows come into the network, as far as it is known.
type newFlowKey struct {
	node  uint32
	known bool
}

// A newFlows counts the flows that were seen for the first time at a node.
type newFlows struct {
	flows       uint64
	first, last int64
	flow        telemetry.FlowKey // the first of them
}

// maxNewFlowNodes bounds the nodes at which new flows are counted between two scans.
const maxNewFlowNodes = 1024

// newFlowCounts counts new flows by their first node until a Scanner takes them.
type newFlowCounts struct {
	nodes    map[newFlowKey]*newFlows
	overflow uint64 // flows at nodes for which there was no room
}

// note counts a flow whose first packet was seen at an element.
func (t *newFlowCounts) note(at *topology.HopKey, flow *telemetry.FlowKey, nowNs int64) {
	k := newFlowKey{at.Node, at.Has&telemetry.HasNode != 0}
	n := t.nodes[k]
	if n == nil {
		if len(t.nodes) >= maxNewFlowNodes {
			t.overflow++
			return
		}
		n = &newFlows{first: nowNs, flow: *flow}
		t.nodes[k] = n
	}
	n.flows++
	n.last = nowNs
}

// take returns what was counted and begins anew.
func (t *newFlowCounts) take() (nodes map[newFlowKey]*newFlows, overflow uint64) {
	nodes, overflow = t.nodes, t.overflow
	t.nodes, t.overflow = map[newFlowKey]*newFlows{}, 0
	return nodes, overflow
}

// merge adds what another shard counted.
func (n *newFlows) merge(o *newFlows) {
	if o.first < n.first || o.first == n.first && o.flow.Compare(&n.flow) < 0 {
		n.flow = o.flow
	}
	n.flows += o.flows
	n.first, n.last = min(n.first, o.first), max(n.last, o.last)
}
