package api

import (
	"math"
	"net/netip"
	"slices"
	"strings"

	"github.com/waybill-int/waybill/analyze"
	"github.com/waybill-int/waybill/api/types"
	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

func (h *handler) flows(p *params) (answer, *types.Problem) {
	q := h.flowFilter(p)
	q.Order, q.Ascending = p.flowOrder()
	s := selection[telemetry.Flow]{name: "flows", limit: q.Limit, at: p.place(h.cfg.Now())}
	q.Offset = s.at.Offset
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	flows, total := h.cfg.Collector.Flows(q)
	return s.page(flows, total), nil
}

// flowOrder returns what the parameter order of flows says: they are too many to be sorted by anything else.
func (p *params) flowOrder() (by analyze.FlowOrder, ascending bool) {
	text, given := p.text("order")
	if !given {
		return analyze.ByLast, false
	}
	name, direction, directed := strings.Cut(text, ":")
	by = analyze.FlowOrder(name)
	if !slices.Contains(analyze.FlowOrders, by) || directed && direction != "asc" && direction != "desc" {
		var names []string
		for _, o := range analyze.FlowOrders {
			names = append(names, string(o))
		}
		p.reject("order", strings.Join(names, ", ")+"; :asc or :desc may follow", "order is %q", text)
	}
	return by, direction == "asc"
}

// flowFilter returns what the parameters of flows select, the latest first.
func (h *handler) flowFilter(p *params) analyze.FlowFilter {
	q := analyze.FlowFilter{
		Limit: p.limit(), Order: analyze.ByLast, Match: p.flow(), Outer: p.outer(),
		Select: filtered(h, p, "flows", filter.FlowTable.Row), Stop: p.stop,
	}
	if is, given := p.node(h.cfg.Collector.Names); given {
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
