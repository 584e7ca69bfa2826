package expect

import (
	"cmp"
	"fmt"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// Intervals returns what a collector had to count up to a time, of the flows that are over: after Fabric.Close of all.
// Of latencies it has counts and sums. Flows have no paths (see FlowPaths), paths are numbers of Routes. Reports that
// have to come and did not are an error.
func (c *Chronicle) Intervals(untilNs int64) (*telemetry.Intervals, error) {
	c.pass(untilNs)
	for _, q := range c.watched {
		for len(q.over) > 0 {
			c.burstOver(q)
		}
	}
	if c.unreported > 0 {
		return nil, fmt.Errorf("%d packets left the network without a report", c.unreported)
	}
	all := &telemetry.Intervals{Flows: c.flowIntervals(), Hosts: c.hosts()}
	for _, r := range c.routes {
		list := telemetry.Route{Path: r.number}
		for i := range r.elements {
			list.Elements = append(list.Elements, telemetry.PathElement{Place: r.elements[i].place()})
		}
		all.Routes = append(all.Routes, list)
		for _, p := range r.tens {
			all.Paths = append(all.Paths, *p)
		}
	}
	for _, h := range c.hops {
		all.Hops = append(all.Hops, *h)
	}
	for _, q := range c.queues {
		all.Queues = append(all.Queues, *q)
	}
	for _, l := range c.links {
		all.Links = append(all.Links, *l)
	}
	for k, n := range c.drops {
		all.Drops = append(all.Drops,
			telemetry.DropInterval{StartNs: k.startNs, Place: k.place(), Reason: k.reason, Packets: n})
	}
	for _, x := range c.ledger {
		x := *x
		x.Source = netip.MustParseAddr(c.truth.Switches[x.Node].Address)
		all.Exporters = append(all.Exporters, x)
	}
	return all, nil
}

// flowIntervals puts the flows of the network together by their endpoints, as a collector sees them. Where one follows
// another on another path, the path has changed.
func (c *Chronicle) flowIntervals() (list []telemetry.FlowInterval) {
	before := map[telemetry.FlowKey]*chronicleRoute{}
	seen := map[telemetry.FlowKey]*chronicleFlow{} // the first with that key
	known := make([]uint32, 0, len(c.flows))
	for number := range c.flows {
		if c.truth.Flows[number] != nil { // else it goes on
			known = append(known, number)
		}
	}
	slices.SortFunc(known, func(a, b uint32) int { return cmp.Compare(c.flows[a].firstNs, c.flows[b].firstNs) })
	for _, number := range known {
		f := c.flows[number]
		e, _ := endpoints(c.truth.Flows[number])
		key := flowKey(&e)
		if o := seen[key]; f.seenNs > 0 && (o == nil || f.seenNs < o.seenNs) {
			seen[key] = f
		}
		if f.first != nil {
			if last := before[key]; last != nil && last != f.first && !last.partOf(&f.first.path) {
				f.ten(f.firstNs).PathChanges++
				c.turned(&last.path, &f.first.path, f.firstNs)
			}
			before[key] = f.last
		}
		for _, v := range f.tens {
			v.Key = key
			list = append(list, *v)
		}
	}
	for _, f := range seen {
		if f.seenAt == 0 {
			continue
		}
		c.happened(subject{kind: telemetry.EventNewFlow, node: f.seenAt}, f.seenNs, 1)
	}
	return list
}

// FlowPaths returns how many packets flows had on each path, of the same flows as Intervals.
func (c *Chronicle) FlowPaths() (list []telemetry.FlowInterval) {
	for number, f := range c.flows {
		if c.truth.Flows[number] == nil {
			continue
		}
		e, _ := endpoints(c.truth.Flows[number])
		for k, n := range f.on {
			list = append(list,
				telemetry.FlowInterval{StartNs: k.startNs, Key: flowKey(&e), Path: k.route.number, Packets: n})
		}
	}
	return list
}

// hosts returns what came from hosts, or went to them: before the first switch of a path, and behind the last unless it
// dropped it.
func (c *Chronicle) hosts() (list []telemetry.HostInterval) {
	for number, f := range c.flows {
		if c.truth.Flows[number] == nil {
			continue
		}
		e, outer := endpoints(c.truth.Flows[number])
		key := flowKey(&e)
		for k, n := range f.on {
			first, last := &k.route.elements[0], &k.route.elements[len(k.route.elements)-1]
			at := telemetry.HostInterval{
				StartNs: k.startNs, Tunnel: key.Tunnel, TunnelID: key.TunnelID, HasPort: true,
				Packets: n,
			}
			add := func(a telemetry.Addr, node, port uint32, tunnelled bool) {
				h := at
				h.Addr, h.Node, h.Port = a, node, port
				if !tunnelled {
					h.Tunnel, h.TunnelID = telemetry.TunnelNone, 0
				}
				list = append(list, h)
			}
			add(key.Src, first.node, first.in, true)
			if !last.dropped() {
				add(key.Dst, last.node, last.out, true)
			}
			if outer == nil {
				continue
			}
			add(telemetry.AddrFrom(outer.Src), first.node, first.in, false)
			if !last.dropped() {
				add(telemetry.AddrFrom(outer.Dst), last.node, last.out, false)
			}
		}
	}
	return list
}

// flowKey is the key of a flow with these endpoints.
func flowKey(e *telemetry.Endpoints) telemetry.FlowKey {
	k := telemetry.FlowKey{
		Src: telemetry.AddrFrom(e.Src), Dst: telemetry.AddrFrom(e.Dst), SrcPort: e.SrcPort,
		DstPort: e.DstPort,
	}
	for n := range 256 {
		if telemetry.ProtocolName(uint8(n)) == e.Protocol {
			k.Protocol = uint8(n)
		}
	}
	for t := telemetry.TunnelNone; t <= telemetry.TunnelIP; t++ {
		if e.Tunnel != "" && t.String() == e.Tunnel {
			k.Tunnel, k.TunnelID = t, *e.TunnelID
		}
	}
	return k
}
