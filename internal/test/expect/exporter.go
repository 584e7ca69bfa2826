package expect

import (
	"net/netip"

	"github.com/waybill-int/waybill/telemetry"
)

// An exporter is one sequence of report numbers: that of a switch.
type exporter struct {
	received, lost uint64 // lost: between two that arrived
	pending        uint64 // lost since the last one that arrived
	unseen         uint64 // lost before the first and behind the last
}

// account notes what became of a report. What is lost before the first that arrives, or behind the last, leaves no gap.
func (c *collector) account(r *Report) {
	x := c.exporters[r.Node]
	if x == nil {
		x = &exporter{}
		c.exporters[r.Node] = x
	}
	switch {
	case r.Lost:
		x.pending++
		x.unseen++
	case x.received == 0:
		x.received, x.pending = 1, 0
	default:
		x.received++
		x.lost += x.pending
		x.unseen -= x.pending
		x.pending = 0
	}
}

func (c *collector) exporterAnswers() (list []telemetry.Exporter, unseen uint64) {
	for id, x := range c.exporters {
		unseen += x.unseen
		if x.received == 0 {
			continue
		}
		node, lost := id, x.lost
		list = append(list, telemetry.Exporter{
			Source: netip.MustParseAddr(c.Source(c.Switches[id].Address)), Node: &node, Name: c.names[id],
			Version:  c.Version,
			Received: x.received, Reports: x.received, Lost: &lost, LossKnown: "yes",
			Malformed: map[string]uint64{}, Damaged: map[string]uint64{},
		})
	}
	return list, unseen
}
