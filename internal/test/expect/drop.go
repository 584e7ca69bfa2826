package expect

import "github.com/waybill-int/waybill/telemetry"

// A dropKey is a place and a reason.
type dropKey struct {
	element
	reason uint8
}

// drop counts the drop of a visit.
func (c *collector) drop(v *Visit, f *flow) {
	s := c.sight(v)
	key := dropKey{s.element, v.Drop.Code}
	d := c.drops[key]
	if d == nil {
		at := s.answer(c.names)
		d = &telemetry.Drop{
			Node: at.Node, Name: at.Name, IngressPort: at.IngressPort, EgressPort: at.EgressPort,
			Reason: v.Drop.Code,
		}
		c.drops[key] = d
	}
	d.Packets++
	e := f.Endpoints
	d.LastFlow = &e
}

// A Silent is a number of drops that no switch could report.
type Silent struct {
	Place, Reason, Link string
	Node                uint32
	Packets             uint64
}

// Silent returns the drops that no telemetry device was told of.
func (t *Truth) Silent() []Silent {
	counts := map[Silent]uint64{}
	var order []Silent
	for _, d := range t.Drops {
		if d.Seen {
			continue
		}
		key := Silent{Place: d.Place, Reason: d.Reason, Link: d.Link, Node: d.Node}
		if counts[key] == 0 {
			order = append(order, key)
		}
		counts[key]++
	}
	for i, key := range order {
		order[i].Packets = counts[key]
	}
	return order
}
