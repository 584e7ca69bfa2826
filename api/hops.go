package api

import (
	"slices"

	"github.com/waybill-int/waybill/telemetry"
)

// A HopList answers GET /api/v1/hops.
type HopList struct {
	Head
	Hops []telemetry.NodeHop `json:"hops"`
}

func (h *handler) hops(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "hops", hopTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	hops := h.cfg.Collector.Hops()
	hops = slices.DeleteFunc(hops, func(hop telemetry.NodeHop) bool { return !is(&hop.Node, hop.Name) })
	return s.answer(hops), nil
}
