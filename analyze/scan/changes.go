package scan

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
	now, ago map[ChangeKey]*Change // since the last scan, and between the two before
}

func (d *changeDetector) begin() { d.ago, d.now = d.now, map[ChangeKey]*Change{} }

func (d *changeDetector) observe(o *Observation) {
	for k, c := range o.Changes {
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
			Kind: telemetry.EventPathChange, Node: k.Node, Port: k.Port, ToNode: k.ToNode, ToPort: k.NewPort,
		}
		d.log.Note(key, c.First, c.Last, c.Flows, func(e *telemetry.Event) {
			why := d.reason(k, c)
			e.Severity = telemetry.Info
			old := topology.HopKey{Node: k.Node, Out: k.Port, Has: telemetry.HasNode | telemetry.HasEgressPort}
			d.at(e, &old)
			if k.ToNode != 0 {
				d.to(e, &topology.HopKey{Node: k.ToNode, Has: telemetry.HasNode})
			}
			flow := telemetry.EndpointsOf(&c.Flow)
			e.Flow, e.Path = &flow, topology.PathID(c.Path)
			e.Text = fmt.Sprintf("flows leave %s by %s and no longer by %s; %s", d.name(k.Node),
				d.portName(k.Node, k.NewPort), d.portName(k.Node, k.Port), why)
			if k.NewPort == k.Port { // it does not tell its ports
				e.Text = fmt.Sprintf("flows take another way behind %s; %s", d.name(k.Node), why)
			}
			e.Evidence = append(e.Evidence, telemetry.Evidence{Name: "new_port", Value: float64(k.NewPort)})
		})
		d.hit(key, &c.Hit)
	}
}

// reason says what became of the link that flows left: whether it is down, or other flows still take it.
func (d *changeDetector) reason(k ChangeKey, c *Change) string {
	if at := d.links.cuts[dropEnd{k.Node, k.Port}]; at != nil && at.AtNs >= c.First-ScanNs {
		return "the old link is down: a failure"
	}
	carried := uint64(0) // flows
	for link, l := range d.links.links {
		if link.From == k.Node && link.FromPort == k.Port && l.last == d.nowNs {
			carried += l.flowsLatest
		}
	}
	left, came := uint64(0), uint64(0) // of these, the ones that went to and fro since
	for other, c := range d.now {
		if other.Node == k.Node && other.Port == k.Port {
			left += c.Recent
		}
		if other.Node == k.Node && other.NewPort == k.Port {
			came += c.Recent
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
