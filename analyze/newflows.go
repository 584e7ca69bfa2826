package analyze

import (
	"github.com/waybill-int/waybill/analyze/scan"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// maxNewFlowNodes bounds the nodes at which new flows are counted between two scans.
const maxNewFlowNodes = 1024

// newFlowCounts counts new flows by their first node until a Scanner takes them.
type newFlowCounts struct {
	nodes    map[scan.NewFlowKey]*scan.NewFlows
	overflow uint64 // flows at nodes for which there was no room
}

// note counts a flow whose first packet was seen at an element.
func (t *newFlowCounts) note(at *topology.HopKey, flow *telemetry.FlowKey, nowNs int64) {
	k := scan.NewFlowKey{Node: at.Node, Known: at.Has&telemetry.HasNode != 0}
	n := t.nodes[k]
	if n == nil {
		if len(t.nodes) >= maxNewFlowNodes {
			t.overflow++
			return
		}
		n = &scan.NewFlows{First: nowNs, Flow: *flow}
		t.nodes[k] = n
	}
	n.Flows++
	n.Last = nowNs
}

// take returns what was counted and begins anew.
func (t *newFlowCounts) take() (nodes map[scan.NewFlowKey]*scan.NewFlows, overflow uint64) {
	nodes, overflow = t.nodes, t.overflow
	t.nodes, t.overflow = map[scan.NewFlowKey]*scan.NewFlows{}, 0
	return nodes, overflow
}
