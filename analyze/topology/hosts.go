package topology

import (
	"cmp"
	"slices"
	"time"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxHosts bounds the hosts of an answer.
const MaxHosts = 1 << 16

// A HostKey names a host. Tenants may use the same addresses.
type HostKey struct {
	Addr     telemetry.Addr
	Tunnel   telemetry.Tunnel
	TunnelID uint32
}

// SourceOf returns the host that a flow comes from.
func SourceOf(k *telemetry.FlowKey) HostKey { return HostKey{k.Src, k.Tunnel, k.TunnelID} }

// DestinationOf returns the host that a flow goes to.
func DestinationOf(k *telemetry.FlowKey) HostKey { return HostKey{k.Dst, k.Tunnel, k.TunnelID} }

// A Seen is what was seen of a host at a place.
type Seen struct {
	Packets     uint64
	First, Last int64 // ns since 1970
	Ends        int   // of flows
}

// Hosts are the hosts of all flows with the places at which their packets came in or left.
type Hosts struct {
	places  map[HostKey]map[PortKey]Seen
	Inner   Inner // no host is there
	LeftOut int   // ends of flows for whose hosts there was no room
}

// NewHosts returns Hosts that know of none.
func NewHosts() *Hosts {
	return &Hosts{places: map[HostKey]map[PortKey]Seen{}, Inner: Inner{}}
}

// See adds what was seen of a host at a place.
func (h *Hosts) See(k HostKey, at PortKey, more Seen) {
	if h.Inner[at] || k.Addr == (telemetry.Addr{}) {
		return // packets of which the nodes behind it said nothing
	}
	places := h.places[k]
	if places == nil {
		if len(h.places) >= MaxHosts {
			h.LeftOut += more.Ends
			return
		}
		places = map[PortKey]Seen{}
		h.places[k] = places
	}
	seen, ok := places[at]
	if !ok {
		seen.First = more.First
	}
	seen.Packets += more.Packets
	seen.Ends += more.Ends
	seen.First, seen.Last = min(seen.First, more.First), max(seen.Last, more.Last)
	places[at] = seen
}

// Add adds what others have seen, which stay who has them.
func (h *Hosts) Add(o *Hosts) {
	for k, places := range o.places {
		for at, seen := range places {
			h.See(k, at, seen)
		}
	}
	h.LeftOut += o.LeftOut
}

// Answer returns the hosts by address, with the names of nodes.
func (h *Hosts) Answer(names map[uint32]string) []telemetry.Host {
	hosts := make([]telemetry.Host, 0, len(h.places))
	for k, places := range h.places {
		host := telemetry.Host{Address: k.Addr.IP(), Tunnel: k.Tunnel.String()}
		if k.Tunnel != telemetry.TunnelNone {
			id := k.TunnelID
			host.TunnelID = &id
		}
		for at, seen := range places {
			place := telemetry.HostPlace{
				Node: at.Node, Name: names[at.Node], Packets: seen.Packets, First: time.Unix(0, seen.First).UTC(),
				Last: time.Unix(0, seen.Last).UTC(),
			}
			if at.HasPort {
				port := at.Port
				place.Port = &port
			}
			host.Places = append(host.Places, place)
		}
		slices.SortFunc(host.Places, func(a, b telemetry.HostPlace) int {
			return cmp.Or(b.Last.Compare(a.Last), cmp.Compare(a.Node, b.Node),
				cmp.Compare(PortOf(a.Port), PortOf(b.Port)))
		})
		RatePlaces(host.Places)
		hosts = append(hosts, host)
	}
	slices.SortFunc(hosts, func(a, b telemetry.Host) int {
		return cmp.Or(a.Address.Compare(b.Address), cmp.Compare(a.Tunnel, b.Tunnel),
			cmp.Compare(PortOf(a.TunnelID), PortOf(b.TunnelID)))
	})
	return hosts
}
