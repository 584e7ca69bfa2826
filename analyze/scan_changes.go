package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/telemetry"
)

// A changeDetector finds where flows take another path than before. What it found waits for the scan after, which shows
// what the old link carries then.
type changeDetector struct {
	*scan
	links    *linkDetector
	now, ago map[changeKey]*change // since the last scan, and between the two before
}

func (d *changeDetector) begin() { d.ago, d.now = d.now, map[changeKey]*change{} }

func (d *changeDetector) observe(o *observation) {
	for k, c := range o.changes.changes {
		if sum := d.now[k]; sum != nil {
			sum.merge(c)
		} else {
			d.now[k] = c
		}
	}
	o.changes.changes = map[changeKey]*change{}
}

func (d *changeDetector) finish() {
	for k, c := range d.ago {
		d.log.Note(eventlog.Key{
			Kind: telemetry.EventPathChange, Node: k.node, Port: k.port, ToNode: k.toNode,
			ToPort: k.newPort,
		},
			c.first, c.last, c.flows, func(e *telemetry.Event) {
				others := uint64(0)
				for link, l := range d.links.links {
					if link.from == k.node && link.fromPort == k.port && l.last == d.nowNs {
						others++
					}
				}
				why := "the old link carries nothing now: a failure"
				if others > 0 {
					why = "the old link still carries others: a reroute"
				}
				e.Severity = telemetry.Info
				old := station{node: k.node, out: k.port, has: telemetry.HasNode | telemetry.HasEgressPort}
				d.at(e, &old)
				if k.toNode != 0 {
					d.to(e, &station{node: k.toNode, has: telemetry.HasNode})
				}
				flow := telemetry.EndpointsOf(&c.flow)
				e.Flow, e.Path = &flow, pathID(c.path)
				e.Text = fmt.Sprintf("flows leave %s by port %d and no longer by port %d; %s", d.name(k.node),
					k.newPort, k.port, why)
				if k.newPort == k.port { // it does not tell its ports
					e.Text = fmt.Sprintf("flows take another way behind %s; %s", d.name(k.node), why)
				}
				e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "new_port", Value: float64(k.newPort)})
			})
	}
}
