package drop

import (
	"cmp"
	"slices"

	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// Sums are drops of several tables by place and reason.
type Sums map[Key]drop

// AddTable adds what a table counted, which must not count meanwhile.
func (t Sums) AddTable(o *Table) {
	for key, d := range o.Drops {
		t.add(key, d)
	}
}

// Add adds what others counted, which stay who has them.
func (t Sums) Add(o Sums) {
	for key, d := range o {
		t.add(key, &d)
	}
}

func (t Sums) add(key Key, d *drop) {
	m, ok := t[key]
	if !ok {
		m = *d
		m.To, m.runs, m.hit = mergeTo(d.To, nil), nil, nil
		t[key] = m
		return
	}
	m.Packets += d.Packets
	m.To = mergeTo(m.To, d.To)
	m.first = min(m.first, d.first)
	if d.last > m.last {
		m.last, m.flow, m.hasFlow = d.last, d.flow, d.hasFlow
	}
	t[key] = m
}

// Answer returns the drops that match selects, the most frequent first, with the names of nodes; nil selects all.
func (t Sums) Answer(names map[uint32]string, match func(*telemetry.Drop) bool) []telemetry.Drop {
	list := make([]telemetry.Drop, 0, len(t))
	for key, d := range t {
		a := d.answer(&key, names)
		if match == nil || match(&a) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b telemetry.Drop) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets),
			cmp.Compare(topology.PortOf(a.Node), topology.PortOf(b.Node)), cmp.Compare(a.Reason, b.Reason),
			cmp.Compare(topology.PortOf(a.IngressPort), topology.PortOf(b.IngressPort)),
			cmp.Compare(topology.PortOf(a.EgressPort), topology.PortOf(b.EgressPort)),
			cmp.Compare(a.DropKey, b.DropKey))
	})
	return list
}
