package api

import (
	"cmp"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// allCables returns what LLDP tells of, compared with the links that packets show.
func (h *handler) allCables() []telemetry.Cable {
	return compareCables(h.cfg.Collector.Inventory(), h.cfg.Collector.Names(), h.cfg.Collector.Links())
}

// A cableEnd is a port of a node.
type cableEnd struct{ node, port uint32 }

// compareCables compares what LLDP tells of with links. Both directions of a link are one cable.
func compareCables(v *telemetry.Inventory, names map[uint32]string, links []telemetry.Link) []telemetry.Cable {
	list := []telemetry.Cable{}
	if v == nil {
		return list
	}
	reports := map[uint32]bool{}
	packets := map[[2]cableEnd]uint64{}
	for i := range links {
		l := &links[i]
		reports[l.From], reports[l.To] = true, true
		if l.FromPort != nil && l.ToPort != nil {
			packets[bothEnds(cableEnd{l.From, *l.FromPort}, cableEnd{l.To, *l.ToPort})] += l.Packets
		}
	}
	told := map[[2]cableEnd]bool{}
	for _, c := range v.Cables {
		cable := telemetry.Cable{
			Node: c.Node, Name: names[c.Node], Port: c.Port, To: c.ToNode, ToPort: c.ToPort, ToName: c.ToSystem,
			ToPortName: c.ToPortName, BothEnds: c.BothEnds, Origin: c.From, State: telemetry.CableOneEnd,
		}
		if c.ToNode != nil {
			cable.ToName = cmp.Or(names[*c.ToNode], c.ToSystem)
			cable.ToPortName = cmp.Or(v.Port(c.ToNode, c.ToPort).Name, c.ToPortName)
			cable.State = telemetry.CableUnused
			if !reports[c.Node] || !reports[*c.ToNode] {
				cable.State = telemetry.CableNoReport
			}
		}
		if c.ToNode != nil && c.ToPort != nil {
			between := bothEnds(cableEnd{c.Node, c.Port}, cableEnd{*c.ToNode, *c.ToPort})
			told[between] = true
			if n, used := packets[between]; used {
				cable.State, cable.Packets = telemetry.CableUsed, n
			}
		}
		list = append(list, cable)
	}
	for between, n := range packets {
		a, b := between[0], between[1]
		if told[between] || !v.Nodes[a.node].Neighbours && !v.Nodes[b.node].Neighbours {
			continue
		}
		list = append(list, telemetry.Cable{
			Node: a.node, Name: names[a.node], Port: a.port, To: &b.node, ToName: names[b.node], ToPort: &b.port,
			ToPortName: v.Port(&b.node, &b.port).Name, State: telemetry.CableNotTold, Packets: n,
		})
	}
	slices.SortStableFunc(list, func(a, b telemetry.Cable) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port), cmp.Compare(a.State, b.State))
	})
	return list
}

// bothEnds is the same for both directions of a link.
func bothEnds(a, b cableEnd) [2]cableEnd {
	if cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.port, b.port)) > 0 {
		a, b = b, a
	}
	return [2]cableEnd{a, b}
}
