package api

import (
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// hostTable has the values of hosts. A host fulfils what is asked about places if one of its places does.
var hostTable = filter.NewTable(mustSchema("hosts",
	filter.Field{Name: "address", Kind: filter.Address, Doc: "the address"},
	filter.Field{Name: "tunnel", Kind: filter.Text, Doc: "kind of the tunnel that it is in"},
	filter.Field{Name: "tunnel_id", Kind: filter.Uint, Doc: "number of the tunnel"},
	filter.Field{Name: "node", Kind: filter.Node, Many: true, Doc: "each node where it was seen"},
	filter.Field{Name: "name", Kind: filter.Text, Many: true, Doc: "their names"},
	filter.Field{Name: "port", Kind: filter.Uint, Many: true, Doc: "each port behind which it was seen"},
	filter.Field{Name: "places", Kind: filter.Uint, Doc: "at how many places it was seen"},
	filter.Field{Name: "packets", Kind: filter.Uint, Doc: "packets from it or to it, at the latest place"},
	filter.Field{Name: "confidence", Kind: filter.Float, Doc: "how sure it is that it is there, 0 to 1"},
	filter.Field{Name: "first", Kind: filter.Time, Doc: "when it was first seen at the latest place"},
	filter.Field{Name: "last", Kind: filter.Time, Doc: "when it was seen last"},
), map[string]filter.ValueOf[telemetry.Host]{
	"address": func(h *telemetry.Host, _ int) (filter.Value, bool) {
		return filter.FromAddr(telemetry.AddrFrom(h.Address)), h.Address.IsValid()
	},
	"tunnel":     filter.MaybeText(func(h *telemetry.Host) string { return h.Tunnel }),
	"tunnel_id":  filter.MaybeNumber(func(h *telemetry.Host) *uint32 { return h.TunnelID }),
	"node":       atPlace(func(p *telemetry.HostPlace) (filter.Value, bool) { return filter.FromUint(uint64(p.Node)), true }),
	"name":       atPlace(func(p *telemetry.HostPlace) (filter.Value, bool) { return filter.FromText(p.Name), p.Name != "" }),
	"places":     filter.Number(func(h *telemetry.Host) uint32 { return uint32(len(h.Places)) }),
	"packets":    atLatest(func(p *telemetry.HostPlace) filter.Value { return filter.FromUint(p.Packets) }),
	"confidence": atLatest(func(p *telemetry.HostPlace) filter.Value { return filter.FromFloat(p.Confidence) }),
	"first":      atLatest(func(p *telemetry.HostPlace) filter.Value { return filter.FromTime(p.First) }),
	"last":       atLatest(func(p *telemetry.HostPlace) filter.Value { return filter.FromTime(p.Last) }),
	"port": atPlace(func(p *telemetry.HostPlace) (filter.Value, bool) {
		if p.Port == nil {
			return filter.Value{}, false
		}
		return filter.FromUint(uint64(*p.Port)), true
	}),
})

// atPlace returns the values that places have. One that has none leaves no gap.
func atPlace(value func(*telemetry.HostPlace) (filter.Value, bool)) filter.ValueOf[telemetry.Host] {
	return func(h *telemetry.Host, i int) (filter.Value, bool) {
		for j := range h.Places {
			if v, ok := value(&h.Places[j]); ok {
				if i == 0 {
					return v, true
				}
				i--
			}
		}
		return filter.Value{}, false
	}
}

// atLatest returns the value at the place where a host was seen last.
func atLatest(value func(*telemetry.HostPlace) filter.Value) filter.ValueOf[telemetry.Host] {
	return func(h *telemetry.Host, _ int) (filter.Value, bool) {
		if len(h.Places) == 0 {
			return filter.Value{}, false
		}
		return value(&h.Places[0]), true
	}
}
