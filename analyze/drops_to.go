package analyze

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// maxDropTo bounds the destinations that are told apart at one place and for one reason; packets to others are counted
// there only.
const maxDropTo = 16

// A dropTo is what was dropped on the way to a prefix.
type dropTo struct {
	packets uint64
	flow    telemetry.FlowKey // of the latest packet
}

// prefixOf returns the prefix by which destinations are told apart: /24 of IPv4, which is mapped into IPv6 here, and
// /48.
func prefixOf(a telemetry.Addr) telemetry.Addr {
	if a.Hi == 0 && a.Lo>>32 == 0xffff {
		return telemetry.Addr{Lo: a.Lo &^ 0xff}
	}
	return telemetry.Addr{Hi: a.Hi &^ 0xffff}
}

// toward counts a packet of a flow.
func (d *drop) toward(flow *telemetry.FlowKey) {
	prefix := prefixOf(flow.Dst)
	to, ok := d.to[prefix]
	switch {
	case ok:
	case d.to == nil:
		d.to = map[telemetry.Addr]dropTo{}
	case len(d.to) >= maxDropTo:
		return
	}
	d.to[prefix] = dropTo{to.packets + 1, *flow}
}

// mergeTo adds what another shard counted.
func mergeTo(a, b map[telemetry.Addr]dropTo) map[telemetry.Addr]dropTo {
	sum := maps.Clone(a)
	for prefix, to := range b {
		if sum == nil {
			sum = map[telemetry.Addr]dropTo{}
		}
		sum[prefix] = dropTo{sum[prefix].packets + to.packets, to.flow}
	}
	return sum
}

// destinations lists prefixes, the one with most packets first.
func (d *drop) destinations() []telemetry.DropDestination {
	var list []telemetry.DropDestination
	for prefix, to := range d.to {
		bits := 48
		if prefix.IP().Is4() {
			bits = 24
		}
		list = append(list, telemetry.DropDestination{Prefix: netip.PrefixFrom(prefix.IP(), bits), Packets: to.packets})
	}
	slices.SortFunc(list, func(a, b telemetry.DropDestination) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), a.Prefix.Addr().Compare(b.Prefix.Addr()))
	})
	return list
}
