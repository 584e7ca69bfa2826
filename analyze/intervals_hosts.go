package analyze

import "github.com/waybill-int/waybill/telemetry"

// A givenRoute is a path whose route was given, and where its ends are.
type givenRoute struct {
	atNs                int64
	first, last         attachment
	knowsFirst, knowsTo bool
}

// endsOfPath finds where hosts are: before the first node of a path, and behind the last if packets left it.
func endsOfPath(p *path, nowNs int64) givenRoute {
	r := givenRoute{atNs: nowNs}
	if p.uncertain || len(p.hops) == 0 {
		return r
	}
	if at := &p.hops[0].station; at.has&telemetry.HasNode != 0 {
		r.first, r.knowsFirst = attachment{at.node, at.in, at.has&telemetry.HasIngressPort != 0}, true
	}
	if at := &p.hops[len(p.hops)-1].station; at.has&(telemetry.HasNode|telemetry.HasDrop) == telemetry.HasNode {
		r.last, r.knowsTo = attachment{at.node, at.out, at.has&telemetry.HasEgressPort != 0}, true
	}
	return r
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

// hostsOf adds what the hosts of flows sent and got. Flows on paths that were met after paths were looked at wait for the next look,
// unless they did so before.
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
			StartNs: startNs, Addr: k.addr, Tunnel: k.tunnel, TunnelID: k.tunnelID, Node: k.node, Port: k.port, HasPort: k.hasPort, Packets: n,
		})
	}
	clear(v.hosts)
}
