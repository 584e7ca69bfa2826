package inventory

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/telemetry"
)

// The origins of values.
const (
	File   telemetry.InventoryOrigin = "file"
	NetBox telemetry.InventoryOrigin = "netbox"
	GNMI   telemetry.InventoryOrigin = "gnmi"
	SNMP   telemetry.InventoryOrigin = "snmp"
)

// precedence has the origins, that whose values win first.
var precedence = []telemetry.InventoryOrigin{File, NetBox, GNMI, SNMP}

// Merge makes one inventory of answers. Each value is of the first origin in precedence that has it, and of several
// answers of the same origin the first. A node whose name another node has already got is left without one.
func Merge(answers []Answer) *telemetry.Inventory {
	answers = slices.Clone(answers)
	slices.SortStableFunc(answers, func(a, b Answer) int {
		return cmp.Compare(slices.Index(precedence, a.Origin), slices.Index(precedence, b.Origin))
	})
	v := &telemetry.Inventory{Nodes: map[uint32]telemetry.InventoryNode{}}
	names, hosts := map[string]uint32{}, map[netip.Prefix]bool{}
	for _, a := range answers {
		for _, id := range slices.Sorted(maps.Keys(a.Known.Nodes)) {
			n := a.Known.Nodes[id]
			if other, taken := names[n.Name]; taken && other != id {
				n.Name = ""
			}
			to := v.Nodes[id]
			mergeNode(&to, &n, a.Origin)
			if v.Nodes[id] = to; to.Name != "" {
				names[to.Name] = id
			}
		}
		for _, h := range a.Known.Hosts {
			if !hosts[h.Prefix] {
				h.From, hosts[h.Prefix] = a.Origin, true
				v.Hosts = append(v.Hosts, h)
			}
		}
	}
	slices.SortStableFunc(v.Hosts, func(a, b telemetry.InventoryHost) int { return b.Prefix.Bits() - a.Prefix.Bits() })
	v.Cables = cables(answers, v)
	return v
}

// take gives a value to a place that has none yet.
func take[T comparable](to *T, from *telemetry.InventoryOrigin, value T, origin telemetry.InventoryOrigin) {
	var none T
	if *to == none && value != none {
		*to, *from = value, origin
	}
}

func mergeNode(to, n *telemetry.InventoryNode, origin telemetry.InventoryOrigin) {
	take(&to.Name, &to.From.Name, n.Name, origin)
	take(&to.Role, &to.From.Role, n.Role, origin)
	take(&to.Site, &to.From.Site, n.Site, origin)
	take(&to.Unit, &to.From.Unit, n.Unit, origin)
	to.Neighbours = to.Neighbours || n.Neighbours
	if to.Ports == nil {
		to.Ports = make(map[uint32]telemetry.InventoryPort, len(n.Ports))
	}
	for id, p := range n.Ports {
		port := to.Ports[id]
		take(&port.Name, &port.From.Name, p.Name, origin)
		take(&port.Description, &port.From.Description, p.Description, origin)
		take(&port.Speed, &port.From.Speed, p.Speed, origin)
		take(&port.QueueSize, &port.From.QueueSize, p.QueueSize, origin)
		to.Ports[id] = port
	}
}

// An end is a port of a node.
type end struct{ node, port uint32 }

// directory finds nodes and ports by what they call themselves.
type directory struct {
	chassis, names map[string]uint32
	ports          map[portName]uint32
}

type portName struct {
	node uint32
	name string
}

func newDirectory(answers []Answer, v *telemetry.Inventory) *directory {
	d := &directory{map[string]uint32{}, map[string]uint32{}, map[portName]uint32{}}
	addNode := func(name string, id uint32) {
		name = strings.ToLower(name)
		label, _, _ := strings.Cut(name, ".")
		for _, name := range []string{name, label} {
			if _, taken := d.names[name]; !taken && name != "" {
				d.names[name] = id
			}
		}
	}
	for _, id := range slices.Sorted(maps.Keys(v.Nodes)) {
		addNode(v.Nodes[id].Name, id)
	}
	for _, a := range answers {
		for chassis, id := range a.Known.Chassis {
			d.chassis[chassis] = id
		}
		for _, id := range slices.Sorted(maps.Keys(a.Known.Nodes)) {
			n := a.Known.Nodes[id]
			addNode(n.Name, id)
			for _, port := range slices.Sorted(maps.Keys(n.Ports)) {
				if at := (portName{id, n.Ports[port].Name}); at.name != "" {
					if _, taken := d.ports[at]; !taken {
						d.ports[at] = port
					}
				}
			}
		}
	}
	return d
}

// find returns the node and the port at the other end; nil: not known.
func (d *directory) find(n *Neighbour) (node, port *uint32) {
	id, ok := d.chassis[n.Chassis]
	if !ok {
		system := strings.ToLower(n.System)
		label, _, _ := strings.Cut(system, ".")
		if id, ok = d.names[system]; !ok {
			id, ok = d.names[label]
		}
	}
	if !ok {
		return nil, nil
	}
	for _, name := range n.Ports {
		if port, ok := d.ports[portName{id, name}]; ok {
			return &id, &port
		}
	}
	return &id, nil
}

// cables returns those that neighbours tell of, each once, by node and port.
func cables(answers []Answer, v *telemetry.Inventory) []telemetry.InventoryCable {
	d := newDirectory(answers, v)
	var list []telemetry.InventoryCable
	between := map[[2]end]int{} // places in list
	for _, a := range answers {
		for i := range a.Known.Neighbours {
			n := &a.Known.Neighbours[i]
			c := telemetry.InventoryCable{Node: n.Node, Port: n.Port, ToSystem: n.System, From: a.Origin}
			if len(n.Ports) > 0 {
				c.ToPortName = n.Ports[0]
			}
			c.ToNode, c.ToPort = d.find(n)
			if c.ToNode == nil || c.ToPort == nil {
				list = append(list, c)
				continue
			}
			here, there := end{c.Node, c.Port}, end{*c.ToNode, *c.ToPort}
			if other, ok := between[[2]end{there, here}]; ok {
				list[other].BothEnds = true
			} else if _, ok := between[[2]end{here, there}]; !ok {
				between[[2]end{here, there}] = len(list)
				list = append(list, c)
			}
		}
	}
	slices.SortStableFunc(list, func(a, b telemetry.InventoryCable) int {
		return cmp.Or(cmp.Compare(a.Node, b.Node), cmp.Compare(a.Port, b.Port))
	})
	return list
}
