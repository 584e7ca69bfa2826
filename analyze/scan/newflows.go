package scan

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
	now map[NewFlowKey]*NewFlows
}

func (d *newFlowDetector) begin() { d.now = map[NewFlowKey]*NewFlows{} }

func (d *newFlowDetector) observe(o *Observation) {
	for k, n := range o.NewFlows {
		if sum := d.now[k]; sum != nil {
			sum.merge(n)
		} else {
			d.now[k] = n
		}
	}
}

func (d *newFlowDetector) finish() {
	for k, n := range d.now {
		d.log.Note(eventlog.Key{Kind: telemetry.EventNewFlow, Node: k.Node, Unnamed: !k.Known}, n.First, n.Last,
			n.Flows, func(e *telemetry.Event) {
				flow := telemetry.EndpointsOf(&n.Flow)
				e.Severity, e.Flow, e.Text = telemetry.Info, &flow, "new flows"
				if k.Known {
					d.at(e, &topology.HopKey{Node: k.Node, Has: telemetry.HasNode})
					e.Text = fmt.Sprintf("new flows come in at %s", d.name(k.Node))
				}
			})
	}
}
