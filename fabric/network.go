package fabric

import (
	"encoding/binary"
	"fmt"
	"net/netip"

	"github.com/waybill-int/waybill/fabric/scenario"
)

// build makes the nodes and links of a scenario.
func (f *Fabric) build(s *scenario.Scenario) {
	for i := range s.Graph.Switches {
		f.addSwitch(s, &s.Graph.Switches[i])
	}
	for i := range s.Graph.Hosts {
		f.addHost(s, &s.Graph.Hosts[i])
	}
	for i := range s.Graph.Links {
		f.addLink(s, &s.Graph.Links[i])
	}
	for i := range s.Graph.Hosts {
		f.hosts[i].setAddresses(&s.Graph.Hosts[i])
	}
	for i := range s.Nodes {
		f.adjust(&s.Nodes[i])
	}
}

func (f *Fabric) addNode(name string) *node {
	n := &node{index: len(f.nodes), name: name}
	f.nodes = append(f.nodes, n)
	f.names[name] = n
	return n
}

func (f *Fabric) addSwitch(s *scenario.Scenario, spec *scenario.SwitchSpec) {
	n := f.addNode(spec.Name)
	f.switches = append(f.switches, n)
	n.id = uint32(len(f.switches))
	n.spec = *spec
	n.buffer, n.alpha, n.latencyNs = uint64(s.Switch.Buffer), float64(s.Switch.Alpha), int64(s.Switch.Latency)
	random := f.random("switch " + spec.Name)
	n.seed = random.Uint64()
	if limit := int64(s.Clocks.Offset); limit > 0 {
		n.clock.offsetNs = random.Int64N(2*limit+1) - limit
	}
	if limit := ppb(s.Clocks.Drift); limit > 0 {
		n.clock.driftPPB = random.Int64N(2*limit+1) - limit
	}
	rest := uint8(0)
	for i, q := range s.Switch.Queues {
		if len(q.DSCP) == 0 {
			rest = uint8(i)
		}
	}
	for i := range n.classes {
		n.classes[i] = rest
	}
	for i, q := range s.Switch.Queues {
		for _, dscp := range q.DSCP {
			n.classes[dscp] = uint8(i)
		}
	}
}

func (f *Fabric) addHost(s *scenario.Scenario, spec *scenario.Host) {
	n := f.addNode(spec.Name)
	// The queue of a host is not shared: any alpha lets it use all of the buffer but what a packet more would not fit.
	n.buffer, n.alpha = uint64(s.Host.Queue), float64(s.Host.Queue)
	h := &host{node: n, number: len(f.hosts) + 1, nextPort: firstPort}
	n.host = h
	f.hosts = append(f.hosts, h)
}

func (f *Fabric) addLink(s *scenario.Scenario, spec *scenario.Link) {
	l := &link{
		name: spec.Between[0] + "-" + spec.Between[1],
		bps:  uint64(spec.Rate), delayNs: int64(spec.Delay), mtu: int(spec.MTU),
	}
	others := 0 // of a port channel
	for _, o := range f.links {
		if p := o.a.node.name; p == spec.Between[0] && o.b.node.name == spec.Between[1] ||
			p == spec.Between[1] && o.b.node.name == spec.Between[0] {
			others++
		}
	}
	if others > 0 {
		l.name = fmt.Sprintf("%s-%d", l.name, others+1)
	}
	f.links = append(f.links, l)
	l.a, l.b = f.addPort(s, l, spec.Between[0]), f.addPort(s, l, spec.Between[1])
	l.a.peer, l.b.peer = l.b, l.a
	f.pool.bytes = max(f.pool.bytes, l.mtu+room)
}

func (f *Fabric) addPort(s *scenario.Scenario, l *link, name string) *port {
	n := f.names[name]
	p := &port{index: uint32(len(f.ports)), id: uint32(len(n.ports)) + 1, node: n, link: l}
	if n.host != nil {
		p.queues = []queue{bulk: {quantum: quantum}, sparse: {strict: true}}
	} else {
		p.mac = [6]byte{0x02, 0x01, byte(n.id >> 8), byte(n.id), byte(p.id >> 8), byte(p.id)}
		for _, q := range s.Switch.Queues {
			p.queues = append(p.queues, queue{strict: q.Strict, quantum: int64(q.Weight) * quantum})
		}
	}
	n.ports = append(n.ports, p)
	f.ports = append(f.ports, p)
	return p
}

// quantum is what a queue of weight 1 may send in a round, bytes.
const quantum = 1500

// setAddresses gives a host the addresses of the scenario, or its place in the subnets of its switch.
func (h *host) setAddresses(spec *scenario.Host) {
	access := h.out().peer
	place := byte(0) // among the hosts of the switch, from 1
	for _, p := range access.node.ports[:access.id] {
		if p.peer.node.host != nil {
			place++
		}
	}
	v4, v6 := subnets(access.node.id)
	h.v4, h.v6 = v4.Addr().As4(), v6.Addr().As16()
	h.v4[3], h.v6[15] = place, place
	if spec.Address.IsValid() {
		h.v4 = spec.Address.As4()
	}
	if spec.Address6.IsValid() {
		h.v6 = spec.Address6.As16()
	}
	h.mac = spec.MAC
	if h.mac == [6]byte{} {
		h.mac[0] = 0x02
		binary.BigEndian.PutUint32(h.mac[2:], uint32(h.number))
	}
	h.out().mac = h.mac
	h.tenant = tenantAddress(h.number)
}

// adjust makes one switch different.
func (f *Fabric) adjust(s *scenario.Node) {
	n := f.names[s.Name]
	if s.Latency != nil {
		n.latencyNs = int64(*s.Latency)
	}
	if s.Buffer != nil {
		n.buffer = uint64(*s.Buffer)
	}
	if s.Alpha != nil {
		n.alpha = float64(*s.Alpha)
	}
	if s.Clock != nil {
		n.clock = clock{offsetNs: int64(s.Clock.Offset), driftPPB: ppb(s.Clock.Drift)}
	}
}

// routerAddress returns the address of a switch: 10.255.S.S and fd00:0:0:ffff::S. No subnet of hosts has them.
func routerAddress(id uint32) (v4, v6 netip.Addr) {
	a6 := [16]byte{0: 0xfd, 6: 0xff, 7: 0xff}
	binary.BigEndian.PutUint32(a6[12:], id)
	return netip.AddrFrom4([4]byte{10, 255, byte(id >> 8), byte(id)}), netip.AddrFrom16(a6)
}

// addDevices makes the telemetry devices of switches.
func (f *Fabric) addDevices(s *scenario.Scenario, device func(NodeSpec) (Device, error)) error {
	if device == nil {
		return nil
	}
	without := map[string]bool{}
	for _, n := range s.Nodes {
		without[n.Name] = n.WithoutINT
	}
	for _, n := range f.switches {
		if without[n.name] {
			continue
		}
		spec := NodeSpec{ID: n.id, Name: n.name, Role: n.spec.Role, Queues: len(s.Switch.Queues)}
		spec.Address, spec.Address6 = routerAddress(n.id)
		for _, p := range n.ports {
			spec.Ports = append(spec.Ports, PortSpec{
				ID: p.id, MAC: p.mac, Peer: p.peer.node.name, Host: p.peer.node.host != nil, Bps: p.link.bps,
				MTU: p.link.mtu,
			})
		}
		var err error
		if n.device, err = device(spec); err != nil {
			return fmt.Errorf("telemetry of %s: %w", n.name, err)
		}
		if n.device != nil {
			f.agenda.add(TickNs, evTick, uint32(n.index))
		}
	}
	return nil
}
