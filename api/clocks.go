package api

import (
	"slices"

	"github.com/waybill-int/waybill/filter"
	"github.com/waybill-int/waybill/telemetry"
)

// A ClockList answers GET /api/v1/clocks.
type ClockList struct {
	Head
	Clocks []telemetry.Clock `json:"clocks"`
}

func (h *handler) clocks(p *params) (answer, *Problem) {
	s := selectFrom(h, p, "clocks", filter.ClockTable.Row)
	is, _ := p.node(h.cfg.Collector.Names)
	if problem := p.problem(); problem != nil {
		return answer{}, problem
	}
	clocks := h.cfg.Collector.Clocks()
	clocks = slices.DeleteFunc(clocks, func(c telemetry.Clock) bool { return !is(&c.Node, c.Name) })
	return s.answer(clocks), nil
}
