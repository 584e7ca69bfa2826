package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A newFlowDetector finds where flows are seen for the first time. While new ones keep coming in at a node that is one
// event: a network has many more flows than anybody wants to read about, and few nodes at which they come in.
type newFlowDetector struct {
	*scan
	now map[newFlowKey]*newFlows
}

func (d *newFlowDetector) begin() { d.now = map[newFlowKey]*newFlows{} }

func (d *newFlowDetector) observe(o *observation) {
	nodes, overflow := o.newFlows.take()
	d.leftOut += overflow
	for k, n := range nodes {
		if sum := d.now[k]; sum != nil {
			sum.merge(n)
		} else {
			d.now[k] = n
		}
	}
}

func (d *newFlowDetector) finish() {
	for k, n := range d.now {
		d.log.Note(eventlog.Key{Kind: telemetry.EventNewFlow, Node: k.node, Unnamed: !k.known}, n.first, n.last,
			n.flows, func(e *telemetry.Event) {
				flow := telemetry.EndpointsOf(&n.flow)
				e.Severity, e.Flow, e.Text = telemetry.Info, &flow, "new flows"
				if k.known {
					d.at(e, &topology.HopKey{Node: k.node, Has: telemetry.HasNode})
					e.Text = fmt.Sprintf("new flows come in at %s", d.name(k.node))
				}
			})
	}
}
