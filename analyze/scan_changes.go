package analyze

import (
	"fmt"

	"github.com/waybill-int/waybill/analyze/eventlog"
	"github.com/waybill-int/waybill/analyze/topology"
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
	for k, c := range o.changes.take(d.nowNs) {
		if sum := d.now[k]; sum != nil {
			sum.merge(c)
		} else {
			d.now[k] = c
		}
	}
}

func (d *changeDetector) finish() {
	for k, c := range d.ago {
		key := eventlog.Key{
			Kind: telemetry.EventPathChange, Node: k.node, Port: k.port, ToNode: k.toNode, ToPort: k.newPort,
		}
		d.log.Note(key, c.first, c.last, c.flows, func(e *telemetry.Event) {
			why := d.reason(k, c)
			e.Severity = telemetry.Info
			old := topology.HopKey{Node: k.node, Out: k.port, Has: telemetry.HasNode | telemetry.HasEgressPort}
			d.at(e, &old)
			if k.toNode != 0 {
				d.to(e, &topology.HopKey{Node: k.toNode, Has: telemetry.HasNode})
			}
			flow := telemetry.EndpointsOf(&c.flow)
			e.Flow, e.Path = &flow, topology.PathID(c.path)
			e.Text = fmt.Sprintf("flows leave %s by %s and no longer by %s; %s", d.name(k.node),
				d.portName(k.node, k.newPort), d.portName(k.node, k.port), why)
			if k.newPort == k.port { // it does not tell its ports
				e.Text = fmt.Sprintf("flows take another way behind %s; %s", d.name(k.node), why)
			}
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "new_port", Value: float64(k.newPort)})
		})
		d.hit(key, &c.hit)
	}
}

// reason says what became of the link that flows left: whether it is down, or other flows still take it.
func (d *changeDetector) reason(k changeKey, c *change) string {
	if at := d.links.cuts[dropEnd{k.node, k.port}]; at != nil && at.AtNs >= c.first-ScanNs {
		return "the old link is down: a failure"
	}
	carried := uint64(0) // flows
	for link, l := range d.links.links {
		if link.From == k.node && link.FromPort == k.port && l.last == d.nowNs {
			carried += l.flowsLatest
		}
	}
	left, came := uint64(0), uint64(0) // of these, the ones that went to and fro since
	for other, c := range d.now {
		if other.node == k.node && other.port == k.port {
			left += c.recent
		}
		if other.node == k.node && other.newPort == k.port {
			came += c.recent
		}
	}
	switch {
	case carried == 0:
		return "the old link carries nothing now: a failure"
	case carried <= max(left, came):
		return "the old link carries the same flows again: they go to and fro"
	}
	return "the old link still carries others: a reroute"
}
