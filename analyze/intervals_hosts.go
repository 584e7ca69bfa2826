package analyze

import (
	"github.com/waybill-int/waybill/analyze/topology"
	"github.com/waybill-int/waybill/telemetry"
)

// A givenRoute is a path whose route was given, and where its ends are.
type givenRoute struct {
	atNs                int64
	first, last         topology.PortKey
	knowsFirst, knowsTo bool
}

// routeEnds finds where hosts are: before the first node of a route, and behind the last if packets left it.
func routeEnds(route *telemetry.Route) givenRoute {
	r := givenRoute{atNs: route.StartNs}
	if route.Uncertain || len(route.Elements) == 0 {
		return r
	}
	if at := &route.Elements[0]; at.Has&telemetry.HasNode != 0 {
		r.first, r.knowsFirst = (&topology.HopKey{Node: at.Node, In: at.IngressPort, Has: at.Has}).Ingress(), true
	}
	if at := &route.Elements[len(route.Elements)-1]; at.Has&(telemetry.HasNode|telemetry.HasDrop) == telemetry.HasNode {
		r.last, r.knowsTo = (&topology.HopKey{Node: at.Node, Out: at.EgressPort, Has: at.Has}).Egress(), true
	}
	return r
}

// route is a Route of path of which only its ends are known, as far as hosts are there.
func (r *givenRoute) route(path uint64) telemetry.Route {
	first, last := telemetry.PathElement{Missing: 1}, telemetry.PathElement{Missing: 1}
	if r.knowsFirst {
		first = telemetry.PathElement{Place: telemetry.Place{
			Has: telemetry.HasNode, Node: r.first.Node,
			IngressPort: r.first.Port,
		}}
		if r.first.HasPort {
			first.Has |= telemetry.HasIngressPort
		}
	}
	if r.knowsTo {
		last = telemetry.PathElement{Place: telemetry.Place{
			Has: telemetry.HasNode, Node: r.last.Node,
			EgressPort: r.last.Port,
		}}
		if r.last.HasPort {
			last.Has |= telemetry.HasEgressPort
		}
	}
	return telemetry.Route{StartNs: r.atNs, Path: path, Elements: []telemetry.PathElement{first, last}}
}

// A hostPlace is a host at a place.
type hostPlace struct {
	topology.HostKey
	topology.PortKey
}

// hostsOf adds what the hosts of flows sent and got. Flows on paths that were met after paths were looked at wait for
// the next look, unless they did so before.
func (v *Intervals) hostsOf(flows []telemetry.FlowInterval, waited bool) {
	for i := range flows {
		f := &flows[i]
		if f.Path == 0 || f.Packets == 0 {
			continue
		}
		r, ok := v.routes[f.Path]
		switch {
		case !ok && !waited && len(v.hostless) < maxGone:
			v.hostless = append(v.hostless, *f)
			continue
		case !ok:
			v.ungivenHosts.Add(f.Packets)
			continue
		}
		tunnelled := f.Key.Tunnel != telemetry.TunnelNone
		if r.knowsFirst {
			v.host(topology.SourceOf(&f.Key), r.first, f.Packets)
			if tunnelled {
				v.host(topology.HostKey{Addr: f.OuterSrc}, r.first, f.Packets)
			}
		}
		if r.knowsTo {
			v.host(topology.DestinationOf(&f.Key), r.last, f.Packets)
			if tunnelled {
				v.host(topology.HostKey{Addr: f.OuterDst}, r.last, f.Packets)
			}
		}
	}
}

func (v *Intervals) host(k topology.HostKey, at topology.PortKey, packets uint64) {
	if v.inner[at] || k.Addr == (telemetry.Addr{}) {
		return // packets of which the nodes behind it said nothing
	}
	place := hostPlace{k, at}
	if n := v.hosts[place]; n == 0 && len(v.hosts) >= topology.MaxHosts {
		v.ungivenHosts.Add(packets)
		return
	}
	v.hosts[place] += packets
}

// takeHosts adds the hosts of the interval.
func (v *Intervals) takeHosts(batch *telemetry.Intervals, startNs int64) {
	for k, n := range v.hosts {
		batch.Hosts = append(batch.Hosts, telemetry.HostInterval{
			StartNs: startNs, Addr: k.Addr, Tunnel: k.Tunnel, TunnelID: k.TunnelID, Node: k.Node, Port: k.Port,
			HasPort: k.HasPort, Packets: n,
		})
	}
	clear(v.hosts)
}
