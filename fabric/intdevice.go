package fabric

import (
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/fabric/scenario"
	intnode "github.com/waybill-int/waybill/node"
)

// INTDevices returns Options.Device: an INT node in every switch of s, as its section "int" says (none: the defaults of
// package node), that reports to collectors. Without any, and without one in the section, reports go to
// 192.0.2.1:32766, an address that nobody has (RFC 5737).
//
// Node ids, ports and addresses are those of NodeSpec; ports to hosts are the edges of the INT domain. The TTL that
// hosts send is known.
func INTDevices(s *scenario.Scenario, collectors ...netip.AddrPort) (func(NodeSpec) (Device, error), error) {
	config, err := intnode.Load(s.INT.Text)
	if err != nil {
		return nil, fmt.Errorf("int: %w", err)
	}
	if len(collectors) == 0 && len(config.Reports.To) == 0 {
		collectors = []netip.AddrPort{netip.AddrPortFrom(netip.AddrFrom4([4]byte{192, 0, 2, 1}), 32766)}
	}
	if config.InitialTTL == 0 {
		config.InitialTTL = uint8(s.Switch.TTL)
	}
	names := map[string]bool{}
	for i := range s.Graph.Switches {
		names[s.Graph.Switches[i].Name] = true
	}
	for name := range config.Nodes {
		if !names[name] {
			return nil, fmt.Errorf("int: nodes: there is no switch %q", name)
		}
	}
	if err := carried(s, &config); err != nil {
		return nil, fmt.Errorf("int: %w", err)
	}
	return func(spec NodeSpec) (Device, error) {
		n, err := intnode.New(config, nodeSpec(&spec, uint64(s.Seed), collectors))
		if err != nil {
			return nil, err
		}
		return &intDevice{node: n, rehash: n.ChangesFlow()}, nil
	}, nil
}

// carried returns an error if no traffic of s can carry telemetry of a domain: nobody would report more than queues and
// drops.
func carried(s *scenario.Scenario, c *intnode.Config) error {
	tunnels := c.Tunnels()
	names := strings.Fields(strings.ReplaceAll(strings.Trim(fmt.Sprint(tunnels), "[]"), "-", "_"))
	in := func(t scenario.Traffic) bool { return slices.Contains(names, t.Tunnel) }
	want := "tunnel: " + strings.Join(names, " or ")
	switch {
	case c.Mode == "ioam":
		in, want = func(t scenario.Traffic) bool { return t.IP != "4" }, "ip: 6 or mixed"
	case len(tunnels) == 0:
		return nil
	}
	if len(s.Traffic) == 0 || slices.ContainsFunc(s.Traffic, in) {
		return nil
	}
	return fmt.Errorf("no traffic can carry it: want traffic[].%s", want)
}

func nodeSpec(spec *NodeSpec, seed uint64, collectors []netip.AddrPort) intnode.Spec {
	n := intnode.Spec{
		NodeID: spec.ID, Name: spec.Name, Source: spec.Address, Source6: spec.Address6, Collectors: collectors,
		Queues: spec.Queues, Seed: mix(seed ^ uint64(spec.ID)<<32),
	}
	for _, p := range spec.Ports {
		n.Ports = append(n.Ports, intnode.Port{Edge: p.Host, MTU: p.MTU, MAC: p.MAC})
	}
	return n
}

// An intDevice is an INT node as the telemetry device of a switch.
type intDevice struct {
	node   *intnode.Node
	states []intnode.State // by slot
	out    intnode.Output
	others []intnode.Other // memory that is used again
	rehash bool            // INT changes what the fabric balances by
}

// Arrive implements Device.
func (d *intDevice) Arrive(frame []byte, s *PacketState) Verdict {
	for int(s.Slot) >= len(d.states) {
		d.states = append(d.states, intnode.State{})
	}
	state := &d.states[s.Slot]
	v := d.node.Arrive(frame, intnode.Ingress{Port: s.Port, TimeNs: s.ArrivedNs}, state)
	s.DSCP = state.DSCP
	if state.Protocol != 0 {
		s.Protocol, s.DstPort = state.Protocol, state.DstPort
	}
	if d.rehash {
		s.Hash = state.Hash
	}
	return Verdict{Drop: v.Drop, Reason: Reason(v.Reason)}
}

// Depart implements Device.
func (d *intDevice) Depart(s *PacketState, q *Queued, out *Departure) {
	d.others = d.others[:0]
	for _, o := range q.Others {
		d.others = append(d.others, intnode.Other(o))
	}
	d.node.Depart(out.Frame, &d.states[s.Slot], intnode.Egress{
		Others: d.others,
		Port:   q.Port, Queue: q.Queue, QueueBytes: q.QueueBytes, QueueLimit: q.QueueLimit, BufferBytes: q.BufferBytes,
		EnqueuedNs: q.EnqueuedNs, DepartedNs: q.DepartedNs, TxBps: q.TxBps, Bps: q.Bps, MTU: q.MTU,
	}, &d.out)
	out.Extra = d.out.Extra
	for _, c := range d.out.Copies {
		out.Copies = append(out.Copies, Copy(c))
	}
	out.addAll(d.out.Reports)
	switch frame := d.out.Frame; {
	case len(frame) == 0:
		out.Discard = true
	case &frame[0] != &out.Frame[0]:
		out.Frame = append(out.Frame[:0], frame...)
	}
}

// Drop implements Device.
func (d *intDevice) Drop(s *PacketState, l *Dropped, out *Reports) {
	drop := intnode.Drop{
		Place: intnode.PlaceIngress, Reason: uint8(l.Reason), TimeNs: l.ClockNs, Port: l.Port, Queue: l.Queue,
		QueueBytes: l.QueueBytes,
	}
	switch l.Place {
	case PlaceQueue:
		drop.Place = intnode.PlaceQueue
	case PlaceEgress:
		drop.Place = intnode.PlaceEgress
	}
	d.node.Drop(l.Frame, &d.states[s.Slot], drop, &d.out)
	out.addAll(d.out.Reports)
}

// Tick implements Device.
func (d *intDevice) Tick(clockNs uint64, out *Reports) {
	d.node.Tick(clockNs, &d.out)
	out.addAll(d.out.Reports)
}

// Close implements Device.
func (d *intDevice) Close(clockNs uint64, out *Reports) {
	d.node.Close(clockNs, &d.out)
	out.addAll(d.out.Reports)
}
