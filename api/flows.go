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
	q := h.flowFilter(p)
	q.Order = analyze.FlowOrder(p.choice("order",
		string(analyze.ByLast), string(analyze.ByPackets), string(analyze.ByLatency), string(analyze.ByDrops)))
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	flows, total := h.cfg.Collector.Flows(q)
	return listOfTotal("flows", flows, total), nil
}

// flowFilter returns what the parameters of flows select, the latest first.
func (h *handler) flowFilter(p *params) analyze.FlowFilter {
	q := analyze.FlowFilter{Limit: p.limit(), Order: analyze.ByLast, Match: p.flow(), Outer: p.outer()}
	if is, given := p.node(); given {
		q.Passes = func(id uint32) bool { return is(&id, h.cfg.Collector.Names[id]) }
	}
	return q
}

// outer returns whether the tunnel of a flow is one of those that outer_src, outer_dst and outer_port select; nil if none is given.
func (p *params) outer() func(*telemetry.FlowKey) bool {
	src, dst := p.prefix("outer_src"), p.prefix("outer_dst")
	port, hasPort := p.number("outer_port", math.MaxUint16)
	if !src.IsValid() && !dst.IsValid() && !hasPort {
		return nil
	}
	return func(k *telemetry.FlowKey) bool {
		return (!hasPort || uint64(k.SrcPort) == port || uint64(k.DstPort) == port) &&
			(!src.IsValid() || src.Contains(k.Src.IP())) && (!dst.IsValid() || dst.Contains(k.Dst.IP()))
	}
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
