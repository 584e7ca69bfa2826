package analyze

import "github.com/waybill-int/waybill/telemetry"

// A givenRoute is a path whose route was given, and where its ends are.
type givenRoute struct {
	atNs                int64
	first, last         attachment
	knowsFirst, knowsTo bool
}

// routeEnds finds where hosts are: before the first node of a route, and behind the last if packets left it.
func routeEnds(route *telemetry.Route) givenRoute {
	r := givenRoute{atNs: route.StartNs}
	if route.Uncertain || len(route.Stations) == 0 {
		return r
	}
	if at := &route.Stations[0]; at.Has&telemetry.HasNode != 0 {
		r.first, r.knowsFirst = attachment{at.Node, at.IngressPort, at.Has&telemetry.HasIngressPort != 0}, true
	}
	if at := &route.Stations[len(route.Stations)-1]; at.Has&(telemetry.HasNode|telemetry.HasDrop) == telemetry.HasNode {
		r.last, r.knowsTo = attachment{at.Node, at.EgressPort, at.Has&telemetry.HasEgressPort != 0}, true
	}
	return r
}

// route is a Route of path of which only its ends are known, as far as hosts are there.
func (r *givenRoute) route(path uint64) telemetry.Route {
	first, last := telemetry.Station{Missing: 1}, telemetry.Station{Missing: 1}
	if r.knowsFirst {
		first = telemetry.Station{Place: telemetry.Place{
			Has: telemetry.HasNode, Node: r.first.node,
			IngressPort: r.first.port,
		}}
		if r.first.hasPort {
			first.Has |= telemetry.HasIngressPort
		}
	}
	if r.knowsTo {
		last = telemetry.Station{Place: telemetry.Place{
			Has: telemetry.HasNode, Node: r.last.node,
			EgressPort: r.last.port,
		}}
		if r.last.hasPort {
			last.Has |= telemetry.HasEgressPort
		}
	}
	return telemetry.Route{StartNs: r.atNs, Path: path, Stations: []telemetry.Station{first, last}}
}

// A hostPlace is a host at a place.
type hostPlace struct {
	hostKey
	attachment
}

// noteInner remembers the ports of a link: no host is there.
func (v *Intervals) noteInner(k linkKey) {
	if len(v.inner) >= 2*maxLinks {
		return
	}
	if k.has&telemetry.HasEgressPort != 0 {
		v.inner[attachment{k.from, k.fromPort, true}] = true
	}
	if k.has&telemetry.HasIngressPort != 0 {
		v.inner[attachment{k.to, k.toPort, true}] = true
	}
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
			v.host(hostKey{f.Key.Src, f.Key.Tunnel, f.Key.TunnelID}, r.first, f.Packets)
			if tunnelled {
				v.host(hostKey{addr: f.OuterSrc}, r.first, f.Packets)
			}
		}
		if r.knowsTo {
			v.host(hostKey{f.Key.Dst, f.Key.Tunnel, f.Key.TunnelID}, r.last, f.Packets)
			if tunnelled {
				v.host(hostKey{addr: f.OuterDst}, r.last, f.Packets)
			}
		}
	}
}

func (v *Intervals) host(k hostKey, at attachment, packets uint64) {
	if v.inner[at] || k.addr == (telemetry.Addr{}) {
		return // packets of which the nodes behind it said nothing
	}
	place := hostPlace{k, at}
	if n := v.hosts[place]; n == 0 && len(v.hosts) >= maxHosts {
		v.ungivenHosts.Add(packets)
		return
	}
	v.hosts[place] += packets
}

// takeHosts adds the hosts of the interval.
func (v *Intervals) takeHosts(batch *telemetry.Intervals, startNs int64) {
	for k, n := range v.hosts {
		batch.Hosts = append(batch.Hosts, telemetry.HostInterval{
			StartNs: startNs, Addr: k.addr, Tunnel: k.tunnel, TunnelID: k.tunnelID, Node: k.node, Port: k.port,
			HasPort: k.hasPort, Packets: n,
		})
	}
	clear(v.hosts)
}
