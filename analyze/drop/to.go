package drop

import (
	"cmp"
	"maps"
	"net/netip"
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// MaxTo bounds the destinations that are told apart at one place and for one reason; packets to others are counted
// there only.
const MaxTo = 16

// A toward is what was dropped on the way to a prefix.
type toward struct {
	Packets uint64
	Flow    telemetry.FlowKey // of the latest packet
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
	to, ok := d.To[prefix]
	switch {
	case ok:
	case d.To == nil:
		d.To = map[telemetry.Addr]toward{}
	case len(d.To) >= MaxTo:
		return
	}
	d.To[prefix] = toward{to.Packets + 1, *flow}
}

// mergeTo adds what another shard counted.
func mergeTo(a, b map[telemetry.Addr]toward) map[telemetry.Addr]toward {
	sum := maps.Clone(a)
	for prefix, to := range b {
		if sum == nil {
			sum = map[telemetry.Addr]toward{}
		}
		sum[prefix] = toward{sum[prefix].Packets + to.Packets, to.Flow}
	}
	return sum
}

// destinations lists prefixes, the one with most packets first.
func (d *drop) destinations() []telemetry.DropDestination {
	var list []telemetry.DropDestination
	for prefix, to := range d.To {
		bits := 48
		if prefix.IP().Is4() {
			bits = 24
		}
		list = append(list, telemetry.DropDestination{Prefix: netip.PrefixFrom(prefix.IP(), bits), Packets: to.Packets})
	}
	slices.SortFunc(list, func(a, b telemetry.DropDestination) int {
		return cmp.Or(cmp.Compare(b.Packets, a.Packets), a.Prefix.Addr().Compare(b.Prefix.Addr()))
	})
	return list
}
