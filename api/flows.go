package api

import (
	"math"
	"net/netip"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/telemetry"
)

// A FlowList answers GET /api/v1/flows.
type FlowList struct {
	Head
	Flows []telemetry.Flow `json:"flows"`
}

func (h *handler) flows(p *params) (answer, *Problem) {
	q := analyze.FlowFilter{
		Limit: p.limit(),
		Order: analyze.FlowOrder(p.choice("order",
			string(analyze.ByLast), string(analyze.ByPackets), string(analyze.ByLatency), string(analyze.ByDrops))),
		Match: p.flow(),
	}
	if is, given := p.node(); given {
		q.Passes = func(id uint32) bool { return is(&id, h.cfg.Collector.Names[id]) }
	}
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	flows, total := h.cfg.Collector.Flows(q)
	return listOfTotal("flows", flows, total), nil
}

// flow returns whether a flow is one of those that src, dst, port and protocol select; port is that of either end.
func (p *params) flow() func(*telemetry.FlowKey) bool {
	src, dst := p.prefix("src"), p.prefix("dst")
	port, hasPort := p.number("port", math.MaxUint16)
	protocol, hasProtocol := p.protocol("protocol")
	if !src.IsValid() && !dst.IsValid() && !hasPort && !hasProtocol {
		return nil
	}
	within := func(prefix netip.Prefix, a telemetry.Addr) bool { return !prefix.IsValid() || prefix.Contains(a.IP()) }
	return func(k *telemetry.FlowKey) bool {
		return (!hasProtocol || k.Protocol == protocol) &&
			(!hasPort || uint64(k.SrcPort) == port || uint64(k.DstPort) == port) &&
			within(src, k.Src) && within(dst, k.Dst)
	}
}
