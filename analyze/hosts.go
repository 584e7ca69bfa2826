package analyze

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// maxHosts bounds the hosts of an answer.
const maxHosts = 1 << 16

// A hostKey names a host. Tenants may use the same addresses.
type hostKey struct {
	addr     telemetry.Addr
	tunnel   telemetry.Tunnel
	tunnelID uint32
}

// An attachment is a port of a node; if the port is not known, it is the node.
type attachment struct {
	node, port uint32
	hasPort    bool
}

// seenAt is what was seen of a host at a place.
type seenAt struct {
	packets     uint64
	first, last int64
}

// hostPlaces are the hosts of all flows with the places at which their packets came in or left.
type hostPlaces struct {
	places  map[hostKey]map[attachment]seenAt
	inner   map[attachment]bool // ports to other nodes: no host is there
	leftOut int                 // ends of flows for whose hosts there was no room
}

// Hosts returns where hosts are attached, by address, and how many ends of flows are of hosts for which there was no
// room. It looks at every flow, which takes about 0.1 s for a million.
func (c *Collector) Hosts() (hosts []telemetry.Host, leftOut int) {
	h := hostPlaces{places: map[hostKey]map[attachment]seenAt{}, inner: map[attachment]bool{}}
	for _, l := range c.Links() {
		if l.FromPort != nil {
			h.inner[attachment{l.From, *l.FromPort, true}] = true
		}
		if l.ToPort != nil {
			h.inner[attachment{l.To, *l.ToPort, true}] = true
		}
	}
	for _, s := range c.Shards {
		s.eachFlow(func(f *flow) bool {
			for i := range f.paths {
				if fp := &f.paths[i]; fp.used {
					if p := s.pathOf(fp); p != nil && !p.uncertain && len(p.hops) > 0 {
						h.take(s, f, fp, p)
					}
				}
			}
			return true
		})
	}
	return h.answer(c.Names()), h.leftOut
}

// take adds both ends of a flow on a path: the source at its first node, the destination at its last one.
func (h *hostPlaces) take(s *Shard, f *flow, fp *flowPath, p *path) {
	outer, tunnelled := s.outer[f.key]
	if first := &p.hops[0].station; first.has&telemetry.HasNode != 0 {
		at := attachment{first.node, first.in, first.has&telemetry.HasIngressPort != 0}
		h.see(hostKey{f.key.Src, f.key.Tunnel, f.key.TunnelID}, at, fp)
		if tunnelled {
			h.see(hostKey{addr: outer.Src}, at, fp)
		}
	}
	if last := &p.hops[len(p.hops)-1].station; last.has&(telemetry.HasNode|telemetry.HasDrop) == telemetry.HasNode {
		at := attachment{last.node, last.out, last.has&telemetry.HasEgressPort != 0}
		h.see(hostKey{f.key.Dst, f.key.Tunnel, f.key.TunnelID}, at, fp)
		if tunnelled {
			h.see(hostKey{addr: outer.Dst}, at, fp)
		}
	}
}

func (h *hostPlaces) see(k hostKey, at attachment, fp *flowPath) {
	if h.inner[at] || k.addr == (telemetry.Addr{}) {
		return // packets of which the nodes behind it said nothing
	}
	places := h.places[k]
	if places == nil {
		if len(h.places) >= maxHosts {
			h.leftOut++
			return
		}
		places = map[attachment]seenAt{}
		h.places[k] = places
	}
	seen, ok := places[at]
	if !ok {
		seen.first = fp.first
	}
	seen.packets += uint64(fp.packets)
	seen.first, seen.last = min(seen.first, fp.first), max(seen.last, fp.last)
	places[at] = seen
}

func (h *hostPlaces) answer(names map[uint32]string) []telemetry.Host {
	hosts := make([]telemetry.Host, 0, len(h.places))
	for k, places := range h.places {
		host := telemetry.Host{Address: k.addr.IP(), Tunnel: k.tunnel.String()}
		if k.tunnel != telemetry.TunnelNone {
			id := k.tunnelID
			host.TunnelID = &id
		}
		for at, seen := range places {
			place := telemetry.HostPlace{
				Node: at.node, Name: names[at.node], Packets: seen.packets, First: time.Unix(0, seen.first).UTC(),
				Last: time.Unix(0, seen.last).UTC(),
			}
			if at.hasPort {
				port := at.port
				place.Port = &port
			}
			host.Places = append(host.Places, place)
		}
		slices.SortFunc(host.Places, func(a, b telemetry.HostPlace) int {
			return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Node, b.Node),
				cmp.Compare(portOf(a.Port), portOf(b.Port)))
		})
		RatePlaces(host.Places)
		hosts = append(hosts, host)
	}
	slices.SortFunc(hosts, func(a, b telemetry.Host) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Tunnel, b.Tunnel),
			cmp.Compare(portOf(a.TunnelID), portOf(b.TunnelID)))
	})
	return hosts
}
