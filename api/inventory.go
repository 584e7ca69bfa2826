package api

import (
	"cmp"
	"fmt"
	"maps"
	"net/http"
	"net/netip"
	"reflect"
	"slices"
	"strings"
	"sync"

	"github.com/waybill-int/waybill/api/encode"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/telemetry"
)

// A nameField is a field of items that has the name of a port or of a host. The tag port says in which fields the node
// and the port are, the tag host in which the address is.
type nameField struct {
	index      int
	node, port []int // node is nil: port is the address
}

var nameFields sync.Map // []nameField by the type of items

func nameFieldsOf(item reflect.Type) []nameField {
	if known, ok := nameFields.Load(item); ok {
		return known.([]nameField)
	}
	at := func(name string) []int {
		f, ok := item.FieldByName(name)
		if !ok {
			panic("api: " + item.String() + " has no field " + name)
		}
		return f.Index
	}
	fields := []nameField{}
	for i := range item.NumField() {
		tag := item.Field(i).Tag
		if of := tag.Get("port"); of != "" {
			node, port, _ := strings.Cut(of, ",")
			fields = append(fields, nameField{i, at(node), at(port)})
		}
		if of := tag.Get("host"); of != "" {
			fields = append(fields, nameField{i, nil, at(of)})
		}
	}
	nameFields.Store(item, fields)
	return fields
}

// fillNames puts the names that the inventory has into items of a list, which are only of this answer.
func (h *handler) fillNames(rows *encode.Rows) {
	v := h.cfg.Collector.Inventory()
	if v == nil || rows.Len() == 0 {
		return
	}
	for i := range rows.Len() {
		of := reflect.ValueOf(rows.Item(i))
		if of.Kind() != reflect.Pointer || of.Elem().Kind() != reflect.Struct {
			return
		}
		of = of.Elem()
		if host, ok := of.Addr().Interface().(*telemetry.Host); ok {
			fillPlaces(v, host)
		}
		if port, ok := of.Addr().Interface().(*types.Port); ok {
			fillPort(v, port.Node, &port.NodePort)
		}
		for _, f := range nameFieldsOf(of.Type()) {
			if f.node == nil {
				address, _ := of.FieldByIndex(f.port).Interface().(netip.Addr)
				of.Field(f.index).SetString(v.Host(address))
				continue
			}
			node, port := numberIn(of.FieldByIndex(f.node)), numberIn(of.FieldByIndex(f.port))
			of.Field(f.index).SetString(v.Port(node, port).Name)
		}
	}
}

// numberIn returns a number, or that to which there is a pointer; nil if there is none.
func numberIn(v reflect.Value) *uint32 {
	if v.Kind() == reflect.Pointer {
		p, _ := v.Interface().(*uint32)
		return p
	}
	n := uint32(v.Uint())
	return &n
}

func fillPort(v *telemetry.Inventory, node uint32, p *telemetry.NodePort) {
	known := v.Port(&node, &p.Port)
	p.PortName, p.Speed = known.Name, cmp.Or(known.Speed, p.Speed)
}

func fillPlaces(v *telemetry.Inventory, host *telemetry.Host) {
	host.Places = slices.Clone(host.Places)
	for i := range host.Places {
		host.Places[i].PortName = v.Port(&host.Places[i].Node, host.Places[i].Port).Name
	}
}

// fillTopology puts the names that the inventory has into a topology, which is only of this answer.
func (h *handler) fillTopology(t *telemetry.Topology) {
	v := h.cfg.Collector.Inventory()
	if v == nil {
		return
	}
	for i := range t.Nodes {
		for j := range t.Nodes[i].Ports {
			fillPort(v, t.Nodes[i].ID, &t.Nodes[i].Ports[j])
		}
	}
	for i := range t.Links {
		l := &t.Links[i]
		l.FromPortName, l.ToPortName = v.Port(&l.From, l.FromPort).Name, v.Port(&l.To, l.ToPort).Name
	}
	for i := range t.Hosts {
		t.Hosts[i].HostName = v.Host(t.Hosts[i].Address)
		fillPlaces(v, &t.Hosts[i])
	}
}

// inventory answers with the nodes and ports that the inventory or reports name, and what is known of them.
func (h *handler) inventory(w http.ResponseWriter, r *http.Request, p *params) {
	p.accepted(r.Header, types.MediaJSON)
	if problem := p.problem(); problem != nil {
		problem.Write(w)
		return
	}
	answer := types.Inventory{
		GeneratedAt: h.cfg.Now().UTC(), Nodes: []types.InventoryNode{}, Hosts: []types.InventoryHost{},
		Sources: []telemetry.InventorySource{},
	}
	v := h.cfg.Collector.Inventory()
	if v == nil {
		v = &telemetry.Inventory{}
	}
	if h.cfg.InventorySources != nil {
		answer.Sources = h.cfg.InventorySources()
	}
	told := h.toldPorts(v)
	ids := slices.Collect(maps.Keys(v.Nodes))
	for id := range told {
		if _, ok := v.Nodes[id]; !ok {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range ids {
		n := v.Nodes[id]
		node := types.InventoryNode{
			Node: id, Name: h.cfg.Collector.Names()[id], Role: n.Role, Site: n.Site, Ports: []types.InventoryPort{},
		}
		unitFrom := n.From.Unit
		if unit, ok := h.cfg.Collector.Configured().QueueUnits[id]; ok {
			node.QueueUnit = unit.String()
			if n.Unit == nil || *n.Unit != unit {
				unitFrom = originConfiguration
			}
		}
		nameFrom := n.From.Name
		if node.Name != n.Name {
			nameFrom = originConfiguration
		}
		node.From = originsOf("name", nameFrom, "role", n.From.Role, "site", n.From.Site, "queue_unit", unitFrom)
		ports := slices.Collect(maps.Keys(n.Ports))
		for port := range told[id] {
			if _, ok := n.Ports[port]; !ok {
				ports = append(ports, port)
			}
		}
		slices.Sort(ports)
		for _, port := range ports {
			q := n.Ports[port]
			if speed := told[id][port].speed; q.Speed == 0 && speed != 0 {
				q.Speed, q.From.Speed = speed, originSFlow
			}
			node.Ports = append(node.Ports, types.InventoryPort{
				Port: port, Name: q.Name, Speed: q.Speed, QueueSize: q.QueueSize, To: told[id][port].to,
				Description: q.Description, From: originsOf("name", q.From.Name, "description", q.From.Description,
					"speed_bps", q.From.Speed, "queue_size", q.From.QueueSize),
			})
		}
		answer.Nodes = append(answer.Nodes, node)
	}
	for _, host := range v.Hosts {
		answer.Hosts = append(answer.Hosts, types.InventoryHost{
			Prefix: host.Prefix, Name: host.Name, Site: host.Site, From: host.From,
		})
	}
	writeAnswer(w, answer)
}

// Origins that are no source of the inventory.
const (
	originConfiguration telemetry.InventoryOrigin = "configuration" // it stands there itself, or in the policy
	originSFlow         telemetry.InventoryOrigin = "sflow"         // the device tells it with its counters
)

// originsOf returns the origins of values by their keys, which come in turn; those that there are.
func originsOf(keysAndOrigins ...any) types.Origins {
	origins := types.Origins{}
	for i := 0; i < len(keysAndOrigins); i += 2 {
		if of, _ := keysAndOrigins[i+1].(telemetry.InventoryOrigin); of != "" {
			origins[keysAndOrigins[i].(string)] = of
		}
	}
	return origins
}

// A toldPort is what is told of a port that reports or counters name: what is behind it, as far as that is known, and
// its speed in bit/s, 0 if its device does not tell.
type toldPort struct {
	to    string
	speed uint64
}

// toldPorts returns the ports that reports or counters name, by node.
func (h *handler) toldPorts(v *telemetry.Inventory) map[uint32]map[uint32]toldPort {
	t := h.cfg.Collector.Ports()
	hosts := map[[2]uint32][]string{} // by node and port
	for _, host := range t.Hosts {
		at := host.Places[0]                     // the latest
		if at.Port == nil || host.Tunnel != "" { // what is in a tunnel is behind its end
			continue
		}
		place := [2]uint32{at.Node, *at.Port}
		if name := cmp.Or(v.Host(host.Address), host.Address.String()); !slices.Contains(hosts[place], name) {
			hosts[place] = append(hosts[place], name)
		}
	}
	told := map[uint32]map[uint32]toldPort{}
	for _, n := range t.Nodes {
		told[n.ID] = map[uint32]toldPort{}
		for _, p := range n.Ports {
			there, to := hosts[[2]uint32{n.ID, p.Port}], ""
			switch {
			case p.ToNode != nil:
				to = portText(v, h.cfg.Collector.Names(), *p.ToNode, p.ToPort)
			case len(there) == 1:
				to = there[0]
			case len(there) > 1:
				to = fmt.Sprintf("%d hosts", len(there))
			}
			told[n.ID][p.Port] = toldPort{to, p.Speed}
		}
	}
	return told
}

// portText names a port with its node: leaf1 Ethernet6, or leaf1 port 6.
func portText(v *telemetry.Inventory, names map[uint32]string, node uint32, port *uint32) string {
	text := cmp.Or(names[node], fmt.Sprintf("node %d", node))
	if port == nil {
		return text
	}
	return text + " " + cmp.Or(v.Port(&node, port).Name, fmt.Sprintf("port %d", *port))
}
